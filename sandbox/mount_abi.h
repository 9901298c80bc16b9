// The kernel's mount interface by descriptor, for C libraries without it: glibc 2.36 and musl have
// some of the constants and none of the calls, and <linux/mount.h> cannot be included beside
// <sys/mount.h>. Values from include/uapi/linux/{mount,fcntl,openat2}.h of Linux 6.1. Every kernel
// that can confine anything has these calls, because they are older than Landlock: open_tree,
// move_mount, fsopen, fsconfig, fsmount 5.2, openat2 5.6, mount_setattr 5.12. Freestanding.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace pa::sandbox::mount_abi {

inline constexpr unsigned kAtEmptyPath = 0x1000;
inline constexpr unsigned kAtRecursive = 0x8000;

// mount_setattr(2), fsmount(2)
inline constexpr std::uint64_t kReadOnly = 0x1;
inline constexpr std::uint64_t kNoSuid = 0x2;
inline constexpr std::uint64_t kNoDev = 0x4;
inline constexpr std::uint64_t kNoExec = 0x8;
inline constexpr std::uint64_t kSlave = 1u << 19;  // MS_SLAVE, as `propagation`

struct MountAttr {
  std::uint64_t attr_set = 0;
  std::uint64_t attr_clr = 0;
  std::uint64_t propagation = 0;
  std::uint64_t userns_fd = 0;
};

// openat2(2)
inline constexpr std::uint64_t kResolveNoMagicLinks = 0x02;
inline constexpr std::uint64_t kResolveNoSymlinks = 0x04;
inline constexpr std::uint64_t kResolveInRoot = 0x10;

struct OpenHow {
  std::uint64_t flags = 0;
  std::uint64_t mode = 0;
  std::uint64_t resolve = 0;
};

inline long OpenAt2(int directory, const char* path, const OpenHow& how) {
  return syscall(SYS_openat2, directory, path, &how, sizeof(how));
}
// A detached copy of the mount tree at `fd`.
inline long CloneTree(int fd) {
  constexpr unsigned kClone = 1;
  constexpr unsigned kCloseOnExec = 02000000;
  return syscall(SYS_open_tree, fd, "", kClone | kCloseOnExec | kAtEmptyPath | kAtRecursive);
}
inline long SetAttributes(int fd, const char* path, unsigned flags, const MountAttr& attr) {
  return syscall(SYS_mount_setattr, fd, path, flags, &attr, sizeof(attr));
}
// `to`: "" for `to_directory` itself.
inline long MoveMount(int from, int to_directory, const char* to) {
  constexpr unsigned kEmptyPaths = 0x4 | 0x40;  // MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH
  return syscall(SYS_move_mount, from, "", to_directory, to, kEmptyPaths);
}
inline long FsOpen(const char* type) { return syscall(SYS_fsopen, type, 1u /* CLOEXEC */); }
inline long FsSetString(int fs, const char* key, const char* value) {
  return syscall(SYS_fsconfig, fs, 1u /* SET_STRING */, key, value, 0);
}
inline long FsSetFlag(int fs, const char* key) {
  return syscall(SYS_fsconfig, fs, 0u /* SET_FLAG */, key, 0, 0);
}
inline long FsCreate(int fs) { return syscall(SYS_fsconfig, fs, 6u /* CREATE */, 0, 0, 0); }
inline long FsMount(int fs, std::uint64_t attributes) {
  return syscall(SYS_fsmount, fs, 1u /* CLOEXEC */, static_cast<unsigned>(attributes));
}
inline long PivotRoot(const char* to, const char* put_old) {
  return syscall(SYS_pivot_root, to, put_old);
}
inline long Detach(const char* path) { return syscall(SYS_umount2, path, 2u /* MNT_DETACH */); }

}  // namespace pa::sandbox::mount_abi
