#include "supervisor/callers/vouch.h"

#include <memory>
#include <utility>

#include "base/digest.h"
#include "base/words.h"
#include "supervisor/text/jwt.h"

namespace pa {
namespace {

constexpr std::string_view kVersion = "v1 ";
constexpr std::string_view kByToken = "token ";
constexpr std::string_view kByAccess = "access ";

// The second of the three parts of a JWT.
std::string_view ClaimsPart(std::string_view token) {
  const std::string_view rest = token.substr(token.find('.') + 1);
  return rest.substr(0, rest.find('.'));
}

}  // namespace

std::string FormatVouch(const HttpPeer& peer, std::string_view token) {
  const std::string version(kVersion);
  if (!peer.claims) return version + std::string(kByToken) + peer.token_hash;
  return version + std::string(kByAccess) + peer.key + " " + std::string(ClaimsPart(token));
}

VouchKind ReadVouch(std::string_view text, HttpPeer& peer) {
  if (!text.starts_with(kVersion)) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool version = word.size() > 1 && word != "v1" && word.front() == 'v' &&
                         word.find_first_not_of("0123456789", 1) == std::string_view::npos;
    return version ? VouchKind::kOtherVersion : VouchKind::kNone;
  }
  text.remove_prefix(kVersion.size());
  if (text.starts_with(kByToken)) {
    const auto hash = FromHex(text.substr(kByToken.size()));
    if (!hash) return VouchKind::kNone;
    peer.token_hash = Hex(*hash);
    return VouchKind::kKnown;
  }
  if (!text.starts_with(kByAccess)) return VouchKind::kNone;
  text.remove_prefix(kByAccess.size());
  const auto key = FromHex(text.substr(0, text.find(' ')));
  auto claims = ReadJwtClaims(text.substr(text.find(' ') + 1));
  if (!key || !claims) return VouchKind::kNone;
  peer.key = Hex(*key);
  peer.token = claims->subject;
  peer.claims = std::make_shared<const JwtClaims>(*std::move(claims));
  return VouchKind::kKnown;
}

}  // namespace pa
