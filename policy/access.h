// Access: whether the grants of a command cover a path, and the line of policy that would grant it.
//
//    const GrantedPaths granted(allow.confinement().paths);
//    if (granted.Find("/home/ann/.ssh/id", Access::kRead) == nullptr) {
//      // filesystem: {read: ["/home/ann/.ssh/id"]}
//      line = SuggestGrant(policy, "/home/ann/.ssh/id", Access::kRead).line;
//    }
//
// `policy explain` and the denials in a result both use this module, so that they agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "sandbox/confinement.h"

namespace pa::policy {

class GrantedPaths {
 public:
  explicit GrantedPaths(std::vector<sandbox::PathGrant> grants);

  // The grant that gives `right` on `path`, which is resolved; null if there is none. Of several,
  // the narrowest, because its reason says most.
  const sandbox::PathGrant* Find(std::string_view path, sandbox::Access right) const;
  // Whether `path` is granted in some way, or is an ancestor of a granted path.
  bool LeadTo(std::string_view path) const;

 private:
  std::vector<sandbox::PathGrant> grants_;
  std::vector<std::string> resolved_;  // the path of each
};

struct Suggestion {
  std::string line;      // of policy, ready to be pasted; "" = none
  std::string why_none;  // if there is no line
};
// The line that gives `right` on `path`, which is resolved. None is suggested that the policy would
// not load with, that gives a whole home or /etc, or that would not suffice.
Suggestion SuggestGrant(const Policy& policy, const std::string& path, sandbox::Access right);

// The line of policy that gives builds a network: `loopback` if the loopback interface suffices and
// the policy knows that word, otherwise `full`.
std::string NetworkLine(bool loopback);
// The line after which make and bash may change the repository.
inline constexpr std::string_view kGitCommandsLine = "git: {commands: write}";

// The price of a grant of `path`: what it gives away that the built-in grants leave out on purpose
// (`gives commands the secrets in /home/ann/.ssh`); "" if nothing is known.
std::string PriceOf(const std::string& path, const std::string& home);
// The same for all secrets that there might be: the answer does not tell which of them exist.
std::string PriceByName(const std::string& path, const std::string& home);

// The reason why no command can open `path` in /proc, whatever is granted; "" if there is none.
// Parts of /proc/PID require the right to trace that process, which Landlock denies for every
// process outside the command's own sandbox. /proc/kmsg and the like require capabilities
// (proc(5)), and commands have none of those. `path` is as it was written: resolved, /proc/1/root
// would be "/".
std::string_view WhatNeverShows(std::string_view path);

}  // namespace pa::policy
