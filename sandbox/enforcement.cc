// What a system administrator reads in `doctor`. To add a protection: one line in the group it
// belongs to, its test in enforcement_test.cc, its attempt among the escapes. Say what is, not what
// is meant.
#include "sandbox/enforcement.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sandbox/landlock.h"

namespace pa::sandbox {
namespace {

// What Assess knows, in the words of the report.
struct Facts {
  const Confinement& confinement;
  const ResourceLimits& limits;
  const KernelFeatures& kernel;
  int abi;
  bool seccomp;
  std::string landlock;     // "landlock ABI 7"
  std::string no_landlock;  // why there is none
  bool namespaces;          // the command has them
  bool own_network;
};

constexpr char kNoSeccomp[] = "this kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)";

std::string WhyNoLandlock(const KernelFeatures& kernel) {
  switch (kernel.landlock_errno) {
    case EOPNOTSUPP:
      return "Landlock is built into this kernel but switched off: add landlock to the lsm= list "
             "of the kernel command line";
    case EPERM:
      return "something around us (a container's seccomp profile) forbids Landlock";
    default:
      return "this kernel has no Landlock: Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK";
  }
}

Protection Enforced(const char* name, std::string by) {
  return {name, Level::kEnforced, std::move(by), "", true};
}
Protection Partly(const char* name, std::string by, std::string why) {
  return {name, Level::kPartly, std::move(by), std::move(why), false};
}
// Enforced, by somebody who can be killed.
Protection AsLongAs(Protection protection, std::string what) {
  protection.why = std::move(what);
  return protection;
}
Protection Not(const char* name, std::string why) {
  return {name, Level::kNot, "", std::move(why), false};
}
Protection Promised(Protection protection) {
  protection.promised = true;
  return protection;
}

// What namespaces keep from a command, whatever else does.
Protection AlsoBy(bool there, const char* what, Protection protection) {
  if (!there) return protection;
  return Enforced(protection.name.c_str(),
                  protection.by.empty() ? what : protection.by + ", " + what);
}
Protection AlsoByMounts(const Facts& facts, Protection protection) {
  return AlsoBy(facts.namespaces, "mount namespace", std::move(protection));
}
Protection AlsoByPids(const Facts& facts, Protection protection) {
  return AlsoBy(facts.namespaces, "pid namespace", std::move(protection));
}
Protection AlsoByNetwork(const Facts& facts, Protection protection) {
  return AlsoBy(facts.own_network, "network namespace", std::move(protection));
}

Protection AlsoByGroup(const Facts& facts, const char* what, Protection protection) {
  const bool there = facts.kernel.cgroup == KernelFeatures::Granted::kYes;
  return AlsoBy(there, what, std::move(protection));
}

Protection BySeccomp(const Facts& facts, const char* name) {
  return facts.seccomp ? Enforced(name, "seccomp") : Promised(Not(name, kNoSeccomp));
}
Protection ByLandlock(const Facts& facts, const char* name) {
  return facts.abi >= 1 ? Enforced(name, facts.landlock) : Promised(Not(name, facts.no_landlock));
}
// Landlock from `abi` on, until then seccomp, which refuses more than it would have to.
Protection ByEither(const Facts& facts, const char* name, int abi) {
  if (facts.abi < abi) return BySeccomp(facts, name);
  return Enforced(name, facts.seccomp ? facts.landlock + ", seccomp" : facts.landlock);
}

using Report = std::vector<Protection>;

void AddFiles(const Facts& facts, Report& report) {
  report.push_back(ByLandlock(facts, "file_read"));
  report.push_back(ByLandlock(facts, "file_write"));
  const bool search = facts.confinement.seccomp == SeccompProfile::kSearch;
  report.push_back(facts.abi >= 3 && !search ? Enforced("truncate", facts.landlock)
                   : facts.abi >= 1          ? BySeccomp(facts, "truncate")
                                             : Promised(Not("truncate", facts.no_landlock)));
  report.push_back(AlsoByMounts(
      facts, Not("file_metadata",
                 "no Landlock ABI covers chmod, chown, utimes and inotify, "
                 "and names, sizes and times of files can be seen: on every path, "
                 "as far as the user's own permissions go. "
                 "Refused all the same: set-id bits, file flags, extended attributes by path. "
                 "Mount namespaces would hide what is outside")));
  constexpr const char* kBefore610 =
      "Landlock restricts ioctl on devices from Linux 6.10 on; "
      "the policy decides which devices can be opened at all";
  if (facts.abi >= 5) {
    report.push_back(Enforced("device_ioctl", facts.landlock));
  } else if (facts.namespaces) {
    report.push_back(Partly("device_ioctl", "mount namespace",
                            std::string("a command has terminals of its own, and reaches none of "
                                        "the host's. For other devices: ") +
                                kBefore610));
  } else {
    report.push_back(Not("device_ioctl", kBefore610));
  }
  // Landlock before ABI 2 lets nobody move a file to another directory (docs/adr/0060).
  const std::string restored_by =
      facts.abi == 1 ? ". On this kernel a process that undoes changes is confined by seccomp and "
                       "limits alone"
                     : "";
  constexpr const char* kMounted =
      "during the call existing files (.git/hooks, .git/config and the like) "
      "cannot be changed, unless a program outside replaces them by rename; "
      "after the call new files, and changes in such a replacement, "
      "are undone and reported; they stay if this server is killed first. "
      "SECURITY.md lists the paths that are not checked";
  constexpr const char* kVerified =
      "during the call a command can change .git/hooks, .git/config and the like, "
      "and git outside executes them; after the call changes are undone and reported; "
      "they stay if this server is killed first. "
      "SECURITY.md lists the paths that are not checked. "
      "Landlock cannot except a path from a writable tree; read-only mounts could";
  report.push_back(Partly("protected_paths",
                          facts.namespaces ? "mount namespace, verification after the run"
                                           : "verification after the run",
                          (facts.namespaces ? kMounted : kVerified) + restored_by));
  report.push_back(Not("disk_space",
                       "file_size bounds one file, not their number; "
                       "commands can fill the disk of the project. File system quotas bound it"));
}

void AddNetwork(const Facts& facts, Report& report) {
  if (facts.confinement.network == Network::kFull) {
    const char* granted = "the policy grants it (network: full)";
    report.push_back(Not("network_tcp", granted));
    report.push_back(Not("network_udp", granted));
  } else if (facts.confinement.network == Network::kLoopback) {
    for (const char* name : {"network_tcp", "network_udp"}) {
      report.push_back(AlsoByNetwork(
          facts,
          Promised(Not(name, "the policy wants network: loopback, which needs namespaces"))));
    }
  } else {
    report.push_back(AlsoByNetwork(facts, ByEither(facts, "network_tcp", 4)));
    report.push_back(AlsoByNetwork(facts, ByEither(facts, "network_udp", 10)));
  }
  report.push_back(BySeccomp(facts, "network_other"));  // raw, MPTCP, SCTP, vsock, Bluetooth, ...
  // Without Landlock for them, seccomp refuses all; in a view of its own a command may make its
  // own.
  report.push_back(facts.namespaces && facts.abi < 9
                       ? Enforced("unix_sockets", "mount namespace")
                       : AlsoByMounts(facts, ByEither(facts, "unix_sockets", 9)));
  report.push_back(facts.own_network && facts.abi < 6
                       ? Enforced("abstract_sockets", "network namespace")
                       : AlsoByNetwork(facts, ByEither(facts, "abstract_sockets", 6)));
}

void AddProcesses(const Facts& facts, Report& report) {
  report.push_back(AlsoByPids(
      facts,
      facts.abi >= 6 ? Enforced("signals", facts.landlock)
      : facts.seccomp
          ? Promised(Partly(
                "signals", "seccomp",
                "kill(-1) is refused, but a command can signal any single process of the same "
                "user. Landlock scopes signals from Linux 6.12 on"))
          : Promised(Not("signals", kNoSeccomp))));
  report.push_back(AlsoByPids(
      facts,
      facts.abi >= 6
          ? AsLongAs(Enforced("process_tree", "guardian, " + facts.landlock),
                     "by the guardian: if somebody kills it together with the server and its "
                     "launchers (SIGKILL), the command's first process ends with it, "
                     "and its descendants continue without a deadline. "
                     "A pid namespace would end them all")
          : Promised(Partly(
                "process_tree", "guardian",
                "the guardian ends the tree, but until Landlock scopes signals (Linux 6.12) a "
                "command can kill the guardian first"))));
  report.push_back(facts.abi >= 1 ? Enforced("process_memory", facts.landlock)
                                  : Promised(Not("process_memory", facts.no_landlock)));
  report.push_back(AlsoByPids(
      facts,
      Not("process_list",
          "where /proc is granted, process ids and command lines of other processes can be read "
          "(not their environment, memory or files), "
          "and root's commands can also read its root-only files. "
          "A pid namespace and a proc of its own would hide them")));
  report.push_back(AlsoByPids(facts, BySeccomp(facts, "scheduling")));
  report.push_back(AlsoBy(
      facts.namespaces && facts.seccomp, "ipc namespace",
      facts.seccomp
          ? Partly("shared_memory", facts.abi >= 1 ? "seccomp, " + facts.landlock : "seccomp",
                   "System V memory is refused and /dev/shm is a path like others, "
                   "but message queues and System V semaphores of the same user can be reached. "
                   "An IPC namespace would hide them")
          : Not("shared_memory", kNoSeccomp)));
}

Protection OfNamespaces(const Facts& facts) {
  using Granted = KernelFeatures::Granted;
  if (facts.confinement.namespaces == Namespaces::kOff) {
    return Not("namespaces", "the policy wants none (namespaces: off)");
  }
  if (facts.namespaces) {
    return Enforced("namespaces", facts.own_network ? "user, mount, pid, ipc, uts, network"
                                                    : "user, mount, pid, ipc, uts");
  }
  const bool required = facts.confinement.namespaces == Namespaces::kRequire;
  Protection missing =
      facts.kernel.namespaces == Granted::kUnknown
          ? Not("namespaces", "whether they are granted is seen at the first command")
          : Not("namespaces",
                "not granted: " + facts.kernel.no_namespaces +
                    ". Containers, AppArmor (Ubuntu) and kernel.unprivileged_userns_clone or "
                    "user.max_user_namespaces forbid them to ordinary programs; "
                    "the protections above apply without them");
  return required ? Promised(std::move(missing)) : missing;
}

void AddKernel(const Facts& facts, Report& report) {
  report.push_back(BySeccomp(facts, "mounts"));
  report.push_back(BySeccomp(facts, "new_namespaces"));
  report.push_back(
      BySeccomp(facts, "kernel_interfaces"));  // io_uring, bpf, perf, keyrings, modules
  report.push_back(Enforced("privileges", "no_new_privs, capabilities"));
  report.push_back(BySeccomp(facts, "set_id_files"));
  report.push_back(BySeccomp(facts, "terminal_injection"));
  report.push_back(Enforced("inherited_descriptors", "worker"));
  report.push_back(OfNamespaces(facts));
}

Protection Limit(const char* name, std::uint64_t limit, Protection protection) {
  return limit != 0 ? std::move(protection) : Not(name, "the policy sets no limit");
}

Protection OfCpus(const Facts& facts) {
  using Granted = KernelFeatures::Granted;
  if (facts.kernel.cgroup_cpu) return Enforced("cpus", "cgroup (cpu.max)");
  std::string why = "no cgroup: " + facts.kernel.no_cgroup;
  if (facts.kernel.cgroup == Granted::kYes) why = "the cgroup is without the controller cpu";
  if (facts.kernel.cgroup == Granted::kUnknown) {
    why = "whether there is a cgroup is seen at the first command";
  }
  return Promised(Not("cpus", std::move(why)));
}

void AddLimits(const Facts& facts, Report& report) {
  const ResourceLimits& limits = facts.limits;
  report.push_back(Limit("wall_time", limits.wall_time_ms, Enforced("wall_time", "guardian")));
  report.push_back(Limit("cpu_time", limits.cpu_seconds,
                         AlsoByGroup(facts, "cgroup",
                                     Partly("cpu_time", "guardian, rlimit",
                                            "each process by itself; a cgroup would count them "
                                            "together. wall_time bounds them all"))));
  report.push_back(Limit(
      "memory", limits.memory_bytes,
      AlsoByGroup(
          facts, "cgroup (memory.max)",
          Partly("memory", "guardian",
                 "the sum over the tree is sampled, so a command can exceed it for a moment, and "
                 "memory that is not mapped (memfd, tmpfs) is not seen. A cgroup's memory.max "
                 "would bound all of it"))));
  report.push_back(Limit(
      "processes", limits.processes,
      AlsoByGroup(
          facts, "cgroup (pids.max)",
          AlsoBy(
              facts.namespaces && !facts.kernel.root, "user namespace",
              Partly("processes", facts.kernel.root ? "guardian" : "guardian, rlimit",
                     facts.kernel.root
                         ? "the guardian counts them now and then, and RLIMIT_NPROC does not bind "
                           "root. A cgroup's pids.max would bound them at once"
                         : "the guardian counts them now and then; RLIMIT_NPROC stops them at once "
                           "but counts everything that the user runs. A cgroup's pids.max is "
                           "exact")))));
  report.push_back(Limit("cpus", limits.cpus, OfCpus(facts)));
  report.push_back(Limit("open_files", limits.open_files, Enforced("open_files", "rlimit")));
  report.push_back(Limit("file_size", limits.file_bytes, Enforced("file_size", "rlimit")));
}

}  // namespace

KernelFeatures DetectKernel() {
  const LandlockSupport landlock = DetectLandlock();
  KernelFeatures kernel;
  kernel.landlock_abi = landlock.abi;
  kernel.landlock_errno = landlock.sys_errno;
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  kernel.seccomp_filter = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  kernel.root = geteuid() == 0;
  utsname name;
  if (uname(&name) == 0) kernel.release = name.release;
  return kernel;
}

const char* LevelName(Level level) {
  switch (level) {
    case Level::kEnforced:
      return "enforced";
    case Level::kPartly:
      return "partly";
    case Level::kNot:
      break;
  }
  return "not";
}

const char* NetworkName(Network network) {
  switch (network) {
    case Network::kNone:
      break;
    case Network::kFull:
      return "full";
    case Network::kLoopback:
      return "loopback";
  }
  return "none";
}

bool Enforcement::Complete() const {
  return std::ranges::none_of(protections, [](const Protection& protection) {
    return protection.promised && protection.level == Level::kNot;
  });
}

bool Enforcement::Full() const {
  return std::ranges::none_of(protections, [](const Protection& protection) {
    return protection.promised && protection.level != Level::kEnforced;
  });
}

const Protection* Enforcement::Find(const std::string& name) const {
  const auto found = std::ranges::find_if(
      protections, [&](const Protection& protection) { return protection.name == name; });
  return found == protections.end() ? nullptr : &*found;
}

Enforcement Assess(const Confinement& confinement, const ResourceLimits& limits,
                   const KernelFeatures& kernel) {
  const bool namespaces = confinement.namespaces != Namespaces::kOff &&
                          kernel.namespaces == KernelFeatures::Granted::kYes;
  const Facts facts{confinement,
                    limits,
                    kernel,
                    kernel.landlock_abi,
                    kernel.seccomp_filter,
                    "landlock ABI " + std::to_string(kernel.landlock_abi),
                    WhyNoLandlock(kernel),
                    namespaces,
                    namespaces && confinement.network != Network::kFull};
  Enforcement enforcement{kernel, {}};
  AddFiles(facts, enforcement.protections);
  AddNetwork(facts, enforcement.protections);
  AddProcesses(facts, enforcement.protections);
  AddKernel(facts, enforcement.protections);
  AddLimits(facts, enforcement.protections);
  return enforcement;
}

}  // namespace pa::sandbox
