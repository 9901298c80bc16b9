// IssuerKeys: the file with the public keys of an issuer of tokens (http.jwks). It is read again
// when it has changed: something else than the server fetches the keys (docs/http.md).
//
//    IssuerKeys keys;
//    const Result<const std::vector<Jwk>*> all = keys.In("/var/lib/project-actions/jwks/a.json");
//
// A file that cannot be read is an error, never a set without keys.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/path_stamp.h"
#include "supervisor/text/jwk_set.h"

namespace pa {

class IssuerKeys {
 public:
  explicit IssuerKeys(OpenFile open = OpenToRead) : open_(std::move(open)) {}
  // Until the next call.
  Result<const std::vector<Jwk>*> In(const std::string& path);
  // Of the file as it was read.
  const PathStamp& stamp() const { return stamp_; }

 private:
  Result<void> Read(const std::string& path);

  OpenFile open_;
  std::string path_;  // "": nothing is read
  PathStamp stamp_;
  std::vector<Jwk> keys_;
};

}  // namespace pa
