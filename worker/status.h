// WorkerStatus: what a worker tells the supervisor over its control socket, one packet a message.
//
// A worker sends one packet: kSetupFailed if the command did not run, else kEnded, when nothing of
// the tree is alive any more. The supervisor sends kCancel (one byte) to end the tree politely;
// closing the socket kills it at once. Plain values; freestanding.
#pragma once

#include <cstdint>

namespace pa::worker {

inline constexpr std::uint32_t kStatusMagic = 0x70610006;  // 'pa', version 6

enum class StatusKind : std::uint32_t { kSetupFailed = 1, kEnded = 2 };

// The steps of launcher and worker; a failure names one. Their order stands in worker/launcher.cc,
// worker.cc and child.cc.
enum class Step : std::uint32_t {
  kNone = 0,
  kCloseDescriptors,
  kReadSpec,
  kDecodeSpec,
  kSession,     // process group or session, signals to default
  kUndumpable,  // nobody traces guardian or launcher
  kSubreaper,
  kCapabilities,  // as root: drop all but those of file ownership
  kNoNewPrivs,
  kGuardianScope,  // outer Landlock domain: the guardian's kill(-1) reaches its own tree only
  kSpawn,          // clone of the child
  kWorkingDirectory,
  kNamespaces,  // of the launcher and of a worker before its order: whether there are any
  kMounts,      // the view of this order
  kLimits,      // rlimits
  kLandlock,
  kSeccomp,
  kExecute,
  kProbe,
  kReadFile,
  kWriteFile,
  kRemoveTemp,
  kDeleteFile,
  kSyncFile,  // of the two before: it is done, and what is left is that it outlives a crash of the
              // machine
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

// One packet. Fields that do not belong to the kind are 0.
struct WorkerStatus {
  std::uint32_t magic = kStatusMagic;
  StatusKind kind = StatusKind::kEnded;
  // kSetupFailed
  Step step = Step::kNone;
  std::int32_t sys_errno = 0;
  char subject[256] = {};  // `landlock_add_rule "/srv/x"`; NUL-terminated, cut to fit
  // kEnded
  EndReason reason = EndReason::kExited;
  std::int32_t exit_code = -1;   // of the command itself, when it exited
  std::int32_t term_signal = 0;  // when it was killed
  Limit limit = Limit::kNone;
  std::uint64_t wall_us = 0;
  std::uint64_t user_us = 0;  // of the whole tree, as far as it was waited for
  std::uint64_t system_us = 0;
  std::uint64_t max_rss_kib = 0;    // largest single process
  std::uint32_t strays_killed = 0;  // processes that outlived the command and were ended
  std::uint32_t tmp_clean = 0;      // 1: tmp_dir is empty again and may serve another request
  std::uint32_t probe_denied = 0;   // kProbe: bit n set = attempt n was denied
  std::uint32_t probe_tried = 0;    // kProbe: bit n set = attempt n was made
  std::uint32_t survivors = 0;      // 1: something in uninterruptible sleep could not be ended
};

inline constexpr char kCancel = 'C';

}  // namespace pa::worker
