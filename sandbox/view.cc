#include "sandbox/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/directory_reader.h"
#include "base/try.h"
#include "sandbox/mount_abi.h"
#include "sandbox/unreachable.h"

namespace pa::sandbox {
namespace {

using namespace mount_abi;  // NOLINT(google-build-using-namespace): the kernel's interface

// The old root's own directory for a proc, while the old root is mounted at /proc.
constexpr char kProcOutside[] = "/proc/proc";

constexpr char kMaxTerminals[] = "64";  // of one command; each holds memory of the kernel's

// Nothing but mount points and symlinks lies in one; what a command stores goes elsewhere.
constexpr char kTmpfsBytes[] = "4m";

SysResult<UniqueFd> Opened(long fd, const char* op, std::string_view subject) {
  if (fd < 0) return std::unexpected(SysError{op, subject, errno});
  return UniqueFd(static_cast<int>(fd));
}

struct FsOption {
  const char* key;
  const char* value = nullptr;  // a flag has none
};

// A new file system that is mounted nowhere.
SysResult<UniqueFd> NewFileSystem(const char* type, std::initializer_list<FsOption> options,
                                  std::uint64_t attributes) {
  PA_TRY(const UniqueFd fs, Opened(FsOpen(type), "fsopen", type));
  for (const FsOption& option : options) {
    const long set = option.value == nullptr ? FsSetFlag(fs.get(), option.key)
                                             : FsSetString(fs.get(), option.key, option.value);
    if (set < 0) return std::unexpected(SysError{"fsconfig", type, errno});
  }
  if (FsCreate(fs.get()) < 0) return std::unexpected(SysError{"fsconfig", type, errno});
  return Opened(FsMount(fs.get(), attributes), "fsmount", type);
}

SysResult<UniqueFd> NewTmpfs() {
  return NewFileSystem("tmpfs", {{"size", kTmpfsBytes}, {"mode", "0755"}}, kNoSuid | kNoDev);
}

// What exists already, in a tree that was placed before or by another worker of the same launcher,
// is as good. A tree that is read-only has the name or has it not.
bool IsThere(int result) { return result == 0 || errno == EEXIST || errno == EROFS; }

// No symlink is followed on the way to a mount point: other commands of the project can write in
// trees that are mounted already, and the old root can be named.
SysResult<UniqueFd> OpenPlace(int directory, const char* name, std::string_view path) {
  const OpenHow how{O_PATH | O_CLOEXEC, 0, kResolveNoSymlinks};
  return Opened(OpenAt2(directory, name, how), "openat2", path);
}

// "" is the root, too.
SysResult<UniqueFd> MakeDirectories(std::string_view path) {
  char name[PATH_MAX];
  if (path.size() >= sizeof(name)) return std::unexpected(SysError{"mkdir", path, ENAMETOOLONG});
  name[path.copy(name, path.size())] = '\0';
  SysResult<UniqueFd> made = OpenPlace(AT_FDCWD, name, path);
  if (made || made.error().sys_errno != ENOENT) return made;
  made = OpenPlace(AT_FDCWD, "/", path);
  for (std::size_t at = 1; made && at < path.size();) {
    const std::string_view part = path.substr(at, path.find('/', at) - at);
    name[part.copy(name, part.size())] = '\0';
    if (!IsThere(mkdirat(made->get(), name, 0755))) {
      return std::unexpected(SysError{"mkdir", path, errno});
    }
    made = OpenPlace(made->get(), name, path);
    at += part.size() + 1;
  }
  return made;
}

SysResult<UniqueFd> MakeParent(std::string_view path) {
  return MakeDirectories(path.substr(0, path.rfind('/')));
}

const char* NameIn(const char* path) { return std::strrchr(path, '/') + 1; }

SysResult<UniqueFd> MakeFile(const char* path) {
  PA_TRY(const UniqueFd parent, MakeParent(path));
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd made(openat(parent.get(), NameIn(path), kNew, 0444));
  if (!made && !IsThere(-1)) return std::unexpected(SysError{"create", path, errno});
  return OpenPlace(parent.get(), NameIn(path), path);
}

SysResult<void> MakeSymlink(const MountView& mount) {
  PA_TRY(const UniqueFd parent, MakeParent(mount.target));
  if (IsThere(symlinkat(mount.source, parent.get(), NameIn(mount.target)))) return {};
  return std::unexpected(SysError{"symlink", mount.target, errno});
}

SysResult<void> MountAt(int tree, const UniqueFd& place, std::string_view path) {
  return Attempt(MoveMount(tree, place.get(), ""), "move_mount", path);
}

SysResult<void> MountTmpfs(const char* target) {
  PA_TRY(const UniqueFd place, MakeDirectories(target));
  PA_TRY(const UniqueFd tmpfs, NewTmpfs());
  return MountAt(tmpfs.get(), place, target);
}

// Where devices are at home, what is granted can be opened; Landlock says how.
std::uint64_t AttributesOf(const MountView& mount) {
  const std::string_view path = mount.target;
  const std::uint64_t no_dev = path == "/dev" || path.starts_with("/dev/") ? 0 : kNoDev;
  switch (mount.kind) {
    case MountKind::kDevice:
      // A device can be written to all the same; its mode and its times cannot.
      return kReadOnly | kNoSuid | kNoExec;
    case MountKind::kWritable:
      return kNoSuid | no_dev;
    default:
      return kReadOnly | kNoSuid | no_dev;
  }
}

SysResult<UniqueFd> MakeMountPoint(int source, const char* target) {
  struct stat status;
  if (fstat(source, &status) != 0) return std::unexpected(SysError{"fstat", target, errno});
  return S_ISDIR(status.st_mode) ? MakeDirectories(target) : MakeFile(target);
}

SysResult<void> Bind(int old_root, const MountView& mount) {
  const SysResult<UniqueFd> source = OpenOutside(old_root, mount.source, O_PATH);
  if (!source) {
    return IsUnreachable(source.error()) ? SysResult<void>() : std::unexpected(source.error());
  }
  PA_TRY(const UniqueFd place, MakeMountPoint(source->get(), mount.target));
  PA_TRY(const UniqueFd tree, Opened(CloneTree(source->get()), "open_tree", mount.source));
  const MountAttr attr{.attr_set = AttributesOf(mount)};
  if (SetAttributes(tree.get(), "", kAtEmptyPath | kAtRecursive, attr) < 0) {
    return std::unexpected(SysError{"mount_setattr", mount.target, errno});
  }
  return MountAt(tree.get(), place, mount.target);
}

// The name of an open file, whatever characters its path has: overlayfs takes its directories by
// name alone before Linux 6.13, and colons and commas divide them.
class NameOfOpenFile {
 public:
  explicit NameOfOpenFile(int fd) {
    char* const end = text_ + sizeof(text_) - 1;
    char* const number = text_ + std::string_view(kPrefix).copy(text_, sizeof(text_));
    *std::to_chars(number, end, fd).ptr = '\0';
  }
  const char* get() const { return text_; }

 private:
  static constexpr char kPrefix[] = "/proc/proc/self/fd/";
  char text_[sizeof(kPrefix) + 10] = "";
};

SysResult<UniqueFd> OpenPart(const UniqueFd& base, const char* name, const char* path) {
  return Opened(openat(base.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), name,
                path);
}

// userxattr: overlayfs's notes are attributes that a user namespace may set, Linux 5.11. volatile:
// nothing of it is synced, because what shall last is taken over from it, Linux 5.10.
SysResult<void> MountOverlay(int old_root, const MountView& mount) {
  PA_TRY(const UniqueFd lower, OpenOutside(old_root, mount.target, O_PATH | O_DIRECTORY));
  PA_TRY(const UniqueFd base, OpenOutside(old_root, mount.source, O_PATH | O_DIRECTORY));
  PA_TRY(const UniqueFd upper, OpenPart(base, "upper", mount.source));
  PA_TRY(const UniqueFd work, OpenPart(base, "work", mount.source));
  PA_TRY(const UniqueFd overlay, NewFileSystem("overlay",
                                               {{"lowerdir", NameOfOpenFile(lower.get()).get()},
                                                {"upperdir", NameOfOpenFile(upper.get()).get()},
                                                {"workdir", NameOfOpenFile(work.get()).get()},
                                                {"userxattr"},
                                                {"volatile"}},
                                               kNoSuid | kNoDev));
  PA_TRY(const UniqueFd place, MakeDirectories(mount.target));
  return MountAt(overlay.get(), place, mount.target);
}

// Where devices cannot be opened: EACCES, as the file's mode says to anybody but root.
SysResult<UniqueFd> MakeCover(int old_root) {
  PA_TRY(const UniqueFd source, OpenOutside(old_root, "/dev/null", O_PATH));
  SysResult<UniqueFd> cover = Opened(CloneTree(source.get()), "open_tree", "/dev/null");
  const MountAttr attr{.attr_set = kReadOnly | kNoSuid | kNoDev | kNoExec};
  if (cover && SetAttributes(cover->get(), "", kAtEmptyPath, attr) < 0) {
    return std::unexpected(SysError{"mount_setattr", "a cover", errno});
  }
  return cover;
}

bool NeedsCover(int directory, const DirectoryReader::Entry& entry) {
  if (entry.type != DT_REG) return false;
  struct stat status;
  if (fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno != ENOENT;
  return IsCoveredInProc(status);
}

// The first cover is copied, because mount(2) takes a quarter of the time of open_tree and
// move_mount.
SysResult<void> CoverForRoot(int old_root) {
  PA_TRY(const UniqueFd cover, MakeCover(old_root));
  const UniqueFd proc(open(kProcOutside, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) return std::unexpected(SysError{"open", "/proc", errno});
  constexpr std::size_t kPrefix = sizeof(kProcOutside);  // with the slash
  char first[kPrefix + NAME_MAX + 1] = "";
  char path[sizeof(first)] = "";
  std::memcpy(path, kProcOutside, kPrefix - 1);
  path[kPrefix - 1] = '/';
  DirectoryReader reader(proc.get());
  while (const auto entry = reader.Next()) {
    if (entry->name[0] >= '0' && entry->name[0] <= '9') break;  // processes are the last
    if (!NeedsCover(proc.get(), *entry)) continue;
    const std::string_view name = entry->name;
    path[kPrefix + name.copy(path + kPrefix, NAME_MAX)] = '\0';
    const bool is_first = first[0] == '\0';
    if (is_first) std::memcpy(first, path, sizeof(first));
    if ((is_first ? MoveMount(cover.get(), AT_FDCWD, path)
                  : mount(first, path, nullptr, MS_BIND, nullptr)) < 0) {
      return std::unexpected(SysError{"mount", "a cover in /proc", errno});
    }
  }
  if (reader.failed()) return std::unexpected(SysError{"getdents64", "/proc", errno});
  return {};
}

SysResult<void> MountPts(int pts) {
  PA_TRY(const UniqueFd place, MakeDirectories("/dev/pts"));
  // Where /dev is the host's, its ptmx finds the devpts beside it, which is ours then.
  PA_TRY_VOID(MakeSymlink({MountKind::kSymlink, "pts/ptmx", "/dev/ptmx"}));
  return MountAt(pts, place, "/dev/pts");
}

SysResult<void> MakeReadOnly(const char* path) {
  const MountAttr attr{.attr_set = kReadOnly | kNoSuid | kNoDev};
  return Attempt(SetAttributes(AT_FDCWD, path, 0, attr), "mount_setattr", path);
}

}  // namespace

SysResult<UniqueFd> EnterEmptyView() {
  // What is mounted outside is seen here, nothing that is mounted here is seen outside.
  if (auto slave = Attempt(SetAttributes(AT_FDCWD, "/", kAtRecursive, {.propagation = kSlave}),
                           "mount_setattr", "/");
      !slave) {
    return std::unexpected(slave.error());
  }
  PA_TRY(const UniqueFd root, NewTmpfs());
  // Anywhere will do; this directory exists.
  if (MoveMount(root.get(), AT_FDCWD, "/proc") < 0) {
    return std::unexpected(SysError{"move_mount", "/proc", errno});
  }
  if (chdir("/proc") != 0 || mkdir("proc", 0555) != 0) {
    return std::unexpected(SysError{"mkdir", "/proc", errno});
  }
  // EINVAL: the root is no mount point (chroot), or the initial file system of the kernel.
  if (PivotRoot(".", "proc") < 0) return std::unexpected(SysError{"pivot_root", "/", errno});
  if (chdir("/") != 0) return std::unexpected(SysError{"chdir", "/", errno});
  return Opened(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), "open", "/proc");
}

// A directory that became a symlink since the policy was looked at would lead somewhere that nobody
// granted.
SysResult<UniqueFd> OpenOutside(int old_root, const char* path, int flags) {
  constexpr int kAttempts = 16;  // EAGAIN: something was renamed while the path was walked
  const OpenHow how{static_cast<unsigned>(flags | O_CLOEXEC), 0,
                    kResolveInRoot | kResolveNoSymlinks | kResolveNoMagicLinks};
  long fd = -1;
  for (int i = 0; i < kAttempts && fd < 0 && (i == 0 || errno == EAGAIN); ++i) {
    fd = OpenAt2(old_root, path, how);
  }
  return Opened(fd, "openat2", path);
}

SysResult<void> PlaceMount(int old_root, const MountView& mount) {
  switch (mount.kind) {
    case MountKind::kDirectory:
      PA_TRY_VOID(MakeDirectories(mount.target));
      return {};
    case MountKind::kSymlink:
      return MakeSymlink(mount);
    case MountKind::kTmpfs:
      return MountTmpfs(mount.target);
    case MountKind::kReadOnly:
    case MountKind::kWritable:
    case MountKind::kDevice:
      return Bind(old_root, mount);
    case MountKind::kOverlay:
      return MountOverlay(old_root, mount);
  }
  return std::unexpected(SysError{"mount", mount.target, EINVAL});
}

SysResult<UniqueFd> PrepareProc(int old_root) {
  constexpr std::uint64_t kAttributes = kReadOnly | kNoSuid | kNoDev | kNoExec;
  PA_TRY(UniqueFd proc, NewFileSystem("proc", {}, kAttributes));
  if (geteuid() != 0) return proc;
  // Only what is mounted can be covered. The copy has the covers; the original goes with the old
  // root.
  PA_TRY_VOID(Attempt(MoveMount(proc.get(), AT_FDCWD, kProcOutside), "move_mount", "/proc"));
  PA_TRY_VOID(CoverForRoot(old_root));
  return Opened(CloneTree(proc.get()), "open_tree", "/proc");
}

SysResult<UniqueFd> PreparePts() {
  // No gid=5: a user namespace of an ordinary user maps only the user's own group.
  SysResult<UniqueFd> pts =
      NewFileSystem("devpts", {{"ptmxmode", "0666"}, {"mode", "0620"}, {"max", kMaxTerminals}},
                    kNoSuid | kNoExec);
  if (pts) return pts;
  const int error = pts.error().sys_errno;
  const bool not_here = error == ENODEV || error == EPERM || error == EACCES;
  return not_here ? UniqueFd() : std::move(pts);
}

SysResult<void> SealView(int proc, int pts, std::span<const MountView> own) {
  PA_TRY_VOID(Attempt(Detach("/proc"), "umount2", "the old root"));
  PA_TRY_VOID(Attempt(MoveMount(proc, AT_FDCWD, "/proc"), "move_mount", "/proc"));
  if (pts >= 0) PA_TRY_VOID(MountPts(pts));
  PA_TRY_VOID(MakeReadOnly("/"));
  for (const MountView& mount : own) {
    if (mount.kind != MountKind::kTmpfs) continue;
    PA_TRY_VOID(MakeReadOnly(mount.target));
  }
  return {};
}

}  // namespace pa::sandbox
