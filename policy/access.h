// Access: whether what a command is granted gives it a path, and the line of policy that would.
//
//   const GrantedPaths granted(allow.confinement().paths);
//   if (granted.Find("/home/ann/.ssh/id", Access::kRead) == nullptr) {
//     // filesystem: {read: ["/home/ann/.ssh/id"]}
//     line = LineFor("/home/ann/.ssh/id", Access::kRead);
//   }
//
// One answer for `policy explain` and for the denials in a result, so that they agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/confinement.h"

namespace pa::policy {

class GrantedPaths {
 public:
  explicit GrantedPaths(std::vector<sandbox::PathGrant> grants);

  // The grant that gives `right` on `path`, or null. The narrowest, as it says most. `path` is
  // resolved.
  const sandbox::PathGrant* Find(std::string_view path, sandbox::Access right) const;
  // `path` is granted in some way, or is on the way to what is.
  bool LeadTo(std::string_view path) const;

 private:
  std::vector<sandbox::PathGrant> grants_;
  std::vector<std::string> resolved_;  // the path of each
};

// The line of policy that gives `right` on `path`, ready to be pasted; "" where no line can name
// it.
std::string LineFor(const std::string& path, sandbox::Access right);

// The line of policy that gives builds a network: `loopback` where this machine suffices and the
// policy knows that word, else `full`.
std::string NetworkLine(bool loopback);

// What whoever grants `path` gives away that the built-in grants take care to leave out: `gives
// commands the secrets in /home/ann/.ssh`; "" when nothing is known.
std::string PriceOf(const std::string& path, const std::string& home);
// The same of whatever secrets there might be: it does not tell which of them exist.
std::string PriceByName(const std::string& path, const std::string& home);

// What keeps every command from `path` in /proc, whatever is granted; "" when nothing does. Parts
// of /proc/PID take leave to trace that process, which Landlock gives for nothing outside the
// command's own sandbox; /proc/kmsg and its like take capabilities (proc(5)), and commands have
// none of those. `path` as it was written: resolved, /proc/1/root is "/".
std::string_view WhatNeverShows(std::string_view path);

}  // namespace pa::policy
