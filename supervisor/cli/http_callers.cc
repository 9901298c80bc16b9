#include "supervisor/cli/http_callers.h"

#include <chrono>

#include "base/words.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

TokenTime Now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// RFC 6750, 3: who has given no token is told nothing but how one is given.
HttpAnswer Unknown(bool gave_token) {
  const char* const how = gave_token ? R"(Bearer realm="project-actions", error="invalid_token")"
                                     : R"(Bearer realm="project-actions")";
  return PlainAnswer(401,
                     gave_token ? "the token is not valid; `project-actions token new` makes one"
                                : "a token is needed: Authorization: Bearer TOKEN",
                     {{"WWW-Authenticate", how}});
}

}  // namespace

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (Lowered(authorization.substr(0, kScheme.size())) != kScheme) return {};
  return Trimmed(authorization.substr(kScheme.size()));
}

std::optional<HttpAnswer> HttpCallers::Identify(const HttpHead& head, HttpPeer& peer) {
  if (peer.user) return std::nullopt;
  const std::string* const authorization = head.Find("authorization");
  if (authorization == nullptr) return Unknown(false);
  const Result<std::optional<Token>> token = tokens_.Find(BearerToken(*authorization), Now());
  if (!token) {
    LogOnce(token.error().Message());
    return PlainAnswer(503, "the server cannot read its tokens; its log says why");
  }
  logged_.clear();
  if (!*token) return Unknown(true);
  peer.token = (*token)->name;
  peer.token_hash = Hex((*token)->sha256);
  return std::nullopt;
}

bool HttpCallers::StillKnows(const HttpPeer& peer) {
  if (peer.user) return true;
  const std::optional<Digest> hash = FromHex(peer.token_hash);
  const Result<bool> has = hash ? tokens_.Has(*hash, Now()) : Result<bool>(false);
  if (!has) LogOnce(has.error().Message());
  return has.value_or(false);
}

Result<bool> HttpCallers::CanBeKnown() { return tokens_.HasAny(Now()); }

void HttpCallers::LogOnce(const std::string& problem) {
  if (problem != logged_) LogError(problem);
  logged_ = problem;
}

}  // namespace pa
