// Enforcement: what this kernel really enforces of a Confinement, protection by protection.
//
//   KernelFeatures kernel = ProbeKernel();   // system calls only, no side effects, < 50 us
//   Enforcement report = Assess(confinement, limits, kernel);
//   if (!report.Complete()) ...              // SANDBOX_UNAVAILABLE when the policy requires it
//
// "enforced" is a claim about the kernel; worker/probe.h checks the claim by trying what must fail.
#pragma once

#include <string>
#include <vector>

#include "sandbox/confinement.h"

namespace pa::sandbox {

struct KernelFeatures {
  int landlock_abi = 0;    // 0: no Landlock (absent, disabled at boot, or refused)
  int landlock_errno = 0;  // why, when 0: ENOSYS, EOPNOTSUPP
  bool seccomp_filter = false;
  bool root = false;    // effective uid 0, which RLIMIT_NPROC does not bind
  std::string release;  // uname -r
  // Whether the worker gets namespaces. Only who started one can tell: what is around a process may
  // grant them to one executable and not to another.
  enum class Granted { kUnknown, kYes, kNo };
  Granted namespaces = Granted::kUnknown;
  std::string no_namespaces;           // why, when kNo: `unshare "user namespace": EPERM`
  Granted cgroup = Granted::kUnknown;  // a part of the cgroup v2 tree, to whoever starts workers
  std::string no_cgroup;               // why, when kNo
  bool cgroup_cpu = false;             // with the controller cpu
};
KernelFeatures ProbeKernel();  // all but the namespaces and the cgroup

enum class Level { kEnforced, kPartly, kNot };
const char* LevelName(Level level);        // "enforced", "partly", "not"
const char* NetworkName(Network network);  // as the policy writes it

struct Protection {
  std::string name;  // stable, snake_case: "file_read", "file_write", "file_metadata", ...
  Level level;
  std::string by;   // "landlock ABI 7", "seccomp", "rlimit", "guardian"; empty when kNot
  std::string why;  // what is missing and what would give it; empty when kEnforced whoever dies
  bool promised =
      false;  // every kernel that we run on gives it in full, and the confinement asks for it
};

struct Enforcement {
  KernelFeatures kernel;
  std::vector<Protection> protections;  // in a fixed order; every name always present

  // No promised protection is missing: commands may run. One that older kernels give in part counts
  // as there (`signals` and `process_tree` before Linux 6.12); what only namespaces can give does
  // not count, unless the policy requires them.
  bool Complete() const;
  // Complete, and every promised protection is enforced in full: doctor's exit status 0.
  bool Full() const;
  const Protection* Find(const std::string& name) const;
};

Enforcement Assess(const Confinement& confinement, const ResourceLimits& limits,
                   const KernelFeatures& kernel);

}  // namespace pa::sandbox
