// The plain values of a Confinement that worker and supervisor share: rights, network, limits.
//
// Freestanding (docs/adr/0002): confinement.h adds what needs std::string.
#pragma once

#include <cstdint>

namespace pa::sandbox {

// Rights on a path and, for a directory, on everything beneath it.
enum class Access : std::uint8_t {
  kNone = 0,
  kRead = 1,     // read files, list directories
  kExecute = 2,  // execve, which needs kRead as well
  kWrite = 4,    // write, truncate, create, remove, rename and link, also across directories
  kDevice = 8,   // ioctl on device files
  // Landlock's right to truncate and nothing else. Only together with a seccomp profile that
  // refuses to truncate (SeccompProfile::kSearch).
  kTruncate = 16,
  kList = 32,    // the names in directories, and not what is in files; kRead has it, too
  kRemove = 64,  // empty directories; kWrite has it, too
};
constexpr Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool Has(Access set, Access bit) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(bit)) != 0;
}
inline constexpr Access kReadExecute = Access::kRead | Access::kExecute;
inline constexpr Access kReadWrite = Access::kRead | Access::kWrite;
inline constexpr Access kReadWriteExecute = kReadExecute | Access::kWrite;

enum class Network : std::uint8_t {
  kNone = 0,  // no inet sockets at all
  kFull = 1,  // TCP and UDP over IPv4 and IPv6
  // As kFull, in a network namespace where nobody else is.
  kLoopback = 2,
};

enum class SeccompProfile : std::uint8_t {
  kBuild = 0,    // compilers, make, git, test suites: everything minus the deny set
  kInspect = 1,  // commands that only read: kBuild minus the changes that Landlock does not cover
  kFiles = 2,    // workers that read files themselves: a few calls; any other kills the worker
  kFileChanges = 3,  // workers that change files themselves: a few calls more
  kSearch = 4,       // ripgrep: kInspect minus truncation, which its grants leave to seccomp
  kFrontDoor = 5,    // project-actionsd itself: a few calls; there is no other (ENOSYS)
  kJanitor = 6,      // the janitor's jobs: those of files; there is no other (ENOSYS)
  // The server itself: its loop, files and sockets; there is no other. Nothing is executed, no
  // process made, no mode or owner changed by name. Network::kFull: it listens for jobs.
  kServer = 7,
};

// Whose file system a command sees. A view of its own has no socket that nobody granted, so
// commands there may make Unix sockets even where Landlock cannot tell one from another.
enum class Sight : std::uint8_t { kHost = 0, kOwnView = 1 };

// User, mount, pid, ipc and uts namespaces and, except with Network::kFull, a network namespace, in
// addition to everything else.
enum class Namespaces : std::uint8_t {
  kOff = 0,
  kAuto = 1,     // if the kernel and the system around us grant them
  kRequire = 2,  // nothing runs without them
};

// The kind of an entry in the view that a command with namespaces sees (sandbox/view.h).
enum class MountKind : std::uint8_t {
  kDirectory = 1,  // an empty directory, or a mount point for later
  kSymlink = 2,
  kTmpfs = 3,  // an empty file system for mount points; read-only once the view is sealed
  kReadOnly = 4,
  kWritable = 5,
  kDevice = 6,  // a device file that can be opened
  // A directory of which this command changes a copy of its own (overlayfs): the directory itself
  // stays as it is, and the changes lie elsewhere.
  kOverlay = 7,
};

// Limits of one request. 0 = no limit of this kind.
struct ResourceLimits {
  std::uint64_t cpu_seconds = 0;   // per process, sampled by the guardian; RLIMIT_CPU as backstop
  std::uint64_t memory_bytes = 0;  // resident memory of the whole tree, sampled by the guardian
  std::uint64_t processes = 0;     // processes of the whole tree, sampled; RLIMIT_NPROC as backstop
  std::uint64_t open_files = 0;    // RLIMIT_NOFILE, per process
  std::uint64_t file_bytes = 0;    // RLIMIT_FSIZE, per file
  std::uint64_t wall_time_ms = 0;  // by the clock of the guardian
  std::uint64_t grace_ms = 2000;   // between SIGTERM and SIGKILL
  std::uint64_t cpus = 0;          // processors of the whole tree, enforced by its cgroup alone
  bool operator==(const ResourceLimits&) const = default;
};

}  // namespace pa::sandbox
