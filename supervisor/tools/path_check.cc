#include "supervisor/tools/path_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include "base/proc_path.h"
#include "base/unique_fd.h"
#include "policy/path.h"

namespace pa {
namespace {

constexpr int kMaxSteps =
    64;  // as many symlinks as the kernel follows, and some missing directories

std::optional<std::string> ReadLinkAt(int at, const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t length = readlinkat(at, path.c_str(), buffer.data(), buffer.size());
  if (length < 0 || static_cast<std::size_t>(length) == buffer.size()) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::optional<std::string> WhyOutsideOpened(const policy::WorkingDirectory& directory, int fd) {
  const auto real = ReadLinkAt(AT_FDCWD, ProcPath(fd));
  if (real && policy::IsBeneath(*real, directory.path())) return std::nullopt;
  return "it leads outside through a symlink";
}

std::string ParentOrDot(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

bool HoldsParentStep(const std::string& path) {
  for (const auto& component : std::filesystem::path(path)) {
    if (component == "..") return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> WhyOutside(const policy::WorkingDirectory& directory,
                                      const std::string& path) {
  if (path.find('\0') != std::string::npos) return "it holds a NUL byte";
  if (path.starts_with('/')) return "it is absolute";
  const std::string normal = std::filesystem::path(path).lexically_normal().string();
  if (normal == ".." || normal.starts_with("../")) return "it leads above the working directory";

  std::string at = path.empty() ? "." : path;
  for (int step = 0; step < kMaxSteps; ++step) {
    const UniqueFd fd(openat(directory.fd(), at.c_str(), O_PATH | O_CLOEXEC));
    if (fd) return WhyOutsideOpened(directory, fd.get());
    if (errno != ENOENT && errno != ENOTDIR) return std::strerror(errno);
    while (at.size() > 1 && at.ends_with('/')) at.pop_back();
    // A link to nothing counts by what it names; other missing things by where they would be.
    if (const auto target = ReadLinkAt(directory.fd(), at)) {
      at = target->starts_with('/') ? *target : ParentOrDot(at) + "/" + *target;
    } else if (HoldsParentStep(std::filesystem::path(at).filename())) {
      return "a directory in it does not exist";
    } else {
      at = ParentOrDot(at);
    }
  }
  return "too many symlinks or directories that do not exist";
}

}  // namespace pa
