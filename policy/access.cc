#include "policy/access.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/json_writer.h"
#include "base/text_place.h"
#include "base/utf8.h"
#include "base/words.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "policy/toolchains.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

// Seen on 6.18, each opened or followed from inside the sandbox and from outside. Modes, limits,
// mounts, names and command lines of others can be read.
constexpr std::string_view kTraced[] = {
    "auxv",  "cwd",     "environ",     "exe",    "fdinfo",       "io",           "map_files",
    "maps",  "mem",     "numa_maps",   "root",   "smaps",        "smaps_rollup", "pagemap",
    "stack", "syscall", "personality", "timers", "timerslack_ns"};
// Their names can be listed; what they lead to cannot be looked at.
constexpr std::string_view kTracedBeneath[] = {"fd", "ns"};

// Opened by programs with capabilities over the whole machine alone (5.10 to 6.18).
constexpr std::string_view kPrivileged[] = {"/proc/kcore", "/proc/kmsg", "/proc/mtrr"};

// The first component of `path`, which loses it and its slash.
std::string_view TakeComponent(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view component = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return component;
}

// Looking there takes leave to trace the process.
bool NeedsTracing(std::string_view path) {
  if (TakeComponent(path) != "" || TakeComponent(path) != "proc") return false;
  if (!IsNumber(TakeComponent(path))) return false;
  std::string_view part = TakeComponent(path);
  if (part == "task" && IsNumber(TakeComponent(path))) part = TakeComponent(path);
  if (std::ranges::find(kTraced, part) != std::end(kTraced)) return true;
  return std::ranges::find(kTracedBeneath, part) != std::end(kTracedBeneath) && !path.empty();
}

struct Secret {
  std::string name;
  std::string path;  // where it is
};

std::string PriceAmong(const std::vector<Secret>& secrets, const std::string& path,
                       const std::string& home) {
  if (!home.empty() && IsBeneath(ResolvePath(home), path)) {
    return "gives commands the whole home, with every key and token in it";
  }
  if (IsBeneath("/etc/shadow", path)) return "gives commands what /etc hides from ordinary users";
  for (const Secret& secret : secrets) {
    if (IsBeneath(secret.path, path) || IsBeneath(path, secret.path)) {
      return "gives commands the secrets in " + secret.name;
    }
  }
  return "";
}

bool IsWholeHome(const std::string& home, const std::string& path) {
  if (path == "/home" || path == "/root") return true;
  if (std::filesystem::path(path).parent_path() == "/home") return true;
  return !home.empty() && (IsBeneath(home, path) || IsBeneath(ResolvePath(home), path));
}

// By its name alone, so that a command that cannot see the path learns nothing about it.
std::string WhyNoGrant(const std::string& home, const std::string& path) {
  if (path == "/") return "no line of policy gives the whole file system";
  // `$` stands for variables there.
  if (path.contains('$')) return "no line of policy can name a path with '$' in it";
  if (!IsValidUtf8(path) || path.contains(kByteOrderMark)) {
    return "no line of policy can name a path that is not plain text in UTF-8";
  }
  if (IsWholeHome(home, path)) {
    return "no line is suggested for a whole home, with every key and token in it: grant a file or "
           "directory in it that exists";
  }
  if (IsBeneath("/etc/shadow", path)) {
    return "no line is suggested for what /etc hides from ordinary users: grant another file in it";
  }
  const bool device = IsBeneath(path, "/dev") && !IsBeneath(path, "/dev/shm");
  return device ? "no line of policy opens a device with its ioctl requests" : "";
}

std::string WhyNotWritable(const Policy& policy, const std::string& path) {
  for (const std::string& trusted : policy.unwritable) {
    if (!IsBeneath(trusted, path)) continue;
    return "no line allows it: a policy that lets commands write " + trusted + " does not load";
  }
  return "";
}

}  // namespace

GrantedPaths::GrantedPaths(std::vector<PathGrant> grants) : grants_(std::move(grants)) {
  resolved_.reserve(grants_.size());
  for (const PathGrant& grant : grants_) resolved_.push_back(ResolvePath(grant.path));
}

const PathGrant* GrantedPaths::Find(std::string_view path, Access right) const {
  const PathGrant* best = nullptr;
  for (std::size_t i = 0; i < grants_.size(); ++i) {
    if (!sandbox::Has(grants_[i].access, right) || !IsBeneath(path, resolved_[i])) continue;
    if (best == nullptr || grants_[i].path.size() > best->path.size()) best = &grants_[i];
  }
  return best;
}

bool GrantedPaths::LeadTo(std::string_view path) const {
  return std::ranges::any_of(resolved_, [&](const std::string& granted) {
    return IsBeneath(path, granted) || IsBeneath(granted, path);
  });
}

Suggestion SuggestGrant(const Policy& policy, const std::string& path, Access right) {
  const bool writes = right == Access::kWrite;
  std::string why = WhyNoGrant(policy.home, path);
  if (why.empty() && writes) why = WhyNotWritable(policy, path);
  if (!why.empty()) return {"", std::move(why)};
  JsonWriter quoted;
  quoted.String(path);
  const char* key = writes ? "write" : "read";
  return {std::string("filesystem: {") + key + ": [" + std::move(quoted).Take() + "]}", ""};
}

std::string NetworkLine(bool loopback) {
  const auto can_be_asked_for = [](const Choice& choice) {
    return choice.name == "loopback" && choice.not_built.empty();
  };
  const bool known = std::ranges::any_of(FindKey("network")->choices, can_be_asked_for);
  return loopback && known ? "network: loopback" : "network: full";
}

std::string PriceOf(const std::string& path, const std::string& home) {
  std::vector<Secret> secrets;
  for (const std::string& secret : SecretPaths(home)) {
    std::error_code ignored;  // then it is not there to be uncovered
    if (std::filesystem::exists(secret, ignored)) secrets.push_back({secret, ResolvePath(secret)});
  }
  return PriceAmong(secrets, path, home);
}

std::string PriceByName(const std::string& path, const std::string& home) {
  std::vector<Secret> secrets;
  for (const std::string& secret : SecretPaths(home)) secrets.push_back({secret, secret});
  return PriceAmong(secrets, path, home);
}

std::string_view WhatNeverShows(std::string_view path) {
  if (std::ranges::find(kPrivileged, path) != std::end(kPrivileged)) {
    return "capabilities: the kernel shows it to its administrator, and no command is one";
  }
  if (!NeedsTracing(path)) return "";
  return "landlock: no command may trace processes that are not its own";
}

}  // namespace pa::policy
