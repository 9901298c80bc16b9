#include "sandbox/user_namespace.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/try.h"
#include "base/unique_fd.h"

namespace pa::sandbox {
namespace {

// A map of ids: at most 340 lines in at most a page (user_namespaces(7)).
class Map {
 public:
  std::string_view text() const { return {text_.data(), size_}; }

  // `first first count`
  bool Add(std::uint32_t first, std::uint32_t count) {
    return Put(first, ' ') && Put(first, ' ') && Put(count, '\n');
  }

 private:
  bool Put(std::uint32_t number, char after) {
    const std::span<char> room = std::span(text_).subspan(size_);
    const auto put = std::to_chars(room.data(), room.data() + room.size(), number);
    if (put.ec != std::errc() || put.ptr == room.data() + room.size()) return false;
    *put.ptr = after;
    size_ = static_cast<std::size_t>(put.ptr - text_.data()) + 1;
    return true;
  }

  std::array<char, 4096> text_;
  std::size_t size_ = 0;
};

SysResult<void> Write(int directory, const char* path, std::string_view text) {
  const UniqueFd file(openat(directory, path, O_WRONLY | O_CLOEXEC));
  if (!file) return std::unexpected(SysError{"open", path, errno});
  // In one piece, or it counts as several.
  return Attempt(write(file.get(), text.data(), text.size()), "write", path);
}

// The next number of a line of /proc/self/uid_map, which is columns of blanks and digits.
bool TakeNumber(std::string_view& text, std::uint32_t& number) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos) return false;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return true;
}

// Every id that there is where we are, as itself.
SysResult<Map> Identity(const char* path) {
  std::array<char, 8192> buffer;
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? read(file.get(), buffer.data(), buffer.size()) : -1;
  if (got < 0) return std::unexpected(SysError{"read", path, errno});
  std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  Map map;
  std::uint32_t inside = 0;
  while (TakeNumber(text, inside)) {
    std::uint32_t outside = 0;
    std::uint32_t count = 0;
    if (!TakeNumber(text, outside) || !TakeNumber(text, count) || !map.Add(inside, count)) {
      return std::unexpected(SysError{"parse", path, EINVAL});
    }
  }
  return map;
}

// What nobody who shares our ids may look into, but who must write to its own /proc entries in
// between: those of an undumpable process belong to root.
class Dumpable {
 public:
  Dumpable() { prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }
  ~Dumpable() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
  Dumpable(const Dumpable&) = delete;
  Dumpable& operator=(const Dumpable&) = delete;
};

// An ordinary user may map the own ids, from inside.
SysResult<void> MapOwnIds(int root, bool deny_setgroups, uid_t uid, gid_t gid) {
  if (deny_setgroups) {
    PA_TRY_VOID(Write(root, "proc/self/setgroups", "deny"));
  }
  Map uids;
  Map gids;
  uids.Add(uid, 1);
  gids.Add(gid, 1);
  PA_TRY_VOID(Write(root, "proc/self/uid_map", uids.text()));
  return Write(root, "proc/self/gid_map", gids.text());
}

SysResult<void> EnterAsUser() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (auto done = Attempt(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare", "user namespace");
      !done) {
    return done;
  }
  const UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return std::unexpected(SysError{"open", "/", errno});
  return MapOwnIds(root.get(), true, uid, gid);
}

// From outside, by whom has the capability to; the exit status says how it went.
[[noreturn]] void WriteMaps(int go, const Map& uids, const Map& gids) {
  char byte = 0;
  if (read(go, &byte, 1) != 1) _exit(0);  // there is nothing to map
  std::array<char, 40> path = {'/', 'p', 'r', 'o', 'c', '/'};
  char* const name = std::to_chars(path.data() + 6, path.data() + 20, getppid()).ptr;
  for (const auto& [file, map] : {std::pair<std::string_view, const Map*>{"/uid_map", &uids},
                                  std::pair<std::string_view, const Map*>{"/gid_map", &gids}}) {
    name[file.copy(name, file.size())] = '\0';
    if (!Write(AT_FDCWD, path.data(), map->text())) _exit(errno);
  }
  _exit(0);
}

SysResult<void> AwaitMaps(pid_t writer) {
  int status = 0;
  if (waitpid(writer, &status, __WALL) != writer) {
    return std::unexpected(SysError{"waitpid", "writer of the id map", errno});
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return std::unexpected(
      SysError{"write", "uid_map", WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD});
}

// The writer is forked before, because afterwards nobody here has a capability outside.
SysResult<void> EnterAsRoot() {
  PA_TRY(const Map uids, Identity("/proc/self/uid_map"));
  PA_TRY(const Map gids, Identity("/proc/self/gid_map"));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(SysError{"pipe2", {}, errno});
  UniqueFd go(ends[0]);
  UniqueFd ready(ends[1]);
  const auto writer = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (writer < 0) return std::unexpected(SysError{"clone", "writer of the id map", errno});
  if (writer == 0) {
    ready.reset();
    WriteMaps(go.get(), uids, gids);
  }
  const SysResult<void> entered =
      Attempt(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare", "user namespace");
  if (entered && write(ready.get(), "g", 1) != 1) {
    return std::unexpected(SysError{"write", "writer of the id map", errno});
  }
  ready.reset();
  const SysResult<void> mapped = AwaitMaps(writer);
  return entered ? mapped : entered;
}

}  // namespace

SysResult<void> EnterUserAndMountNamespaces() {
  const Dumpable dumpable;
  return geteuid() == 0 ? EnterAsRoot() : EnterAsUser();
}

// The user that made a user namespace has every capability in it, and so may enter it and all that
// belongs to it (user_namespaces(7), "Capabilities"). Its ids are mapped already.
SysResult<void> EnterNamespacesOf(int network) {
  const UniqueFd user(ioctl(network, NS_GET_USERNS));
  if (!user) return std::unexpected(SysError{"ioctl", "NS_GET_USERNS", errno});
  fcntl(user.get(), F_SETFD, FD_CLOEXEC);
  PA_TRY_VOID(Attempt(setns(user.get(), CLONE_NEWUSER), "setns", "user namespace"));
  PA_TRY_VOID(Attempt(unshare(CLONE_NEWNS), "unshare", "mount namespace"));
  return Attempt(setns(network, CLONE_NEWNET), "setns", "network namespace");
}

SysResult<void> EnterOwnUserNamespace(int outer_root) {
  if (geteuid() == 0) return {};
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  const Dumpable dumpable;
  PA_TRY_VOID(Attempt(unshare(CLONE_NEWUSER), "unshare", "user namespace"));
  return MapOwnIds(outer_root, false, uid, gid);
}

}  // namespace pa::sandbox
