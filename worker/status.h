// WorkerStatus: what a worker reports to the supervisor on its control socket, one packet per
// message.
//
// A worker sends one packet at its end: kSetupFailed if the command did not run, otherwise kEnded,
// when no process of the tree is alive any more. To end the tree politely the supervisor sends
// kCancel. If it closes the socket, the tree is killed at once. The guardian of a command with
// namespaces answers each AskOrder with a packet kGiven and a descriptor, in the order in which
// they came. Plain values; freestanding.
#pragma once

#include <cstdint>

namespace pa::worker {

inline constexpr std::uint32_t kStatusMagic = 0x70610009;  // 'pa', version 9

enum class StatusKind : std::uint32_t { kSetupFailed = 1, kEnded = 2, kGiven = 3 };

// The steps of launcher and worker; a failure names one. worker/harden.cc, launcher.cc, worker.cc
// and child.cc define their order.
enum class Step : std::uint32_t {
  kNone = 0,
  kCloseDescriptors,
  kReadSpec,
  kDecodeSpec,
  kCeiling,     // the order asks for more than the policy gives to anybody (worker/ceiling.h)
  kSession,     // process group or session; signals to their defaults
  kUndumpable,  // nobody can trace guardian or launcher
  kSubreaper,
  kCapabilities,  // as root: drop all but those of file ownership
  kNoNewPrivs,
  // The outer Landlock domain: the guardian's kill(-1) reaches only its own tree.
  kGuardianScope,
  kSpawn,  // clone of the child
  kWorkingDirectory,
  // The namespaces of the launcher, and of a worker before its order: whether they are granted.
  kNamespaces,
  kMounts,   // the view of this order
  kOverlay,  // the same, of a directory that the command changes in a copy
  kLimits,   // rlimits
  kLandlock,
  kSeccomp,
  kCheckFile,  // the file that a command was planned by is another one; nothing ran
  kExecute,
  kProbe,
  kReadFile,
  kWriteFile,
  kRemoveTemp,
  kDeleteFile,
  // After kWriteFile or kDeleteFile succeeded: the result does not yet survive a crash of the
  // machine.
  kSyncFile,
};
// "close_range", "decode spec", "landlock", ... for messages.
const char* StepName(Step step);

enum class EndReason : std::uint32_t {
  kExited = 1,
  kSignaled = 2,
  kTimedOut = 3,
  kCancelled = 4,
  kLimitExceeded = 5,
};

enum class Limit : std::uint32_t {
  kNone = 0,
  kMemory = 1,
  kProcesses = 2,
  kCpuTime = 3,
  kFileSize = 4,
};
// "memory", "processes", "cpu_time", "file_size": the policy's keys.
const char* LimitName(Limit limit);

// One packet. Fields that do not belong to `kind` are 0.
struct WorkerStatus {
  std::uint32_t magic = kStatusMagic;
  StatusKind kind = StatusKind::kEnded;
  // kSetupFailed
  Step step = Step::kNone;
  std::int32_t sys_errno = 0;  // of kGiven, too: why no descriptor came
  char subject[256] = {};      // `landlock_add_rule "/srv/x"`; ends with a NUL, cut to fit
  // kEnded
  EndReason reason = EndReason::kExited;
  std::int32_t exit_code = -1;   // of the command itself, if it exited
  std::int32_t term_signal = 0;  // if the command was killed
  Limit limit = Limit::kNone;
  std::uint64_t wall_us = 0;
  std::uint64_t user_us = 0;  // of the whole tree, as far as it was reaped
  std::uint64_t system_us = 0;
  std::uint64_t max_rss_kib = 0;    // of the largest process
  std::uint32_t strays_killed = 0;  // processes that outlived the command and were terminated
  std::uint32_t tmp_clean = 0;      // 1: tmp_dir and shm_dir are empty again and can be reused
  std::uint32_t probe_denied = 0;   // kProbe: bit n set = attempt n was denied
  std::uint32_t probe_tried = 0;    // kProbe: bit n set = attempt n was made
  std::uint32_t survivors = 0;      // 1: a process in uninterruptible sleep could not be killed
};

// One packet from the supervisor.
enum class Ask : char {
  kCancel = 'C',   // no answer
  kNetwork = 'N',  // a descriptor of the command's network namespace
  kSocket = 'S',   // a socket in it, connected to `port` of 127.0.0.1 or ::1, or about to be
};
struct AskOrder {
  Ask ask = Ask::kCancel;
  std::uint16_t port = 0;
};

}  // namespace pa::worker
