// Enforcement: what this kernel really enforces of a Confinement, by protection.
//
//    KernelFeatures kernel = DetectKernel();   // system calls only, no side effects, < 50 us
//    Enforcement report = Assess(confinement, limits, kernel);
//    if (!report.Complete()) ...              // SANDBOX_UNAVAILABLE when the policy requires it
//
// "Enforced" is a claim about the kernel. worker/probe.h checks the claim by attempts that must
// fail.
#pragma once

#include <string>
#include <vector>

#include "sandbox/confinement.h"

namespace pa::sandbox {

struct KernelFeatures {
  int landlock_abi = 0;    // 0: no Landlock (absent, disabled at boot, or refused)
  int landlock_errno = 0;  // why there is none: ENOSYS, EOPNOTSUPP
  bool seccomp_filter = false;
  bool root = false;    // effective uid 0, which RLIMIT_NPROC does not bind
  std::string release;  // uname -r
  // Whether the worker gets namespaces. Only a process that has started one can tell: the
  // system around it (AppArmor, a container) may grant them to one executable and not to another.
  enum class Granted { kUnknown, kYes, kNo };
  Granted namespaces = Granted::kUnknown;
  std::string no_namespaces;  // the reason, if kNo: `unshare "user namespace": EPERM`
  // Whether a part of the cgroup v2 tree is delegated to the process that starts workers.
  Granted cgroup = Granted::kUnknown;
  std::string no_cgroup;    // the reason, if kNo
  bool cgroup_cpu = false;  // with the controller cpu
  // Whether a command can change a copy of a directory (MountKind::kOverlay).
  Granted overlay = Granted::kUnknown;
  std::string no_overlay;  // the reason, if kNo
};
KernelFeatures DetectKernel();  // everything except the namespaces and the cgroup

enum class Level { kEnforced, kPartly, kNot };
const char* LevelName(Level level);        // "enforced", "partly", "not"
const char* NetworkName(Network network);  // as the policy writes it

struct Protection {
  std::string name;  // stable, snake_case: "file_read", "file_write", "file_metadata", ...
  Level level;
  std::string by;  // "landlock ABI 7", "seccomp", "rlimit", "guardian"; empty when kNot
  // What is missing and what would provide it; empty if kEnforced, unless the protection ends when
  // a process is killed.
  std::string why;
  // The confinement asks for it, and commands do not run where it is missing
  // (Enforcement::Complete).
  bool promised = false;
};

struct Enforcement {
  KernelFeatures kernel;
  std::vector<Protection> protections;  // in a fixed order; every name is always present

  // No promised protection is missing, so commands may run. A protection that older kernels give
  // only in part counts as present (`signals` and `process_tree` before Linux 6.12). A protection
  // that only namespaces can give does not count, unless the policy requires them.
  bool Complete() const;
  // Complete, and every promised protection is enforced in full: the exit status 0 of doctor.
  bool Full() const;
  const Protection* Find(const std::string& name) const;
};

Enforcement Assess(const Confinement& confinement, const ResourceLimits& limits,
                   const KernelFeatures& kernel);

}  // namespace pa::sandbox
