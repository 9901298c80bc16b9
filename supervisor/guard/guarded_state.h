// GuardedState: what a command must leave as it is, as it was found before the command. Values:
// janitor and supervisor exchange them.
//
//    ProtectedOr<GuardedState> state = ReadState(query);      // in a janitor's process
//    ... the command runs ...
//    if (AllUntouched(state->paths, look)) ...                 // in the supervisor: stamps alone
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "policy/protected_paths.h"
#include "policy/protection.h"
#include "policy/repositories_below.h"
#include "supervisor/guard/repository_copy.h"
#include "supervisor/guard/restorer.h"

namespace pa {

template <typename T>
using ProtectedOr = std::expected<T, policy::ProtectionFailure>;

// Why the janitor gave no answer. ELOOP: a path of its order is a symlink now.
policy::ProtectionFailure WithoutJanitor(const Error& error);

// A policy::ProtectionQuery that owns what it names: everything that decides which paths are
// protected, except the file system.
struct GuardQuery {
  std::string directory = {};
  std::vector<std::string> writable = {};
  std::vector<policy::ConfiguredPath> places = {};
  std::vector<std::string> unprotected = {};
  std::vector<std::string> roots = {};
  std::vector<policy::ConfiguredPath> anchors = {};
  std::string audit_directory = {};
  std::string home = {};
  std::string config_home = {};
  std::vector<policy::RepositoryBelow> repositories = {};
  bool mounts = false;
  bool git_read_only = false;

  policy::ProtectionQuery Query() const;  // borrows
};
GuardQuery OwnQuery(const policy::ProtectionQuery& query);

struct GuardedState {
  std::vector<GuardedPath> paths = {};  // without pins; a directory before its content
  std::vector<policy::ProtectedPaths::Index> indexes = {};
  std::vector<GuardedPath> deciders = {};  // restored only if they cannot be read (kFile, kNames)
  std::vector<policy::ProtectedPaths::Input> inputs = {};
  std::vector<std::shared_ptr<const RepositoryCopy>> copies = {};
  std::string audit_directory = {};        // if the command could write it; otherwise ""
  bool settled = true;                     // false: some of these stamps prove nothing
  std::vector<std::string> left_out = {};  // as in policy::ProtectedPaths
  // What lies within read-only git directories, as far as it could be read. It counts only if
  // somebody outside replaced such a directory, and with it the mount, while a command ran.
  std::vector<GuardedPath> within_read_only = {};
  std::vector<std::string> open = {};  // git directories that are not held
};

// Of such a path nothing counts but that it stays where it is.
bool IsPinned(policy::ProtectedPath::Kind kind);
// Nobody touched it, as far as lstat(2) tells.
bool Untouched(const GuardedPath& guarded, policy::HolderLook& holders);
bool AllUntouched(const std::vector<GuardedPath>& paths, policy::HolderLook& holders);
// Nobody can have made a submodule of anything.
bool SameIndex(const policy::ProtectedPaths::Index& index);
// Whether the stamps alone can prove that nothing of it changed.
bool IsSettled(const GuardedState& state);
// A path that must stay away.
GuardedPath AbsentPath(const std::string& path, const std::string& area);
void SortByPath(std::vector<GuardedPath>& paths);
// Absolute, and without `.`, `..` or an empty component.
bool IsPlainPath(std::string_view path);
bool IsBeneathAny(const std::vector<std::string>& trees, const std::string& path);

}  // namespace pa
