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
  // Landlock's right to truncate and no more: only together with a seccomp profile that refuses to
  // (SeccompProfile::kSearch).
  kTruncate = 16,
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
  kNone = 0,      // no inet sockets at all
  kFull = 1,      // TCP and UDP over IPv4 and IPv6
  kLoopback = 2,  // the same, in a network namespace where nobody else is
};

enum class SeccompProfile : std::uint8_t {
  kBuild = 0,        // compilers, make, git, test suites: everything minus the deny set
  kInspect = 1,      // of what only reads: kBuild minus the changes that Landlock does not cover
  kFiles = 2,        // of a worker that reads files itself: a few calls, and death for any other
  kFileChanges = 3,  // of one that changes them itself: a few more
  kSearch = 4,       // of ripgrep: kInspect minus truncation, which its grants leave to seccomp
};

// Whose file system a command sees. In a view of its own there is no socket that nobody granted, so
// Unix sockets may be made where Landlock cannot tell one from another.
enum class Sight : std::uint8_t { kHost = 0, kOwnView = 1 };

// User, mount, pid, ipc, uts and network namespaces (but for Network::kFull), on top of all else.
enum class Namespaces : std::uint8_t {
  kOff = 0,
  kAuto = 1,     // where the kernel and what is around us grant them
  kRequire = 2,  // nothing runs without
};

// What stands at a place of the view that a command has in namespaces (sandbox/view.h).
enum class MountKind : std::uint8_t {
  kDirectory = 1,  // a mount point for later, or an empty directory
  kSymlink = 2,
  kTmpfs = 3,  // an empty file system, for mount points; read-only in the end
  kReadOnly = 4,
  kWritable = 5,
  kDevice = 6,  // a device file that can be opened
};

// Ceilings for one request. 0 means no limit of this kind.
struct ResourceLimits {
  std::uint64_t cpu_seconds = 0;   // per process, sampled by the guardian; RLIMIT_CPU as backstop
  std::uint64_t memory_bytes = 0;  // resident memory of the whole tree, sampled by the guardian
  std::uint64_t processes = 0;     // processes of the whole tree, sampled; RLIMIT_NPROC as backstop
  std::uint64_t open_files = 0;    // RLIMIT_NOFILE, per process
  std::uint64_t file_bytes = 0;    // RLIMIT_FSIZE, per file
  std::uint64_t wall_time_ms = 0;  // the guardian's clock
  std::uint64_t grace_ms = 2000;   // between the polite signal and SIGKILL
  std::uint64_t cpus = 0;          // processors of the whole tree, by its cgroup alone
  bool operator==(const ResourceLimits&) const = default;
};

}  // namespace pa::sandbox
