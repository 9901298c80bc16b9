#include "supervisor/tools/left_in_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/digest.h"
#include "base/file.h"
#include "base/path_stamp.h"
#include "base/try.h"
#include "base/unique_fd.h"

namespace pa {
namespace {

using Names = std::vector<std::string>;

Error NoObject(const std::string& path) { return {"git-lfs", "not one of its objects: " + path}; }

Result<std::string> HashOf(int file, const std::string& path) {
  constexpr std::size_t kPart = 256u << 10;
  Sha256 hash;
  std::string part(kPart, '\0');
  for (;;) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0) return std::unexpected(Error("read", path, errno));
    if (got == 0) return Hex(hash.Finish());
    hash.Update(std::string_view(part).substr(0, static_cast<std::size_t>(got)));
  }
}

// ab/cd/abcd...: the SHA-256 of the content, in directories named after its beginning
// (git-lfs/docs/spec.md).
Result<bool> CheckObject(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return std::unexpected(Error("open", path, errno));
  const bool placed =
      name.size() == 64 && directory.ends_with("/" + name.substr(0, 2) + "/" + name.substr(2, 2));
  if (!S_ISREG(status.st_mode) || !placed) return std::unexpected(NoObject(path));
  PA_TRY(const std::string hash, HashOf(file.get(), path));
  if (hash != name) return std::unexpected(NoObject(path));
  return true;
}

// Overlayfs marks what was removed by a device with the number 0 (overlayfs.rst, "whiteouts").
bool Leaves(const PathStamp& there) { return there.IsSymlink() || S_ISCHR(there.mode); }

Result<bool> CheckIn(const std::string& directory, int depth) {
  constexpr int kDepth = 2;
  PA_TRY(const Names names, ReadNames(directory, O_NOFOLLOW));
  bool any = false;
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    const PathStamp there = LookAt(path);
    if (Leaves(there)) {
      if (unlink(path.c_str()) != 0) return std::unexpected(Error("unlink", path, errno));
      continue;
    }
    if (there.IsDirectory() != (depth < kDepth)) return std::unexpected(NoObject(path));
    PA_TRY(const bool found,
           depth < kDepth ? CheckIn(path, depth + 1) : CheckObject(directory, name));
    any = any || found;
  }
  return any;
}

// What git changes when it commits, and what its own commit does again.
constexpr std::array<std::string_view, 17> kOfACommit = {
    "AUTO_MERGE", "CHERRY_PICK_HEAD", "COMMIT_EDITMSG", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG",
    "MERGE_RR",   "ORIG_HEAD",        "REVERT_HEAD",    "SQUASH_MSG", "index",      "lfs",
    "logs",       "objects",          "rr-cache",       "reftable",   "sequencer"};

bool IsOfACommit(std::string_view name) {
  return std::ranges::find(kOfACommit, name) != kOfACommit.end();
}

class Finder {
 public:
  Finder(const std::string& upper, const std::string& repository, const std::string& commit)
      : upper_(upper), repository_(repository), commit_(commit) {}

  Names Find() {
    for (const std::string& name : In(".")) {
      if (name == "HEAD" || name == "refs" || name == "worktrees") {
        Reference(name, 0);
      } else if (!IsOfACommit(name) && !IsNewFile(name)) {
        Add(name);
      }
    }
    return found_;
  }

 private:
  // What cannot be read, or is too much, counts as changed.
  Names In(const std::string& name) {
    Result<Names> names = ReadNames(upper_ + "/" + name, O_NOFOLLOW, room_ + 1);
    if (!names || names->size() > room_) {
      Add(name);
      room_ = 0;
      return {};
    }
    room_ -= names->size();
    return *std::move(names);
  }

  bool IsNewFile(const std::string& name) const {
    return LookAt(upper_ + "/" + name).IsRegular() && LookAt(repository_ + "/" + name).IsAbsent();
  }

  // The branch, or a detached HEAD, has the commit.
  void Reference(const std::string& name, int depth) {
    constexpr int kDeep = 8;
    const PathStamp there = LookAt(upper_ + "/" + name);
    if (there.IsDirectory()) {
      if (depth == kDeep) return Add(name);
      for (const std::string& one : In(name)) {
        if (depth == 1 && name.starts_with("worktrees/") && IsOfACommit(one)) continue;
        Reference(name + "/" + one, depth + 1);
      }
      return;
    }
    const bool own = name == "HEAD" || name.starts_with("refs/heads/") || name.ends_with("/HEAD");
    if (own && ReadFile(upper_ + "/" + name, commit_.size() + 1).value_or("") == commit_ + "\n") {
      return;
    }
    Add(name);
  }

  void Add(const std::string& name) {
    if (found_.size() < kMaxOther) found_.push_back(name);
  }

  const std::string& upper_;
  const std::string& repository_;
  const std::string& commit_;
  std::size_t room_ = 10'000;  // for names; a repository with more new references is unusual
  Names found_;
};

}  // namespace

Result<bool> CheckLfsObjects(const std::string& lfs) {
  const std::string objects = lfs + "/objects";
  for (const std::string& path : {lfs, objects}) {
    const PathStamp there = LookAt(path);
    if (there.IsAbsent() || S_ISCHR(there.mode)) return false;  // removed
    if (!there.IsDirectory()) return std::unexpected(NoObject(path));
  }
  return CheckIn(objects, 0);
}

std::vector<std::string> OtherChanges(const std::string& upper, const std::string& repository,
                                      const std::string& commit) {
  return Finder(upper, repository, commit).Find();
}

}  // namespace pa
