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
};
KernelFeatures ProbeKernel();

enum class Level { kEnforced, kPartly, kNot };
const char* LevelName(Level level);  // "enforced", "partly", "not"

struct Protection {
  std::string name;  // stable, snake_case: "file_read", "file_write", "file_metadata", ...
  Level level;
  std::string by;         // "landlock ABI 7", "seccomp", "rlimit", "guardian"; empty when kNot
  std::string why;        // what is missing and what would give it; empty when kEnforced
  bool promised = false;  // tier 0 promises it in full and the confinement asks for it
};

struct Enforcement {
  KernelFeatures kernel;
  std::vector<Protection> protections;  // in a fixed order; every name always present

  // No promised protection is missing: commands may run. One that older kernels give in part counts
  // as there (`signals` and `process_tree` before Linux 6.12); what only tier 1 can give does not
  // count.
  bool Complete() const;
  // Complete, and every promised protection is enforced in full: doctor's exit status 0.
  bool Full() const;
  const Protection* Find(const std::string& name) const;
};

Enforcement Assess(const Confinement& confinement, const ResourceLimits& limits,
                   const KernelFeatures& kernel);

}  // namespace pa::sandbox
