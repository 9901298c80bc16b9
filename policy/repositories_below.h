// RepositoriesBelow: git repositories that lie beneath a directory without being its own. Whoever
// works in the directory can write in them, and the user runs git in them.
//
//   TreeScan scan(ChooseRepositoryNames);                                  // base/tree_scan.h
//   ScannedTree tree = scan.Look(fd);
//   for (const RepositoryBelow& one : RepositoriesBelow(tree, "/home/ann/src")) ...
//
// Whatever is called `.git` counts as one, complete or not, and so does a directory that git takes
// for a bare repository (HEAD beside objects and refs, or beside commondir).
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
    kLink,       // a file that names one: a submodule, a linked worktree
    kBare,       // the directory itself is one
    kOther,      // a symlink, or what git cannot use
  };
  std::string path;  // absolute: of `.git`, or of the bare repository
  Kind kind = Kind::kOther;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;  // 0 where the file system does not know

  bool IsDirectory() const { return kind == Kind::kDirectory || kind == Kind::kBare; }
  // The same object, wherever it lies now.
  bool Same(const RepositoryBelow& other) const {
    return device == other.device && inode == other.inode && born_ns == other.born_ns;
  }
  bool operator==(const RepositoryBelow&) const = default;
};

Interest ChooseRepositoryNames(std::string_view name);

// Whether git takes `directory` (absolute) for a git directory, whatever its name: HEAD beside
// objects and refs, or beside commondir. What cannot be looked at is an error.
Result<bool> IsGitDirectory(const std::string& directory);
// Whether `path`, be it there or not, is a git directory or lies in one, seen from it up to `top`,
// which counts, too; both absolute. What lies in a working tree that somebody has put into a git
// directory does not. Names (`.git`) are not asked.
Result<bool> LiesInGitDirectory(const std::string& top, const std::string& path);

// Those between `directory` and `file`, in which or in whose working trees it lies; both absolute.
// Path and kind only; what cannot be looked at counts as one that git cannot use.
std::vector<RepositoryBelow> RepositoriesAround(const std::string& directory,
                                                const std::string& file);

// By path. `directory`: what was scanned; absolute. Where it cannot be told which one it is (its
// path is longer than the kernel takes, ...), its directory joins `tree.unreadable`.
std::vector<RepositoryBelow> RepositoriesBelow(ScannedTree& tree, const std::string& directory);

// What is there now, whatever its kind. Nothing: it is known not to be there.
Result<std::optional<RepositoryBelow>> Identify(std::string path, RepositoryBelow::Kind kind);

}  // namespace pa::policy
