// TenantTable: which tenants a machine has, and whose a token is (supervisor/state/
// tenant_directory.h).
//
//    TenantTable tenants(kTenantDirectory);
//    HttpCallers callers(tenants, tenants.Served(), policy);
//    ... callers.Identify(head, peer) ...
//    const std::optional<uid_t> tenant = tenants.TenantOf(*FromHex(peer.token_hash));
//
// Read again when the directory has changed. While the tokens of some tenant cannot be read, a
// token that no other tenant has is an error, and reading is tried again every second: the reason
// may be a lack of descriptors.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/path_stamp.h"
#include "supervisor/callers/access_tokens.h"
#include "supervisor/state/token_file.h"

namespace pa {

class TenantTable final : public TokenSource {
 public:
  explicit TenantTable(std::string directory) : directory_(std::move(directory)) {}

  // A hash is looked up as such: the time tells at most how a hash begins, and so no token.
  Result<std::optional<Token>> Find(const Digest& sha256, TokenTime now) override;
  Result<bool> HasAny(TokenTime now) override;

  // Of the token that Find has just found.
  std::optional<uid_t> TenantOf(const Digest& sha256) const;
  // By name or number; nothing: there is no such tenant, or that cannot be read.
  std::optional<uid_t> TenantNamed(std::string_view name);
  // All of them. For as long as this table.
  ServedUsers Served();
  // Whether all can be read.
  Result<void> Check();
  std::size_t size() const { return tenants_.size(); }
  // Reads everything anew when it is asked next, also files that were written by hand.
  void Forget() { read_.reset(); }

 private:
  // A digest is as good a hash as any.
  struct FirstBytes {
    std::size_t operator()(const Digest& digest) const {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };
  struct Owned {
    Token token;
    uid_t tenant;
  };

  Result<void> Refresh();
  Result<void> TryAgain();
  void ReadTokens(const std::set<uid_t>& tenants);

  std::string directory_;
  std::optional<PathStamp> read_;
  std::map<uid_t, TokenFile> tenants_;
  std::map<std::string, uid_t, std::less<>> names_;
  std::unordered_map<Digest, Owned, FirstBytes> tokens_;
  std::map<uid_t, Error> unread_;  // tenants whose tokens cannot be read
  std::chrono::steady_clock::time_point tried_at_;
  std::string logged_;  // of the last problem
};

}  // namespace pa
