// HttpCallers: who calls by HTTP. A Unix socket serves its own user, whom the kernel names; by TCP
// a client is known by its token (RFC 6750): one of ours, or an access token of the policy's issuer
// (OAuth 2.1). Nobody is served who is not known.
//
//    TokenFile tokens(TokenPath(state_home));
//    HttpCallers callers(tokens, ServedUser(UserName()), [&] { return http_policy; });
//    if (auto refused = callers.Identify(head, peer)) ...     // 401; 503: nobody can be known
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "policy/policy.h"
#include "supervisor/callers/access_tokens.h"
#include "supervisor/state/token_file.h"
#include "supervisor/text/http_request.h"
#include "supervisor/transport/http_server.h"

namespace pa {

// The token of `Authorization: Bearer TOKEN`; "" if the field has none, or is another one.
std::string_view BearerToken(std::string_view authorization);

class HttpCallers {
 public:
  using Policy = std::shared_ptr<const policy::HttpPolicy>;

  // `tokens`: for longer than this. `front_door`: its user, whose word counts (vouch.h). `open`:
  // the file of the issuer's keys.
  HttpCallers(TokenSource& tokens, ServedUsers users, std::function<Policy()> policy,
              std::optional<uid_t> front_door = {}, OpenFile open = OpenToRead)
      : tokens_(tokens),
        access_tokens_(std::move(users), std::move(open)),
        policy_(std::move(policy)),
        front_door_(front_door) {}

  // Nothing: `peer` is known; its token's name is in it. The answer is the same for a token that
  // there never was, one that was revoked and one that has expired, ours or an issuer's.
  std::optional<HttpAnswer> Identify(const HttpHead& head, HttpPeer& peer);
  // Runs whenever the front door says it in a way of another release.
  void WhenDoorIsAnother(std::function<void()> callback) { on_other_door_ = std::move(callback); }
  // Whether that token is neither revoked nor expired, as far as the files can be read.
  bool StillKnows(const HttpPeer& peer);
  // Whether a client could be known, by a token or an access token.
  Result<bool> CanBeKnown();
  // The metadata of a protected resource (RFC 9728), if this is its path.
  std::optional<std::string> Metadata(std::string_view path);

 private:
  std::optional<HttpAnswer> IdentifyToken(const Digest& sha256, const policy::OAuthPolicy& oauth,
                                          HttpPeer& peer);
  std::optional<HttpAnswer> IdentifyVouched(const HttpHead& head, const policy::OAuthPolicy& oauth,
                                            HttpPeer& peer);
  std::optional<HttpAnswer> IdentifyAccess(std::string_view token, const policy::OAuthPolicy& oauth,
                                           HttpPeer& peer);
  HttpAnswer Refused(const AccessRefusal& refusal, const policy::OAuthPolicy& oauth);
  void LogRefusal(const std::string& why);

  TokenSource& tokens_;
  AccessTokens access_tokens_;
  std::function<Policy()> policy_;
  std::optional<uid_t> front_door_;
  std::function<void()> on_other_door_;
  std::string logged_;              // the last problem with the file of tokens
  std::string logged_keys_;         // and with that of keys
  std::string logged_door_;         // and with the front door
  std::set<std::string> refusals_;  // that were logged since
  std::chrono::steady_clock::time_point since_;
};

}  // namespace pa
