// What supervisor and worker have to agree on besides the spec itself: actions, descriptors, sizes.
// Plain values; freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pa::worker {

// A launcher's descriptors at its start (worker/launch_socket.h). The others only with
// `--launch-within`: a memfd with a CeilingSpec and, unless there are views, the Landlock ruleset
// that is the ceiling of all paths.
inline constexpr int kLauncherFd = 3;
inline constexpr int kCeilingFd = 4;
inline constexpr int kCeilingRulesetFd = 5;
inline constexpr std::uint32_t kLaunchMagic = 0x70614c04;  // 'paL', version 4

// To a launcher, with a control socket: fork a worker; with a second descriptor, into that cgroup.
// To that worker: begin.
struct LaunchOrder {
  std::uint32_t magic = kLaunchMagic;
};
struct LaunchReply {
  std::uint32_t magic = kLaunchMagic;
  // The pid of the worker, or -errno if there is none.
  std::int32_t pid = 0;
};

// The descriptors of a worker that begins. 0, 1 and 2 are the command's. Everything from
// kFirstStray on is closed before anything else happens.
inline constexpr int kSpecFd = 3;  // sealed memfd with the spec
// The worker sets the offset of the spec's open file, which supervisor and worker share, to this
// value before it carries out any of the order. This wakes nobody, and outlives a worker that is
// killed.
inline constexpr int kBegunOffset = 1;
// SOCK_SEQPACKET: status out, cancel in. A hang-up means that the supervisor is dead.
inline constexpr int kControlFd = 4;
inline constexpr int kCwdFd = 5;      // O_PATH of the validated working directory
inline constexpr int kRulesetFd = 6;  // Landlock ruleset, when spec.has_ruleset_fd
// Only in a worker with namespaces, from its launcher: the old root, and a proc and a devpts that
// are not mounted. The last one may lack.
inline constexpr int kOldRootFd = 7;
inline constexpr int kProcFd = 8;
inline constexpr int kPtsFd = 9;
inline constexpr int kFirstStray = 10;

enum class Action : std::uint8_t {
  kExecute = 1,     // become the guardian of `executable argv`
  kProbe = 2,       // try what the confinement must deny; report which attempts were denied
  kReadFile = 3,    // write `file` of the working directory to stdout (worker/file_header.h)
  kWriteFile = 4,   // make or replace `file` beneath the working directory (worker/write_file.h)
  kRemoveTemp = 5,  // remove what a killed kWriteFile of `file` left behind
  kDeleteFile = 6,  // move `file`, beneath the working directory, elsewhere (worker/delete_file.h)
};

// The actions that the worker carries out in its own process. It executes nothing and starts
// nobody, so there is no tree to guard; and its seccomp program (SeccompProfile::kFiles,
// kFileChanges) could not be that of a command.
constexpr bool IsAlone(Action action) { return action >= Action::kReadFile; }

// WorkerSpec::umask: the command keeps our umask, which is the user's.
inline constexpr std::uint64_t kUmaskOfUser = ~0ull;

inline constexpr std::size_t kMaxSpecBytes = 8u << 20;
inline constexpr std::size_t kMaxCeilingBytes = 4u << 20;
inline constexpr std::size_t kMaxLaunchBytes = 128u << 10;  // one packet

// The exit statuses of the worker itself: with `--spec`, or if it could not even report.
inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitSetupFailed = 125;

}  // namespace pa::worker
