#include "supervisor/guard/file_image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <optional>

#include "base/directory_reader.h"
#include "base/file.h"
#include "base/open_beneath.h"
#include "base/proc_path.h"
#include "base/try.h"

namespace pa {
namespace {

std::optional<std::string> ReadTarget(int parent, const std::string& name) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlinkat(parent, name.c_str(), target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<std::string> ReadContent(int parent, const std::string& name, std::size_t limit) {
  // O_NONBLOCK: what was a regular file a moment ago may be a FIFO now.
  const UniqueFd fd(
      openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("openat", name, errno));
  return ReadFileFrom(fd.get(), name, limit);
}

Result<void> ReadChildren(FileImage& image, int parent, const std::string& name, ImageDepth depth,
                          ImageBudget& budget) {
  const UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("openat", name, errno));
  const ImageDepth below = depth == ImageDepth::kTree ? depth : ImageDepth::kSelf;
  DirectoryReader reader(fd.get());
  while (const auto entry = reader.Next()) {
    const std::string child = entry->name;
    if (depth == ImageDepth::kNames) {
      image.children.try_emplace(child);
      continue;
    }
    Result<FileImage> read = ReadImage(fd.get(), child, below, budget);
    if (!read)
      return std::unexpected(
          Error(read.error().op, name + "/" + read.error().subject, read.error().sys_errno));
    image.children.emplace(child, std::move(*read));
  }
  if (reader.failed()) return std::unexpected(Error("getdents64", name, errno));
  return {};
}

Result<void> Finish(int fd, const PathStamp& stamp, const std::string& name) {
  const timespec times[] = {{0, UTIME_OMIT},
                            {stamp.modified_ns / 1'000'000'000, stamp.modified_ns % 1'000'000'000}};
  // Not to be given away is no harm: whoever may change it is ourselves then.
  if (stamp.owner != geteuid() || stamp.group != getegid()) {
    [[maybe_unused]] const int status = fchown(fd, stamp.owner, stamp.group);
  }
  if (fchmod(fd, stamp.mode & kPermissionBits) != 0) {
    return std::unexpected(Error("fchmod", name, errno));
  }
  if (futimens(fd, times) != 0) return std::unexpected(Error("futimens", name, errno));
  return {};
}

Result<void> Fill(int fd, const FileImage& image, const std::string& name) {
  PA_TRY_VOID(WriteAll(fd, image.content));
  PA_TRY_VOID(Finish(fd, image.stamp, name));
  if (fsync(fd) != 0) return std::unexpected(Error("fsync", name, errno));
  return {};
}

// Without a name until it is whole, so that nothing of it is left if we are killed; on file systems
// that cannot do that, under its name from the start.
Result<void> MakeFile(const FileImage& image, int parent, const std::string& name) {
  const UniqueFd nameless(openat(parent, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (nameless) {
    PA_TRY_VOID(Fill(nameless.get(), image, name));
    const std::string path = ProcPath(nameless.get());
    if (linkat(AT_FDCWD, path.c_str(), parent, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno == EEXIST) return std::unexpected(Error("linkat", name, errno));
  }
  const UniqueFd fd(
      openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return std::unexpected(Error("openat", name, errno));
  return Fill(fd.get(), image, name);
}

Result<void> MakeDirectory(const FileImage& image, int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0700) != 0) {
    return std::unexpected(Error("mkdirat", name, errno));
  }
  const UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("openat", name, errno));
  for (const auto& [child, of_child] : image.children) {
    PA_TRY_VOID(MakeFrom(of_child, fd.get(), child));
  }
  return Finish(fd.get(), image.stamp, name);
}

}  // namespace

Result<FileImage> ReadImage(int parent, const std::string& name, ImageDepth depth,
                            ImageBudget& budget) {
  FileImage image{.stamp = LookAt(parent, name)};
  if (image.stamp.error != 0) return std::unexpected(Error("lstat", name, image.stamp.error));
  image.settled = image.stamp.Settled();
  if (budget.nodes == 0) return std::unexpected(Error("read", name, E2BIG));
  --budget.nodes;
  if (image.stamp.IsRegular()) {
    PA_TRY(image.content, ReadContent(parent, name, budget.bytes));
    budget.bytes -= image.content.size();
  } else if (image.stamp.IsSymlink()) {
    const std::optional<std::string> target = ReadTarget(parent, name);
    if (!target) return std::unexpected(Error("readlinkat", name, errno));
    image.content = *target;
  } else if (image.stamp.IsDirectory() && depth != ImageDepth::kSelf) {
    PA_TRY_VOID(ReadChildren(image, parent, name, depth, budget));
  }
  // Read while somebody wrote: neither this stamp nor the next one tells.
  if (LookAt(parent, name) != image.stamp) image.settled = false;
  return image;
}

bool StampsHold(const FileImage& image, const std::string& path) {
  if (!image.settled || LookAt(path) != image.stamp) return false;
  for (const auto& [name, child] : image.children) {
    // Of names alone the directory's own stamp tells.
    if (child.stamp.exists && !StampsHold(child, path + "/" + name)) return false;
  }
  return true;
}

Result<bool> HoldsContent(const FileImage& image, int parent, const std::string& name) {
  if (image.stamp.IsSymlink()) return ReadTarget(parent, name) == image.content;
  if (!image.stamp.IsRegular()) return true;
  // One byte more than there was is enough to know; a hostile file may be of any size.
  const Result<std::string> content = ReadContent(parent, name, image.content.size());
  if (!content && !MeansGone(content.error().sys_errno)) return std::unexpected(content.error());
  return content && *content == image.content;
}

Result<void> MakeFrom(const FileImage& image, int parent, const std::string& name) {
  if (image.stamp.IsRegular()) return MakeFile(image, parent, name);
  if (image.stamp.IsDirectory()) return MakeDirectory(image, parent, name);
  if (!image.stamp.IsSymlink()) return std::unexpected(Error("restore", name, ENOTSUP));
  if (symlinkat(image.content.c_str(), parent, name.c_str()) != 0) {
    return std::unexpected(Error("symlinkat", name, errno));
  }
  return {};
}

UniqueFd OpenDirectory(const std::string& path) {
  return OpenPlain(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
}

Result<void> RestoreMetadata(const PathStamp& stamp, int parent, const std::string& name) {
  const UniqueFd fd(openat(parent, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("openat", name, errno));
  struct stat now{};
  if (fstat(fd.get(), &now) != 0) return std::unexpected(Error("fstat", name, errno));
  if (now.st_uid != stamp.owner || now.st_gid != stamp.group) {
    if (fchownat(fd.get(), "", stamp.owner, stamp.group, AT_EMPTY_PATH) != 0) {
      return std::unexpected(Error("fchownat", name, errno));
    }
  }
  if (S_ISLNK(now.st_mode)) return {};
  if (chmod(ProcPath(fd.get()).c_str(), stamp.mode & kPermissionBits) != 0) {
    return std::unexpected(Error("chmod", name, errno));
  }
  return {};
}

}  // namespace pa
