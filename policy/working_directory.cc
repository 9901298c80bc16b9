#include "policy/working_directory.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

#include "base/open_beneath.h"
#include "base/proc_path.h"
#include "policy/path.h"
#include "policy/repositories_below.h"

namespace pa::policy {

struct WorkingDirectoryMaker {
  static WorkingDirectory Make(std::string path, std::string root, UniqueFd fd) {
    WorkingDirectory directory;
    directory.path_ = std::move(path);
    directory.root_ = std::move(root);
    directory.fd_ = std::make_shared<UniqueFd>(std::move(fd));
    return directory;
  }
};

namespace {

// How far a system directory reaches.
enum class Reach {
  kItself,  // what is beneath may be a project: /opt/x, /srv/x
  kTree,    // nothing beneath is a project
};

struct SystemDirectory {
  std::string_view path;
  Reach reach;
};

// The longest match decides, so a line within a tree opens that part again: people do keep projects
// in /usr/src/app (the usual place in container images) and /var/lib/jenkins/workspace/x.
constexpr std::array kSystemPlaces = {
    SystemDirectory{"/", Reach::kItself},
    SystemDirectory{"/bin", Reach::kTree},
    SystemDirectory{"/boot", Reach::kTree},
    SystemDirectory{"/dev", Reach::kTree},
    SystemDirectory{"/dev/shm", Reach::kItself},
    SystemDirectory{"/etc", Reach::kTree},
    SystemDirectory{"/home", Reach::kItself},
    SystemDirectory{"/lib", Reach::kTree},
    SystemDirectory{"/lib32", Reach::kTree},
    SystemDirectory{"/lib64", Reach::kTree},
    SystemDirectory{"/libx32", Reach::kTree},
    SystemDirectory{"/lost+found", Reach::kTree},
    SystemDirectory{"/media", Reach::kItself},
    SystemDirectory{"/opt", Reach::kItself},
    SystemDirectory{"/proc", Reach::kTree},
    SystemDirectory{"/run", Reach::kTree},
    SystemDirectory{"/run/media", Reach::kItself},
    SystemDirectory{"/run/user", Reach::kItself},
    SystemDirectory{"/sbin", Reach::kTree},
    SystemDirectory{"/srv", Reach::kItself},
    SystemDirectory{"/sys", Reach::kTree},
    SystemDirectory{"/tmp", Reach::kItself},
    SystemDirectory{"/usr", Reach::kTree},
    SystemDirectory{"/usr/local/src", Reach::kItself},
    SystemDirectory{"/usr/src", Reach::kItself},
    SystemDirectory{"/var", Reach::kTree},
    SystemDirectory{"/var/home", Reach::kItself},
    SystemDirectory{"/var/lib", Reach::kItself},
    SystemDirectory{"/var/opt", Reach::kItself},
    SystemDirectory{"/var/tmp", Reach::kItself},
    SystemDirectory{"/var/www", Reach::kItself},
};

// /root is the home of one user and a system directory for everybody else.
bool IsSystemPlace(std::string_view path, std::string_view home) {
  if (IsBeneath(path, "/root")) return !IsBeneath(path, home) || home == "/";
  const SystemDirectory* best = nullptr;
  for (const SystemDirectory& place : kSystemPlaces) {
    const bool longer = best == nullptr || place.path.size() > best->path.size();
    if (longer && IsBeneath(path, place.path)) best = &place;
  }
  return best != nullptr && (best->reach == Reach::kTree || path == best->path);
}

std::string Shown(std::string_view path) {
  constexpr std::size_t kMaxShown = 512;
  if (path.size() <= kMaxShown) return std::string(path);
  return std::string(path.substr(0, kMaxShown)) + "...";
}

DirectoryRefusal Refuse(const Policy& policy, std::string_view text, std::string_view path,
                        std::string_view why = "") {
  DirectoryRefusal refusal{.message = std::string(text) + ": " + Shown(path), .ai_message = ""};
  if (!why.empty()) refusal.message.append(" (").append(why).append(")");
  if (std::ranges::find(policy.roots, path) != policy.roots.end()) {
    refusal.ai_message =
        "This is a root of the server itself, so no argument can help. Tell the user to start it "
        "with a --root (or `roots` in the policy) that they own and can write to, outside the "
        "directories of the system.";
    return refusal;
  }
  refusal.ai_message =
      "Leave working_directory out to work in " + policy.roots.front() +
      ", or pass a directory of the current user inside one of the allowed roots: ";
  for (const std::string& root : policy.roots) {
    if (&root != &policy.roots.front()) refusal.ai_message += ", ";
    refusal.ai_message += root;
  }
  refusal.ai_message += ".";
  return refusal;
}

constexpr int kLooks = 32;  // at a file that others replace as fast as they can
// After so many: ext4 counts the old file's name as gone some time before the name leads to the new
// one, if it has to wait for its journal in between (seen: 75 looks long).
constexpr int kLooksAtOnce = 16;
constexpr std::chrono::milliseconds kPause{1};

constexpr char kSystemText[] = "working directory cannot be a system directory";
constexpr char kOutsideText[] = "working directory is outside the allowed roots";
constexpr char kNotWritableText[] = "working directory not writable by current user";

// Magic links (/proc/PID/root and the like) lead past every path check, so openat2 refuses them;
// where a container's old seccomp filter denies openat2, the checks on the opened descriptor still
// hold alone.
UniqueFd OpenWithoutMagicLinks(int at, const char* path) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(kFlags);
  how.resolve = RESOLVE_NO_MAGICLINKS;
  const long fd = syscall(SYS_openat2, at, path, &how, sizeof how);
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return UniqueFd(openat(at, path, kFlags));
  return UniqueFd(static_cast<int>(fd));
}

// The path of the very object that the descriptor names; nothing if it has none (deleted,
// unreachable from our root, longer than the kernel shows).
std::optional<std::string> PathOf(int fd, const struct stat& status) {
  if (status.st_nlink == 0) return std::nullopt;
  std::array<char, PATH_MAX> buffer;
  const std::string link = ProcPath(fd);
  const ssize_t length = readlink(link.c_str(), buffer.data(), buffer.size());
  if (length <= 0 || static_cast<std::size_t>(length) == buffer.size() || buffer[0] != '/') {
    return std::nullopt;
  }
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

const std::string* RootOf(const Policy& policy, const std::string& path) {
  const std::string* best = nullptr;
  for (const std::string& root : policy.roots) {
    if (IsBeneath(path, root) && (best == nullptr || root.size() > best->size())) best = &root;
  }
  return best;
}

bool IsHome(const Policy& policy, const struct stat& status) {
  struct stat home{};
  return !policy.home.empty() && stat(policy.home.c_str(), &home) == 0 &&
         home.st_dev == status.st_dev && home.st_ino == status.st_ino;
}

// Why a path that cannot be opened is refused. What the name alone tells comes first, so that the
// answer does not depend on what exists outside the roots.
DirectoryRefusal RefuseUnopened(const Policy& policy, const std::string& requested, int code) {
  const std::filesystem::path absolute = std::filesystem::path(policy.roots.front()) / requested;
  const std::string name = absolute.lexically_normal().string();
  if (IsSystemPlace(name, policy.home)) return Refuse(policy, kSystemText, requested);
  if (RootOf(policy, name) == nullptr) return Refuse(policy, kOutsideText, requested);
  DirectoryRefusal refusal =
      Refuse(policy, "working directory cannot be opened", requested, std::strerror(code));
  refusal.code = code;
  return refusal;
}

// A command there could write hooks. Whoever wants to work on a bare repository as a whole makes it
// a root: then what git executes in it is protected, as in a `.git`.
std::optional<DirectoryRefusal> CheckGit(const Policy& policy, const std::string& path,
                                         const std::string& root) {
  constexpr char kGitText[] = "working directory cannot be git's own data";
  if ((path + "/").find("/.git/") != std::string::npos) return Refuse(policy, kGitText, path);
  if (path == root) return std::nullopt;
  const Result<bool> lies = LiesInGitDirectory(root, path);
  if (lies && !*lies) return std::nullopt;
  DirectoryRefusal refusal = Refuse(policy, kGitText, path, lies ? "" : lies.error().Message());
  if (!lies) refusal.code = lies.error().sys_errno;
  return refusal;
}

std::optional<DirectoryRefusal> CheckOpened(const Policy& policy, const std::string& path,
                                            const std::string* root, const struct stat& status) {
  if (IsSystemPlace(path, policy.home)) return Refuse(policy, kSystemText, path);
  if (root == nullptr) return Refuse(policy, kOutsideText, path);
  if (auto refusal = CheckGit(policy, path, *root)) return refusal;
  if (path != *root && IsHome(policy, status)) {
    return Refuse(policy, "working directory cannot be the home directory itself", path);
  }
  if (policy.audit.Directory() == path) {
    return Refuse(policy, "working directory cannot be that of the audit log", path,
                  "audit.path has to name a file in a directory of its own");
  }
  if (status.st_uid != geteuid()) {
    return Refuse(policy, kNotWritableText, path,
                  "owned by uid " + std::to_string(status.st_uid) + ", not by uid " +
                      std::to_string(geteuid()));
  }
  if ((status.st_mode & S_IWUSR) == 0) {
    return Refuse(policy, kNotWritableText, path, "its owner has no write permission");
  }
  return std::nullopt;
}

}  // namespace

bool IsSystemDirectory(std::string_view path, std::string_view home) {
  return IsSystemPlace(path, home);
}

Result<FoundBeneath> FindBeneath(const WorkingDirectory& top, const std::string& path) {
  const auto open = [&](const std::string& what, int flags) {
    return OpenBeneath(top.fd(), what.empty() ? "." : what.c_str(), O_PATH | flags);
  };
  const auto failed = [&](int code) { return std::unexpected(Error("open", path, code)); };
  UniqueFd fd;
  struct stat status{};
  std::optional<std::string> found;
  // Who saves a file renames another one onto it: what was opened is gone by now, but the name is
  // not.
  for (int attempt = 0; attempt < kLooks && !found; ++attempt) {
    if (attempt >= kLooksAtOnce) std::this_thread::sleep_for(kPause);
    fd = open(path, 0);
    if (!fd || fstat(fd.get(), &status) != 0) return failed(errno);
    found = PathOf(fd.get(), status);
    // Once more: if it went in between, its path ends in " (deleted)".
    if (fstat(fd.get(), &status) != 0) return failed(errno);
    if (status.st_nlink == 0) found.reset();
  }
  if (!found) return failed(ENOENT);
  std::string name;
  if (!S_ISDIR(status.st_mode)) {
    name = found->substr(found->rfind('/') + 1);
    found->resize(found->size() - name.size() - 1);
  }
  if (!IsBeneath(*found, top.path())) return failed(EXDEV);  // moved in the meantime
  std::string relative = found->substr(std::min(top.path().size() + 1, found->size()));
  if (!name.empty()) fd = open(relative, O_DIRECTORY);
  if (!fd) return failed(errno);
  return FoundBeneath{WorkingDirectoryMaker::Make(std::move(*found), top.root(), std::move(fd)),
                      std::move(name), std::move(relative),
                      static_cast<std::uint64_t>(status.st_size)};
}

std::expected<WorkingDirectory, DirectoryRefusal> ValidateWorkingDirectory(
    const Policy& policy, const std::string& requested) {
  if (requested.find('\0') != std::string::npos) {
    return std::unexpected(
        Refuse(policy, "working directory cannot hold a NUL byte", requested.c_str()));
  }
  const UniqueFd first_root = OpenWithoutMagicLinks(AT_FDCWD, policy.roots.front().c_str());
  if (!first_root) return std::unexpected(RefuseUnopened(policy, policy.roots.front(), errno));
  UniqueFd fd =
      OpenWithoutMagicLinks(first_root.get(), requested.empty() ? "." : requested.c_str());
  if (!fd) return std::unexpected(RefuseUnopened(policy, requested, errno));

  struct stat status{};
  if (fstat(fd.get(), &status) != 0)
    return std::unexpected(RefuseUnopened(policy, requested, errno));
  std::optional<std::string> path = PathOf(fd.get(), status);
  if (!path) return std::unexpected(RefuseUnopened(policy, requested, ENOENT));
  const std::string* root = RootOf(policy, *path);
  if (auto refusal = CheckOpened(policy, *path, root, status)) return std::unexpected(*refusal);
  return WorkingDirectoryMaker::Make(std::move(*path), *root, std::move(fd));
}

}  // namespace pa::policy
