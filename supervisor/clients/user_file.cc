#include "supervisor/clients/user_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/keep_metadata.h"
#include "base/open_beneath.h"
#include "base/path_stamp.h"
#include "base/random.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/path.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

// `path`, or what of it is there.
Result<void> CheckOwner(fs::path path) {
  struct stat status{};
  while (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return std::unexpected(Error("stat", path, errno));
    path = path.parent_path();
  }
  if (status.st_uid == geteuid()) return {};
  return std::unexpected(Error("it belongs to the user " + std::to_string(status.st_uid) +
                                   ", and this runs as " + std::to_string(geteuid()) +
                                   "; run it as its owner",
                               path));
}

Result<void> Fill(int directory, const std::string& name, int fd, const UserFile& file,
                  std::string_view content) {
  if (file.exists) {
    // For writing, too: what the user has made read-only stays as it is.
    const UniqueFd old(
        openat(directory, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!old) return std::unexpected(Error("open", file.path, errno));
    const Result<std::string> now = ReadFileFrom(old.get(), file.path, kMaxUserFile);
    if (!now || *now != file.content) return std::unexpected(Error("replace", file.path, ESTALE));
    struct stat was{}, is{};
    if (fstat(old.get(), &was) != 0 || fstat(fd, &is) != 0) {
      return std::unexpected(Error("fstat", file.path, errno));
    }
    PA_TRY_VOID(KeepMetadata(old.get(), was, fd, is, file.path.c_str()));
  } else if (LookAt(directory, name).exists) {
    return std::unexpected(Error("make", file.path, ESTALE));
  }
  PA_TRY_VOID(WriteAll(fd, content));
  if (fsync(fd) != 0) return std::unexpected(Error("fsync", file.path, errno));
  return {};
}

}  // namespace

Result<UserFile> ReadUserFile(const std::string& path, const std::string& base) {
  UserFile file;
  struct stat status{};
  file.exists = stat(path.c_str(), &status) == 0;
  if (!file.exists && errno != ENOENT) return std::unexpected(Error("stat", path, errno));
  if (!file.exists && LookAt(path).IsSymlink()) {
    return std::unexpected(Error("follow symlink", path, ENOENT));
  }
  file.path = policy::ResolvePath(path);
  const std::string directory = fs::path(file.path).parent_path();
  for (const std::string& own : {base, directory, file.path}) {
    PA_TRY_VOID(CheckOwner(own));
  }
  if (!file.exists) return file;
  PA_TRY(file.content, ReadFile(file.path, kMaxUserFile));
  return file;
}

Result<void> ReplaceUserFile(const UserFile& file, std::string_view content) {
  const fs::path path = file.path;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) return std::unexpected(Error("mkdir", path.parent_path(), failed.value()));
  // The path was resolved: a symlink on it was made since, by whoever would have this write
  // elsewhere.
  const UniqueFd held = OpenPlain(AT_FDCWD, path.parent_path().c_str(), O_PATH | O_DIRECTORY);
  const UniqueFd directory(held ? openat(held.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
  if (!directory) return std::unexpected(Error("open", path.parent_path(), errno));
  const std::string name = path.filename();
  const std::string beside = "." + name + "." + RandomHex(8);
  const mode_t mode = file.exists ? 0600 : 0666;
  const UniqueFd fd(
      openat(directory.get(), beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd) return std::unexpected(Error("openat", path.parent_path() / beside, errno));
  Result<void> done = Fill(directory.get(), name, fd.get(), file, content);
  if (done && renameat(directory.get(), beside.c_str(), directory.get(), name.c_str()) != 0) {
    done = std::unexpected(Error("renameat", file.path, errno));
  }
  if (!done) {
    unlinkat(directory.get(), beside.c_str(), 0);
    return done;
  }
  if (fsync(directory.get()) != 0)
    return std::unexpected(Error("fsync", path.parent_path(), errno));
  return {};
}

}  // namespace pa
