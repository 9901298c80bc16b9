#include "policy/shared_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/directory_reader.h"
#include "base/unique_fd.h"

namespace pa::policy {
namespace {

constexpr std::array<std::string_view, 3> kPackages = {"node_modules", ".venv", "venv"};
constexpr int kDepth = 12;  // node_modules/.pnpm/NAME/node_modules/NAME/dist/...

// No further than the file system of the root: a dead network mount would hold the server up.
UniqueFd Open(int at, const char* name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = at == AT_FDCWD ? 0 : RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, at, name, &how, sizeof how)));
}

bool HasOtherNames(int directory, const DirectoryReader::Entry& entry) {
  struct stat status{};
  const bool seen =
      (entry.type == DT_REG || entry.type == DT_UNKNOWN) &&
      fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
  return seen && S_ISREG(status.st_mode) && status.st_nlink > 1;
}

// Package managers link all files of a package or none, so a few packages show which.
class Look {
 public:
  explicit Look(int names) : left_(names) {}

  // `below`: the projects right in it, too.
  std::optional<std::string> AtProject(const UniqueFd& fd, const std::string& path, bool below) {
    for (const std::string_view name : kPackages) {
      if (auto found = InTree(Open(fd.get(), name.data()), path + "/" + std::string(name), 0)) {
        return found;
      }
    }
    DirectoryReader reader(fd.get());
    while (const auto entry = below ? Next(reader) : std::nullopt) {
      if (std::ranges::find(kPackages, entry->name) != kPackages.end()) continue;
      const UniqueFd project = MayBeDirectory(*entry) ? Open(fd.get(), entry->name) : UniqueFd();
      if (!project) continue;
      if (auto found = AtProject(project, path + "/" + entry->name, false)) return found;
    }
    return std::nullopt;
  }

 private:
  static bool MayBeDirectory(const DirectoryReader::Entry& entry) {
    return entry.type == DT_DIR || entry.type == DT_UNKNOWN;
  }

  std::optional<DirectoryReader::Entry> Next(DirectoryReader& reader) {
    return left_-- > 0 ? reader.Next() : std::nullopt;
  }

  std::optional<std::string> InTree(const UniqueFd& fd, const std::string& path, int depth) {
    if (!fd || depth == kDepth) return std::nullopt;
    DirectoryReader reader(fd.get());
    while (const auto entry = Next(reader)) {
      std::string here = path + "/" + entry->name;
      if (HasOtherNames(fd.get(), *entry)) return here;
      if (!MayBeDirectory(*entry)) continue;
      if (auto found = InTree(Open(fd.get(), entry->name), here, depth + 1)) return found;
    }
    return std::nullopt;
  }

  int left_;
};

}  // namespace

std::optional<std::string> FindSharedFile(const std::string& root, int names) {
  const UniqueFd fd = Open(AT_FDCWD, root.c_str());
  return fd ? Look(names).AtProject(fd, root, /*below=*/true) : std::nullopt;
}

}  // namespace pa::policy
