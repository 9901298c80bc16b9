// An access token: whatever is read of one is within its limits, and the same however it is cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/text/jwk_set.h"
#include "supervisor/text/jwt.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto jwt = pa::ReadJwt(text)) {
    pa::Check(text.size() <= pa::kMaxJwt);
    pa::Check(!jwt->algorithm.empty() && !jwt->signature.empty() && !jwt->claims.issuer.empty());
    const std::size_t subject = jwt->claims.subject.size();
    pa::Check(subject > 0 && subject <= pa::kMaxJwtSubject);
    pa::Check(text.substr(0, jwt->signed_part.size()) == jwt->signed_part);
    pa::Check(text[jwt->signed_part.size()] == '.');
    // Nothing in front of or behind it is passed over.
    pa::Check(!pa::ReadJwt(std::string(text) + " ") && !pa::ReadJwt(" " + std::string(text)));
    pa::Check(!pa::ReadJwt(std::string(text) + "=") && !pa::ReadJwt(std::string(text) + ".a"));
  } else {
    pa::Check(!jwt.error().empty());
  }
  if (const auto claims = pa::ReadJwtClaims(text)) {
    pa::Check(!claims->issuer.empty() && !claims->subject.empty() && !claims->audience.empty());
  } else {
    pa::Check(!claims.error().empty());
  }
  if (const auto keys = pa::ReadJwkSet(text, "keys")) {
    pa::Check(!keys->empty() && keys->size() <= pa::kMostJwks);
    for (const pa::Jwk& key : *keys) {
      pa::Check(key.key.IsRsa() == (key.algorithm != "ES256"));
      pa::Check(!key.key.Verifies(key.scheme, "message", std::string(64, '\1')));
    }
  }
  return 0;
}
