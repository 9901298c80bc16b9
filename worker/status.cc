#include "worker/status.h"

namespace pa::worker {

const char* StepName(Step step) {
  switch (step) {
    case Step::kNone:
      return "none";
    case Step::kCloseDescriptors:
      return "close descriptors";
    case Step::kReadSpec:
      return "read spec";
    case Step::kDecodeSpec:
      return "decode spec";
    case Step::kCeiling:
      return "ceiling";
    case Step::kSession:
      return "session";
    case Step::kUndumpable:
      return "undumpable";
    case Step::kSubreaper:
      return "subreaper";
    case Step::kCapabilities:
      return "capabilities";
    case Step::kNoNewPrivs:
      return "no_new_privs";
    case Step::kGuardianScope:
      return "guardian scope";
    case Step::kSpawn:
      return "spawn";
    case Step::kWorkingDirectory:
      return "working directory";
    case Step::kNamespaces:
      return "namespaces";
    case Step::kMounts:
      return "mounts";
    case Step::kOverlay:
      return "overlay";
    case Step::kLimits:
      return "limits";
    case Step::kLandlock:
      return "landlock";
    case Step::kSeccomp:
      return "seccomp";
    case Step::kCheckFile:
      return "check file";
    case Step::kExecute:
      return "execute";
    case Step::kProbe:
      return "probe";
    case Step::kReadFile:
      return "read file";
    case Step::kWriteFile:
      return "write file";
    case Step::kRemoveTemp:
      return "remove temporary file";
    case Step::kDeleteFile:
      return "delete file";
    case Step::kSyncFile:
      return "sync file";
  }
  return "unknown";
}

const char* LimitName(Limit limit) {
  switch (limit) {
    case Limit::kNone:
      return "none";
    case Limit::kMemory:
      return "memory";
    case Limit::kProcesses:
      return "processes";
    case Limit::kCpuTime:
      return "cpu_time";
    case Limit::kFileSize:
      return "file_size";
  }
  return "unknown";
}

}  // namespace pa::worker
