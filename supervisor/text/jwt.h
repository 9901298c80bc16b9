// A JSON Web Token as an issuer of OAuth makes it for a resource server: JWS in its compact form
// (RFC 7515, 7519), with the claims of an access token (RFC 9068).
//
//    const std::expected<Jwt, std::string_view> jwt = ReadJwt(text);    // an error says why
//    if (jwt && key.Verifies(scheme, jwt->signed_part, jwt->signature)) ...
//
// Reading believes nothing: who has signed it, and for whom it is, is for the caller to say. Of the
// header only `alg`, `kid`, `typ` and `crit` are looked at. Keys that a token brings along (`jwk`,
// `jku`, `x5u`, `x5c`) are never used (RFC 8725, 3.10), and a token that says that something else
// must be understood (`crit`) is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

inline constexpr std::size_t kMaxJwt = 8U << 10;
inline constexpr std::size_t kMaxJwtSubject = 255;

struct JwtClaims {
  std::string issuer;
  std::string subject;  // 1 to kMaxJwtSubject bytes
  std::vector<std::string> audience;
  std::vector<std::string> scopes;
  std::chrono::sys_seconds expires;
  std::optional<std::chrono::sys_seconds> not_before;
  std::optional<std::chrono::sys_seconds> issued;
  bool operator==(const JwtClaims&) const = default;
};

struct Jwt {
  std::string algorithm;         // as the token has it; the key's is to be used
  std::string key_id;            // "": it has none
  std::string_view signed_part;  // borrows from the token
  std::string signature;
  JwtClaims claims;
};

// Refused, too: whatever has no `iss`, `sub`, `aud` or `exp`.
std::expected<Jwt, std::string_view> ReadJwt(std::string_view text);

// The claims alone: `part` is the second part of a token, whose signature somebody else has judged.
std::expected<JwtClaims, std::string_view> ReadJwtClaims(std::string_view part);

}  // namespace pa
