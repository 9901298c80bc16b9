// FindProtectedPaths: finds the paths that a command must leave as they are although they lie where
// the command may write: everything that makes git execute something, the files that other programs
// of the user execute by themselves (policy/host_files.h), and the paths that filesystem.protect
// adds. Otherwise the next such program that runs outside the sandbox would execute what the
// command has left there. This module only finds the paths; supervisor/guard/ protects and restores
// them.
//
//    const auto found = FindProtectedPaths({.directory = "/home/ann/src/project",
//                                           .writable = {"/home/ann/src/project"},
//                                           .places = policy.protect, ...});
//    if (!found) ...                                     // ProtectionFailure: nothing may run
//    for (const ProtectedPath& path : found->paths) ...
//
// It finds these paths, as far as they lie in a writable tree: `.git` itself; hooks, config,
// config.worktree, commondir and gitdir of each repository that counts here (that of the working
// directory or of an ancestor, and those of linked worktrees and of submodules, nested ones
// included), and that no module appears; directories that core.hooksPath names in the configuration
// of these repositories, of the user or of the system; files that a configuration includes, with
// conditions taken as true; symlinks among all these, and their targets. Submodules are those that
// .gitmodules or the index names. The caller looks for other repositories beneath
// (policy/repositories_below.h).
//
// Everything that is read here is hostile. If something exists and cannot be read, or is too much,
// that is an error, and nothing may run. A search costs a few hundred system calls; keep the result
// while its `inputs` are unchanged.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/path_stamp.h"
#include "base/unique_fd.h"
#include "policy/host_files.h"
#include "policy/policy.h"
#include "policy/protection.h"
#include "policy/repositories_below.h"

namespace pa::policy {

// The directory in which a name has to be made before an absent path can exist.
struct Holder {
  std::string path;
  PathStamp stamp;
  bool settled;  // while it looks the same, nothing exists beneath it
};
// One object for all paths with the same holder; null if it is not known.
using HolderPtr = std::shared_ptr<const Holder>;

struct ProtectedPath {
  enum class Kind {
    // A directory, or nothing, that stays at this very place: it is not moved, replaced or made,
    // and its content is free. Each directory on the way to another protected path is pinned, too.
    kPinned,
    kFile,   // content, permissions and type
    kTree,   // a directory and everything beneath it
    kNames,  // a directory in which no name may appear; the content of its entries is free
    // A file that git writes while an operation is in progress: it may appear, disappear and
    // change, as long as it executes nothing new (policy/git_state.h).
    kState,
    // A directory that the server itself writes: it is pinned, and no command may write in it. A
    // change in it cannot be restored, so only a mount protects it.
    kSealed,
    kFrozen,  // a git directory in which nothing changes: a mount keeps all of it as it is
    // The same of a git directory of the project's own, because of `git.commands`. No command that
    // runs beside it has any part in that.
    kReadOnly,
  };
  enum class Found { kAbsent, kFile, kDirectory, kSymlink, kOther };

  std::string path;  // absolute; only its last component may be a symlink
  Kind kind;
  // kAbsent: it must not appear; `kind` says what it would be.
  Found found;
  // The element of ProtectionQuery::writable that contains it; the path lies strictly beneath.
  std::string area;
  std::string reason;       // "git hooks", "core.hooksPath", "policy filesystem.protect (...)"
  PathStamp stamp = {};     // as it was found
  HolderPtr holder = {};    // if kAbsent
  bool repository = false;  // it holds data that cannot be made anew: objects and refs
  const HostFile* host = nullptr;  // the line of that table, if it is the cause of the protection
  ProtectionSource source = ProtectionSource::kBuiltIn;
};

// The stamps of holders, by path, from a search that found everything that was absent beneath them
// still absent.
using HolderStamps = std::unordered_map<std::string, PathStamp>;

// Checks whether absent paths are still absent, and looks at each path once. Use one object for one
// check of all paths.
//
//    HolderLook look(&stamps);
//    if (!look.StillAbsent(one.path, one.holder)) ...      // for each absent path
//    if (auto renewed = look.Renewed()) stamps = *std::move(renewed);
class HolderLook {
 public:
  HolderLook() = default;
  // `renewed`: the result of Renewed() of an earlier check of the same paths; borrowed.
  explicit HolderLook(const HolderStamps* renewed) : renewed_(renewed) {}
  HolderLook(const HolderLook&) = delete;
  HolderLook& operator=(const HolderLook&) = delete;
  const PathStamp& At(const std::string& path) { return SeenAt(path, path_).stamp; }
  // For a path that was absent, with its holder.
  bool StillAbsent(const std::string& path, const HolderPtr& holder);
  // Call this after all paths were checked and are still absent. The next check then only needs to
  // look at their holders. Nothing: give the next check the same stamps as this one.
  std::optional<HolderStamps> Renewed() const;
  // The first name on the way to an absent path has appeared, so a new search would find another
  // holder.
  bool outdated() const { return outdated_; }

 private:
  struct Seen {
    PathStamp stamp;
    bool settled = false;
    bool renewed = false;     // its stamp equals the one in `renewed_`
    bool renew = false;       // a name beneath it was looked up and is absent: Renewed returns it
    UniqueFd directory = {};  // as soon as a name is looked up, if it can be opened
    std::unordered_map<std::string, bool> names = {};  // whether they are absent in it
  };
  using SeenPaths = std::unordered_map<std::string, Seen>;
  Seen& SeenAt(const std::string& path, SeenPaths::value_type*& last);
  bool IsAbsentIn(Seen& holder, const std::string& holder_path, std::string_view name);

  const HolderStamps* renewed_ = nullptr;
  SeenPaths seen_;
  // Paths are checked in their order, so the holder is mostly that of the path before.
  SeenPaths::value_type* holder_ = nullptr;
  SeenPaths::value_type* path_ = nullptr;
  // The only one with a directory: there may be more of them than descriptors.
  Seen* open_ = nullptr;
  const Holder* untouched_ = nullptr;  // nothing beneath it needs a look
  bool outdated_ = false;
};

struct ProtectedPaths {
  std::vector<ProtectedPath> paths;  // by path, a directory before its content; each once
  // The other paths that decided the result. While they and the protected paths look the same, a
  // new search finds the same, provided that the stamps are Settled.
  struct Input {
    std::string path;
    PathStamp stamp;
    HolderPtr holder = {};  // if it is absent
  };
  std::vector<Input> inputs;

  // An index that the command may write: with it, it can make a submodule of any directory.
  struct Index {
    std::string path;
    std::string top;   // the top of its working tree
    std::string area;  // the writable tree that contains `top`
    PathStamp stamp;
    std::string shared;  // the other half of a split index, or ""
    PathStamp shared_stamp;
    std::vector<std::string> links = {};  // as returned by SubmodulesOf
    bool settled = true;                  // whether both files were settled when they were read
  };
  std::vector<Index> indexes;

  // Files that commands may write although they decide what is protected: indexes, .gitmodules, and
  // the list of linked worktrees. Whatever a command leaves there, the next search must be able to
  // read it.
  struct Decider {
    std::string path;
    std::string area;
    ProtectedPath::Kind kind;
  };
  std::vector<Decider> deciders;

  // What lies within read-only git directories and would be protected without that.
  std::vector<ProtectedPath> within_read_only;

  // Projects whose host files are not protected, because there are too many projects.
  std::vector<std::string> left_out;

  static bool Hold(std::span<const Input> inputs, HolderLook& look);
  bool InputsHold() const;
  // The protected path that keeps `path` as it is: itself, or a tree that contains it; or null.
  const ProtectedPath* Protecting(const std::string& path) const;
  // The path of kind kSealed, or null.
  const ProtectedPath* Sealed() const;
};

struct ProtectionQuery {
  std::string directory;              // the working directory; canonical
  std::vector<std::string> writable;  // the trees in which the command may write; canonical
  std::span<const ConfiguredPath> places = {};
  std::span<const std::string> unprotected = {};  // paths of policy/host_files.h
  // Each root is a project. Projects above the working directory, within a root, count too.
  std::span<const std::string> roots = {};
  std::span<const ConfiguredPath> anchors = {};  // absolute
  std::string audit_directory = {};              // the directory of the audit log, or ""
  std::string home = {};                         // the user's, for `~/` in configuration
  std::string config_home = {};                  // $XDG_CONFIG_HOME or ~/.config
  std::span<const RepositoryBelow> repositories = {};
  // The command gets mounts, so `repositories` are kFrozen as far as the number of mounts allows.
  bool mounts = false;
  // So are the git directories of the project as a whole (kReadOnly), and nothing within them needs
  // to be held. The caller mounts them, or runs nothing.
  bool git_read_only = false;
  std::string system_configuration = "/etc/gitconfig";
};

// A git directory of which a mount keeps all as it is.
bool IsWhole(ProtectedPath::Kind kind);

// Whether `kept` means that nobody may make or replace a file at `path` (absolute, resolved).
bool Forbids(const ProtectedPath& kept, const std::string& path);

// What the index names now, whether it exists or not, as paths relative to the top: submodules and,
// with a leading slash, directories of a sparse index, which may contain some.
Result<std::vector<std::string>> SubmodulesOf(const ProtectedPaths::Index& index);

// The trees among `grants` in which a command may write.
std::vector<std::string> WritableTrees(std::span<const sandbox::PathGrant> grants);
// The query for a command that works in `directory`. Borrows from `policy`.
ProtectionQuery QueryFor(const Policy& policy, std::string directory,
                         std::vector<std::string> writable);

// The system's and the user's own configuration of git, by the query.
std::vector<std::string> UserConfigurationFiles(const ProtectionQuery& query);

std::expected<ProtectedPaths, ProtectionFailure> FindProtectedPaths(const ProtectionQuery& query);

}  // namespace pa::policy
