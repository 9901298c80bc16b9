// GitIdentity: a git configuration that holds the user's name and email alone, on disk, for the
// commits of commands: the user's own configuration is closed to them.
//
//    const GitIdentity::Given& given = identity.For(*policy);
//    if (!given.directory.empty()) env["GIT_CONFIG_GLOBAL"] = given.File();   // and grant it
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
#include "policy/policy.h"

namespace pa {

class GitIdentity {
 public:
  struct Given {
    std::string directory;  // to be readable by the command; "" = there is nobody to commit as
    std::string warning;    // "", or what of the user's configuration is missing, and why
    std::string File() const { return directory + "/config"; }
  };
  // With `git.identity: none` it looks at nothing. Valid until the next call.
  const Given& For(const policy::Policy& policy);

 private:
  using Stamps = std::vector<std::pair<std::string, PathStamp>>;
  struct Key {
    bool inherit = false;
    std::string home, config_home, base;
    bool operator==(const Key&) const = default;
  };
  bool StillHolds(const Key& key) const;

  Key key_;
  Stamps looked_;  // at the files, each before it was read
  bool settled_ = false;
  Given given_;
};

// The files of such a configuration, by name; empty: nobody is named. `looked`: gets each file that
// was read or missed, with its stamp.
std::map<std::string, std::string> IdentityFiles(
    const policy::Policy& policy, std::vector<std::pair<std::string, PathStamp>>& looked,
    std::string& warning);

}  // namespace pa
