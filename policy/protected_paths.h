// ProtectedPaths: what a command must leave as it is although it lies where the command may write:
// all that makes git execute something, what other programs of the user's execute by themselves
// (policy/host_files.h), and what filesystem.protect adds. Otherwise the next of them that runs
// outside the sandbox executes what the command has left there.
//
//   Result<ProtectedPaths> found = FindProtectedPaths({.directory = "/home/ann/src/project",
//                                                      .writable = {"/home/ann/src/project"},
//                                                      .places = policy.protect, ...});
//   for (const ProtectedPath& path : found->paths) ...
//
// Covered, each as far as it lies in a writable tree: `.git` itself; of each repository that counts
// here (the working directory's, also that of an ancestor; of linked worktrees; of submodules,
// nested ones too) hooks, config, config.worktree, commondir, gitdir, and that no module appears;
// directories that core.hooksPath names in these, the user's or the system's configuration; files
// that configuration includes, conditions taken for true; the targets of symlinks among all these,
// and the symlinks. Submodules are those that .gitmodules or the index names. Other repositories
// that lie beneath are looked for by the caller (policy/repositories_below.h).
//
// Everything read here is hostile. What is there and cannot be read, or is too much, is an error:
// nothing may run then. Costs a few hundred system calls; keep the result while `inputs` are what
// they were.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/path_stamp.h"
#include "policy/host_files.h"
#include "policy/policy.h"
#include "policy/protection.h"
#include "policy/repositories_below.h"

namespace pa::policy {

// The directory in which a name would have to be made for an absent path to exist.
struct Holder {
  std::string path;  // "": not known
  PathStamp stamp = {};
  bool settled = false;  // while it looks the same, nothing beneath it is there
};

struct ProtectedPath {
  enum class Kind {
    kPinned,  // a directory, or nothing, at this very place: not moved, replaced or made; what is
              // in it is free. Each directory on the way to another protected path is pinned, too.
    kFile,    // content, permissions and type
    kTree,    // a directory and everything beneath it
    kNames,   // a directory in which no name may appear; what is in it is free
    kState,   // a file that git writes while an operation goes on: it may come, go and change, as
              // long as it executes nothing new (policy/git_state.h)
    kSealed,  // a directory that the server itself writes: pinned, and no command may write in it.
              // Nothing that is changed there can be put back, so only a mount protects it.
    kFrozen,  // a git directory in which nothing changes: a mount keeps all of it as it is
  };
  enum class Found { kAbsent, kFile, kDirectory, kSymlink, kOther };

  std::string path;  // absolute; no symlink but perhaps in the last component
  Kind kind;
  Found found;              // kAbsent: it must stay away. Then `kind` says what it would be
  std::string area;         // the one of `writable` that holds it; the path lies strictly beneath
  std::string reason;       // "git hooks", "core.hooksPath", "policy filesystem.protect (...)"
  PathStamp stamp = {};     // as it was found
  Holder holder = {};       // kAbsent
  bool repository = false;  // it holds more than can be made anew: objects and refs
  const HostFile* host = nullptr;  // the line of that table, where that protects it
  ProtectionSource source = ProtectionSource::kBuiltIn;
};

// What holders looked like, by path, when all that they hold was looked for once more and still
// absent.
using HolderStamps = std::unordered_map<std::string, PathStamp>;

// Whether what was not there still is not; looks at each path once. For one look at all of them.
class HolderLook {
 public:
  HolderLook() = default;
  // `renewed`: borrowed; of an earlier look at the same paths.
  explicit HolderLook(const HolderStamps* renewed) : renewed_(renewed) {}
  HolderLook(const HolderLook&) = delete;
  HolderLook& operator=(const HolderLook&) = delete;
  const PathStamp& At(const std::string& path) { return SeenAt(path, path_).stamp; }
  // Of a path that was absent, with its holder.
  bool StillAbsent(const std::string& path, const Holder& holder);
  // Once all paths were asked for, and still absent: for the next look, which then needs to look at
  // their holders alone. Nothing: the same as for this one.
  std::optional<HolderStamps> Renewed() const;
  // The first name on the way to something absent has appeared: another search finds another
  // holder.
  bool outdated() const { return outdated_; }

 private:
  struct Seen {
    PathStamp stamp;
    bool settled = false;
    bool renewed = false;  // it looks as `renewed_` has it
    bool renew = false;    // a name beneath it was looked for and is absent: Renewed tells of it
  };
  using SeenPaths = std::unordered_map<std::string, Seen>;
  Seen& SeenAt(const std::string& path, SeenPaths::value_type*& last);

  const HolderStamps* renewed_ = nullptr;
  SeenPaths seen_;
  // Paths are asked for in their order: mostly, the holder is that of the path before, and so is
  // the first name.
  SeenPaths::value_type* holder_ = nullptr;
  SeenPaths::value_type* path_ = nullptr;
  bool outdated_ = false;
};

struct ProtectedPaths {
  std::vector<ProtectedPath> paths;  // by path: what holds another comes first; each once
  // What else decided: while these look the same, and what is protected too, another search finds
  // the same. True of stamps that are Settled.
  struct Input {
    std::string path;
    PathStamp stamp;
    Holder holder = {};  // where it is absent
  };
  std::vector<Input> inputs;

  // An index that the command may write: it can make a submodule of any directory.
  struct Index {
    std::string path;
    std::string top;   // of its working tree
    std::string area;  // that holds the top
    PathStamp stamp;
    std::string shared;  // the other half of a split one, or ""
    PathStamp shared_stamp;
    std::vector<std::string> links = {};  // as SubmodulesOf has them
    bool settled = true;                  // both were, when they were read
  };
  std::vector<Index> indexes;

  // What commands may write although it decides what is protected: indexes, .gitmodules, which
  // linked worktrees there are. Whatever a command leaves there, the next search must be able to
  // read it.
  struct Decider {
    std::string path;
    std::string area;
    ProtectedPath::Kind kind;
  };
  std::vector<Decider> deciders;

  // Projects in which host files are not protected, because there are too many.
  std::vector<std::string> left_out;

  static bool Hold(std::span<const Input> inputs, HolderLook& look);
  bool InputsHold() const;
  // What keeps `path` as it is, or null: itself, or a tree that holds it.
  const ProtectedPath* Protecting(const std::string& path) const;
  // The one that is kSealed, or null.
  const ProtectedPath* Sealed() const;
};

struct ProtectionQuery {
  std::string directory;              // the working directory; canonical
  std::vector<std::string> writable;  // trees in which the command may write; canonical
  std::span<const ProtectedPlace> places = {};
  std::span<const std::string> unprotected = {};  // of policy/host_files.h
  std::span<const std::string> roots = {};        // projects, and those above the directory count
  std::span<const ProtectedPlace> anchors = {};   // absolute
  std::string audit_directory = {};               // in which the audit log lies, or ""
  std::string home = {};                          // of the user, for `~/` in configuration
  std::string config_home = {};                   // $XDG_CONFIG_HOME or ~/.config
  std::span<const RepositoryBelow> repositories = {};
  bool mounts = false;  // there will be some: `repositories` are kFrozen, as far as these go
  std::string system_configuration = "/etc/gitconfig";
};

// Whether nobody may make or replace a file at `path` (absolute, resolved), as `kept` has it.
bool Forbids(const ProtectedPath& kept, const std::string& path);

// What the index names now, be it there or not, by its path beneath the top: submodules, and, after
// a slash, directories of a sparse index, which may hold some.
Result<std::vector<std::string>> SubmodulesOf(const ProtectedPaths::Index& index);

// The trees among `grants` in which a command may write.
std::vector<std::string> WritableTrees(std::span<const sandbox::PathGrant> grants);
// Of a command that works in `directory`. Borrows from `policy`.
ProtectionQuery QueryFor(const Policy& policy, std::string directory,
                         std::vector<std::string> writable);

std::expected<ProtectedPaths, ProtectionFailure> FindProtectedPaths(const ProtectionQuery& query);

}  // namespace pa::policy
