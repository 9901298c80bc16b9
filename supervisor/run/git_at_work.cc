#include "supervisor/run/git_at_work.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/directory_reader.h"
#include "base/file.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/path.h"

namespace pa {
namespace {

// As open(2) and readlink(2) say it of what lies in /proc.
bool HasEnded(int error) { return error == ENOENT || error == ESRCH; }

// What a process of this user's is called; "" if it is somebody else's, whose name may be hidden,
// or has ended.
Result<std::string> NameOfOurs(const std::string& process) {
  struct stat status{};
  if (stat(process.c_str(), &status) != 0) {
    if (HasEnded(errno)) return "";
    return std::unexpected(Error("stat", process, errno));
  }
  if (status.st_uid != geteuid()) return "";
  Result<std::string> name = ReadFile(process + "/comm", 64);
  if (!name && HasEnded(name.error().sys_errno)) return "";
  return name;
}

// Whether a process stands beneath one of them. While a message is written, git waits for the
// editor and has nothing open; it stands in the working tree all that time (setup.c). What cannot
// be read may be that.
bool StandsIn(std::span<const std::string> directories, const std::string& process) {
  std::array<char, PATH_MAX> directory{};
  const ssize_t length = readlink((process + "/cwd").c_str(), directory.data(), directory.size());
  if (length < 0) return !HasEnded(errno);
  const std::string at(directory.data(), static_cast<std::size_t>(length));
  return std::ranges::any_of(directories,
                             [&](const std::string& one) { return policy::IsBeneath(at, one); });
}

}  // namespace

Result<std::string> GitAtWork(std::span<const std::string> directories) {
  const UniqueFd processes(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!processes) return std::unexpected(Error("open", "/proc", errno));
  DirectoryReader reader(processes.get());
  while (const auto entry = reader.Next()) {
    const std::string pid = entry->name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string process = "/proc/" + pid;
    PA_TRY(const std::string name, NameOfOurs(process));
    if (!name.starts_with("git") || !StandsIn(directories, process)) continue;
    return fmt::format("{} (process {})", name.substr(0, name.find('\n')), pid);
  }
  if (reader.failed()) return std::unexpected(Error("getdents64", "/proc", errno));
  return "";
}

}  // namespace pa
