#include "supervisor/callers/access_tokens.h"

#include <unistd.h>

#include <algorithm>

#include "base/words.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

using RefusalKind = AccessRefusal::Kind;
using AccessTime = std::chrono::sys_seconds;

AccessRefusal NotValid(std::string why) { return {RefusalKind::kNotValid, std::move(why)}; }

// A client may have written it.
std::string Shown(std::string_view text) {
  constexpr std::size_t kMost = 200;
  return Quoted(VisibleText(text.substr(0, kMost)));
}

bool Holds(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

// Which of these is wrong is said for the log alone: the files of keys are refreshed by somebody.
AccessRefusal NoKey(const Jwt& jwt, const std::vector<Jwk>& keys, const std::string& path) {
  const std::string algorithm = Shown(jwt.algorithm);
  if (jwt.key_id.empty()) {
    return NotValid("it names no key (kid), and " + path +
                    " has not exactly one for the algorithm " + algorithm);
  }
  const std::string key = "the key " + Shown(jwt.key_id);
  if (std::ranges::find(keys, jwt.key_id, &Jwk::id) != keys.end()) {
    return NotValid(key + " in " + path + " is not one key for the algorithm " + algorithm);
  }
  return NotValid(path + " does not hold " + key +
                  " (kid); if the issuer has a new key, fetch the file again: with the packaged "
                  "timer, systemctl start project-actions-jwks@NAME.service");
}

std::optional<AccessRefusal> JudgeTimes(const JwtClaims& claims, AccessTime now) {
  if (claims.expires + kClockSkew <= now) return NotValid("it has expired");
  for (const auto& since : {claims.not_before, claims.issued}) {
    if (since && *since - kClockSkew > now) {
      return NotValid("it is not valid yet: compare the clocks of issuer and server");
    }
  }
  return std::nullopt;
}

}  // namespace

ServedUsers ServedUser(std::string name) {
  std::string who = "the user " + Shown(name);
  return {.has =
              [name = std::move(name)](std::string_view other) {
                return (!name.empty() && other == name) || other == std::to_string(geteuid());
              },
          .are = std::move(who)};
}

std::optional<AccessRefusal> AccessTokens::JudgeClaims(const JwtClaims& claims,
                                                       const policy::OAuthPolicy& policy,
                                                       AccessTime now) const {
  if (claims.issuer != policy.issuer) {
    return NotValid("its issuer (iss) is " + Shown(claims.issuer) + ", not http.issuer");
  }
  if (!Holds(claims.audience, policy.audience)) {
    return NotValid("it is not for http.audience (aud), which is " + policy.audience);
  }
  if (auto refused = JudgeTimes(claims, now)) return refused;
  const auto user = policy.subjects.find(claims.subject);
  if (user == policy.subjects.end()) {
    return NotValid("its subject (sub) is none of http.subjects");
  }
  if (!users_.has(user->second)) {
    return NotValid("the subject " + Shown(user->first) + " is the user " + Shown(user->second) +
                    ", and this server serves " + users_.are);
  }
  for (const std::string& scope : policy.scopes) {
    if (!Holds(claims.scopes, scope)) {
      return AccessRefusal{RefusalKind::kScope, "it has not the scope " + scope};
    }
  }
  return std::nullopt;
}

std::expected<Access, AccessRefusal> AccessTokens::Judge(std::string_view token,
                                                         const policy::OAuthPolicy& policy,
                                                         AccessTime now) {
  std::expected<Jwt, std::string_view> jwt = ReadJwt(token);
  if (!jwt) return std::unexpected(NotValid(std::string(jwt.error())));
  // Other issuers' keys are other keys.
  if (jwt->claims.issuer != policy.issuer) {
    return std::unexpected(*JudgeClaims(jwt->claims, policy, now));
  }
  const Result<const std::vector<Jwk>*> keys = keys_.In(policy.jwks);
  if (!keys) return std::unexpected(AccessRefusal{RefusalKind::kNoKeys, keys.error().Message()});
  const Jwk* const key = FindKey(**keys, jwt->algorithm, jwt->key_id);
  if (key == nullptr) return std::unexpected(NoKey(*jwt, **keys, policy.jwks));
  if (!key->key.Verifies(key->scheme, jwt->signed_part, jwt->signature)) {
    return std::unexpected(NotValid("the key " + Shown(key->id) + " has not signed it"));
  }
  if (auto refused = JudgeClaims(jwt->claims, policy, now)) {
    return std::unexpected(*std::move(refused));
  }
  return Access{std::make_shared<const JwtClaims>(std::move(jwt->claims)), key->digest};
}

std::optional<AccessRefusal> AccessTokens::JudgeAgain(const Access& access,
                                                      const policy::OAuthPolicy& policy,
                                                      AccessTime now) {
  const Result<const std::vector<Jwk>*> keys = keys_.In(policy.jwks);
  if (!keys) return AccessRefusal{RefusalKind::kNoKeys, keys.error().Message()};
  if (std::ranges::find(**keys, access.key, &Jwk::digest) == (*keys)->end()) {
    return NotValid("its key is not in " + policy.jwks + " any more");
  }
  return JudgeClaims(*access.claims, policy, now);
}

std::string AccessTokens::WhyNobody(const policy::OAuthPolicy& policy) {
  const auto is_served = [&](const auto& entry) { return users_.has(entry.second); };
  if (std::ranges::none_of(policy.subjects, is_served)) {
    return "none of http.subjects is a user whom this server serves, which is " + users_.are;
  }
  const Result<const std::vector<Jwk>*> keys = keys_.In(policy.jwks);
  return keys ? "" : keys.error().Message();
}

}  // namespace pa
