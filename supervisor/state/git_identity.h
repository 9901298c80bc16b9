// GitIdentity: a git configuration that holds the user's name and email alone, on disk, for the
// commits of commands: the user's own configuration is closed to them.
//
//    const GitIdentity::Given* given = identity.Known(*policy);
//    if (given == nullptr) given = &identity.Take(*policy, FindGitIdentity(home, config_home));
//    if (!given->directory.empty()) env["GIT_CONFIG_GLOBAL"] = given->File();   // and grant it
//
// git reads it in place of the user's, so the settings of a repository count for more, as always.
// Conditional includes stay conditional: git itself decides about them, in the repository where the
// commit is made. The directory is named by what it holds and is shared by all servers of the user.
// While the user's files have the same stamps, nothing is read.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/path_stamp.h"
#include "base/path_stamp_fields.h"
#include "policy/policy.h"

namespace pa {

struct GitIdentityFound {
  // By name; empty: nobody is named.
  std::map<std::string, std::string> files;
  // Each file that was read or missed, with its stamp from before.
  std::vector<std::pair<std::string, PathStamp>> looked;
  std::string warning;  // "", or what of the user's configuration is missing, and why
};
template <>
struct PackedFields<GitIdentityFound> {
  static bool Visit(auto& io, auto& v) { return io(v.files, v.looked, v.warning); }
};

// Of what git reads for the user. Of other settings there is nothing in it.
GitIdentityFound FindGitIdentity(const std::string& home, const std::string& config_home);

class GitIdentity {
 public:
  struct Given {
    std::string directory;  // to be readable by the command; "" = there is nobody to commit as
    std::string warning;    // "", or what of the user's configuration is missing, and why
    std::string File() const { return directory + "/config"; }
  };
  // Null: somebody has to look. With `git.identity: none` nobody has to. Valid until the next call.
  const Given* Known(const policy::Policy& policy);
  const Given& Take(const policy::Policy& policy, GitIdentityFound found);

 private:
  using Stamps = std::vector<std::pair<std::string, PathStamp>>;
  struct Key {
    bool inherit = false;
    std::string home, config_home, base;
    bool operator==(const Key&) const = default;
  };
  static Key KeyOf(const policy::Policy& policy);
  bool StillHolds(const Key& key) const;

  Key key_;
  Stamps looked_;  // at the files, each before it was read
  bool settled_ = false;
  Given given_;
};

}  // namespace pa
