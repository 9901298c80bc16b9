// RepositoriesBelow: finds git repositories that lie beneath a directory and are not its own.
// Commands that work in the directory can write in them, and the user runs git in them.
//
//    TreeScan scan(ChooseRepositoryNames);                                  // base/tree_scan.h
//    ScannedTree tree = scan.Look(fd);
//    for (const RepositoryBelow& one : RepositoriesBelow(tree, "/home/ann/src")) ...
//
// Everything named `.git` counts as a repository, complete or not. So does a directory that git
// takes for a bare repository (HEAD beside objects and refs, or beside commondir).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/tree_scan.h"

namespace pa::policy {

struct RepositoryBelow {
  enum class Kind {
    kDirectory,  // `.git` is a directory
    kLink,       // `.git` is a file that names a git directory: a submodule, a linked worktree
    kBare,       // the directory itself is a repository
    kOther,      // a symlink, or something that git cannot use
  };
  std::string path;  // absolute: the path of `.git`, or of the bare repository
  Kind kind = Kind::kOther;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;  // 0 if the file system does not record it

  bool IsDirectory() const { return kind == Kind::kDirectory || kind == Kind::kBare; }
  // The same object, wherever it lies now.
  bool Same(const RepositoryBelow& other) const {
    return device == other.device && inode == other.inode && born_ns == other.born_ns;
  }
  bool operator==(const RepositoryBelow&) const = default;
};

Interest ChooseRepositoryNames(std::string_view name);

// Whether git takes `directory` (absolute) for a git directory, whatever its name is: HEAD beside
// objects and refs, or beside commondir. A path that cannot be looked up is an error.
Result<bool> IsGitDirectory(const std::string& directory);
// Whether `path`, which may not exist, is a git directory or lies in one. The search goes from
// `path` up to `top`, which is included; both are absolute. A path in a working tree that somebody
// has put into a git directory does not count. Names (`.git`) do not matter.
Result<bool> LiesInGitDirectory(const std::string& top, const std::string& path);

// The repositories between `directory` and `file`, in which, or in whose working trees, `file`
// lies; both are absolute. Only path and kind are set. A path that cannot be looked up counts as a
// repository that git cannot use.
std::vector<RepositoryBelow> RepositoriesAround(const std::string& directory,
                                                const std::string& file);

// Sorted by path. `directory`: the absolute path of what was scanned. If a repository cannot be
// identified (its path is longer than the kernel allows, ...), its directory is added to
// `tree.unreadable`.
std::vector<RepositoryBelow> RepositoriesBelow(ScannedTree& tree, const std::string& directory);

// The identity of what exists at `path` now, whatever its kind. Nothing: it is known not to exist.
Result<std::optional<RepositoryBelow>> Identify(std::string path, RepositoryBelow::Kind kind);

}  // namespace pa::policy
