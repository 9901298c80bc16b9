// HttpCallers: who calls by HTTP. A Unix socket serves its own user, whom the kernel names; by TCP
// a client is known by its token (RFC 6750), and nobody is served who is not known.
//
//    HttpCallers callers(TokenPath(state_home));
//    if (auto refused = callers.Identify(head, peer)) ...     // 401; 503: nobody can be known
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "supervisor/state/token_file.h"
#include "supervisor/text/http_request.h"
#include "supervisor/transport/http_server.h"

namespace pa {

// The token of `Authorization: Bearer TOKEN`; "" if the field has none, or is another one.
std::string_view BearerToken(std::string_view authorization);

class HttpCallers {
 public:
  explicit HttpCallers(std::string token_path) : tokens_(std::move(token_path)) {}

  // Nothing: `peer` is known; its token's name is in it. The answer is the same for a token that
  // there never was, one that was revoked and one that has expired.
  std::optional<HttpAnswer> Identify(const HttpHead& head, HttpPeer& peer);
  // Whether that token is neither revoked nor expired, as far as the file can be read.
  bool StillKnows(const HttpPeer& peer);
  // Whether there is a token by which a client could be known.
  Result<bool> CanBeKnown();

 private:
  void LogOnce(const std::string& problem);

  TokenFile tokens_;
  std::string logged_;  // the last problem
};

}  // namespace pa
