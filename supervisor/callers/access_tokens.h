// AccessTokens: which access tokens of OAuth 2.1 are taken (RFC 9068, 8725): those that the issuer
// of the policy has signed for this server, whose subjects are users whom it serves.
//
//    AccessTokens tokens(ServedUser(UserName()));
//    const auto access = tokens.Judge(text, policy->http.oauth, now);
//    if (!access) Refuse(access.error());
//    ...
//    tokens.JudgeAgain(*access, policy->http.oauth, later)     // nothing: it is taken, still
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "policy/policy.h"
#include "supervisor/callers/issuer_keys.h"
#include "supervisor/text/jwt.h"

namespace pa {

// How far the clocks of issuer and server may differ.
inline constexpr std::chrono::seconds kClockSkew{60};

struct Access {
  std::shared_ptr<const JwtClaims> claims;
  Digest key;  // that has signed it
};

struct AccessRefusal {
  enum class Kind {
    kNotValid,  // the client is told nothing else
    kScope,     // it is valid, and not for this
    kNoKeys,    // nobody can tell
  };
  Kind kind;
  // For the log: of the token there is no more in it than `alg`, `kid` and `iss`, and a subject
  // only if the policy names it.
  std::string why;
};

// For whom a server acts.
struct ServedUsers {
  std::function<bool(std::string_view name)> has;
  std::string are;  // for the log: `the user 'ann'`
};
// A server that acts as the user who runs it. `name`: "" if the system has none for the uid.
ServedUsers ServedUser(std::string name);

class AccessTokens {
 public:
  // `open`: the file of keys.
  explicit AccessTokens(ServedUsers users, OpenFile open = OpenToRead)
      : users_(std::move(users)), keys_(std::move(open)) {}

  std::expected<Access, AccessRefusal> Judge(std::string_view token,
                                             const policy::OAuthPolicy& policy,
                                             std::chrono::sys_seconds now);
  // All but the signature: time goes on, keys are withdrawn, and the policy can be another.
  std::optional<AccessRefusal> JudgeAgain(const Access& access, const policy::OAuthPolicy& policy,
                                          std::chrono::sys_seconds now);
  // Why nobody can be known by one; "": somebody can.
  std::string WhyNobody(const policy::OAuthPolicy& policy);
  // Of the file of keys as it was read.
  const PathStamp& keys() const { return keys_.stamp(); }

 private:
  std::optional<AccessRefusal> JudgeClaims(const JwtClaims& claims,
                                           const policy::OAuthPolicy& policy,
                                           std::chrono::sys_seconds now) const;

  ServedUsers users_;
  IssuerKeys keys_;
};

}  // namespace pa
