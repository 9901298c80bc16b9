#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "base/try.h"

namespace pa::sandbox {
namespace {

constexpr std::size_t kMaxFileBytes = 1u << 20;
constexpr std::array kControllers = {"memory", "pids"};
constexpr const char* kOptional = "cpu";  // systemd delegates it to users from version 252 on

// Where the one who makes the groups lives, beside them.
constexpr std::string_view kLeaf = "/supervisor";

constexpr std::uint64_t kPeriodUs = 100'000;  // the kernel's own default

Result<void> Write(int directory, const char* name, const std::string& value) {
  const UniqueFd fd(openat(directory, name, O_WRONLY | O_CLOEXEC));
  // One write is one order: half of it would be another.
  if (!fd || write(fd.get(), value.data(), value.size()) < 0) {
    return std::unexpected(Error("write cgroup", std::string(name) + " = " + value, errno));
  }
  return {};
}

Result<std::string> Read(int directory, const char* name) {
  const UniqueFd fd(openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("open cgroup", name, errno));
  return ReadFileFrom(fd.get(), name, kMaxFileBytes);
}

Result<UniqueFd> OpenCgroup(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("open cgroup", path, errno));
  return fd;
}

// The number behind `key` in a file of `key number` lines; 0 without such a line.
std::uint64_t Number(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  std::string name;
  for (std::uint64_t value = 0; lines >> name >> value;) {
    if (name == key) return value;
  }
  return 0;
}

bool HasWord(const std::string& text, std::string_view word) {
  std::istringstream words(text);
  for (std::string next; words >> next;) {
    if (next == word) return true;
  }
  return false;
}

// Of /proc/self/mountinfo: `36 35 0:30 /root /mount/point rw,... - cgroup2 ...`. Blanks in a path
// are escaped there; such a mount point is nobody's.
struct HierarchyMount {
  std::string root;
  std::string point;
};
std::optional<HierarchyMount> CgroupMount(const std::string& mountinfo) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string skipped;
    HierarchyMount mount;
    fields >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    while (fields >> skipped && skipped != "-") {
    }
    std::string type;
    if (fields >> type && type == "cgroup2") return mount;
  }
  return std::nullopt;
}

// `0::/user.slice/...` is v2's line; those of v1 have other numbers.
std::optional<std::string> OwnGroup(const std::string& proc_cgroup) {
  std::istringstream lines(proc_cgroup);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return std::nullopt;
}

Result<std::string> OwnDirectory() {
  PA_TRY(const std::string mountinfo, ReadFile("/proc/self/mountinfo", kMaxFileBytes));
  PA_TRY(const std::string own, ReadFile("/proc/self/cgroup", kMaxFileBytes));
  const std::optional<HierarchyMount> mount = CgroupMount(mountinfo);
  std::optional<std::string> group = OwnGroup(own);
  if (!mount || !group) return std::unexpected(Error("find cgroup", "v2", ENOENT));
  // A container may have mounted only its own part.
  if (mount->root != "/" && group->starts_with(mount->root))
    *group = group->substr(mount->root.size());
  std::string path = mount->point + *group;
  while (path.ends_with('/')) path.pop_back();
  if (path.ends_with(kLeaf)) path.resize(path.size() - kLeaf.size());  // opened before, by us
  return path;
}

// With nothing to read the kernel says EINVAL; it refuses otherwise only where somebody has
// filtered it, as containers do.
Result<void> CheckClone() {
  if (syscall(SYS_clone3, nullptr, 0) >= 0 || errno == EINVAL) return {};
  return std::unexpected(Error("use cgroup", "clone3", errno));
}

Result<void> CheckDelegation(const std::string& path, int directory) {
  for (const char* name : {".", "cgroup.procs", "cgroup.subtree_control"}) {
    // The effective user's right, as open will ask for it.
    if (faccessat(directory, name, W_OK, AT_EACCESS) != 0) {
      return std::unexpected(Error("use cgroup", path + "/" + name, errno));
    }
  }
  PA_TRY(const std::string there, Read(directory, "cgroup.controllers"));
  for (const char* controller : kControllers) {
    if (!HasWord(there, controller)) {
      return std::unexpected(Error("use cgroup", path + " without " + controller, ENOTSUP));
    }
  }
  return {};
}

// 0: it has ended.
pid_t ParentOf(pid_t pid) {
  const Result<std::string> status =
      ReadFile("/proc/" + std::to_string(pid) + "/status", kMaxFileBytes);
  constexpr std::string_view kParent = "\nPPid:";
  const std::size_t at = status ? status->find(kParent) : std::string::npos;
  pid_t parent = 0;
  if (at != std::string::npos) std::istringstream(status->substr(at + kParent.size())) >> parent;
  return parent;
}

bool DescendsFromUs(pid_t pid) {
  constexpr int kMostGenerations = 16;
  for (int i = 0; i < kMostGenerations && pid > 1; ++i) {
    pid = ParentOf(pid);
    if (pid == getpid() || pid == 0) return true;  // one that has ended is in nobody's way
  }
  return false;
}

Result<std::vector<pid_t>> ProcessesIn(int directory) {
  PA_TRY(const std::string there, Read(directory, "cgroup.procs"));
  std::vector<pid_t> processes;
  std::istringstream pids(there);
  for (pid_t pid = 0; pids >> pid;) processes.push_back(pid);
  return processes;
}

// No processes beside groups, or the kernel gives those no controllers. It is looked at before
// anything is changed: somebody else's part of the tree is not ours to rearrange. What descends
// from us comes with us.
Result<void> CheckAlone(const std::string& path, int directory) {
  PA_TRY(const std::vector<pid_t> processes, ProcessesIn(directory));
  for (const pid_t pid : processes) {
    if (pid != getpid() && !DescendsFromUs(pid)) {
      return std::unexpected(
          Error("use cgroup", path + " with process " + std::to_string(pid), EBUSY));
    }
  }
  return {};
}

Result<void> MoveInto(const std::string& path, pid_t pid) {
  PA_TRY(const UniqueFd directory, OpenCgroup(path));
  return Write(directory.get(), "cgroup.procs", std::to_string(pid));
}

// With what has been forked meanwhile.
Result<void> MoveIntoLeaf(const std::string& path, int directory) {
  const std::string leaf = path + std::string(kLeaf);
  if (mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return std::unexpected(Error("mkdir", leaf, errno));
  }
  PA_TRY_VOID(MoveInto(leaf, getpid()));
  constexpr int kMostLooks = 16;
  for (int look = 0; look < kMostLooks; ++look) {
    PA_TRY(const std::vector<pid_t> left, ProcessesIn(directory));
    if (left.empty()) return {};
    for (const pid_t pid : left) {
      const Result<void> moved = MoveInto(leaf, pid);
      if (!moved && moved.error().sys_errno != ESRCH) return moved;
    }
  }
  return std::unexpected(Error("use cgroup", path + " where more processes appear", EBUSY));
}

// Whether the optional one is among them.
Result<bool> EnableControllers(int directory) {
  PA_TRY(const std::string there, Read(directory, "cgroup.controllers"));
  const bool cpu = HasWord(there, kOptional);
  std::string wanted = cpu ? std::string("+") + kOptional : "";
  for (const char* controller : kControllers) wanted += std::string(" +") + controller;
  PA_TRY_VOID(Write(directory, "cgroup.subtree_control", wanted));
  return cpu;
}

// What a run before could not remove; where something lives rmdir fails.
void RemoveEmpty(const std::string& path) {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(path, unreadable)) {
    if (entry.path().filename().string().starts_with("call-")) rmdir(entry.path().c_str());
  }
}

Result<void> SetLimits(int group, const CgroupLimits& limits) {
  struct Setting {
    bool wanted;
    const char* file;
    std::string value;
  };
  const Setting settings[] = {
      {limits.memory_bytes != 0, "memory.max", std::to_string(limits.memory_bytes)},
      {limits.processes != 0, "pids.max", std::to_string(limits.processes)},
      {limits.cpu_percent != 0, "cpu.max",
       std::to_string(limits.cpu_percent * kPeriodUs / 100) + " " + std::to_string(kPeriodUs)},
      // A tree that lost one process to the limit is not to be believed: all of it goes.
      {limits.memory_bytes != 0, "memory.oom.group", "1"},
  };
  for (const Setting& setting : settings) {
    if (!setting.wanted) continue;
    PA_TRY_VOID(Write(group, setting.file, setting.value));
  }
  // A kernel without swap accounting has no such file, and nothing to forbid.
  if (limits.memory_bytes != 0 && faccessat(group, "memory.swap.max", F_OK, 0) == 0) {
    return Write(group, "memory.swap.max", "0");
  }
  return {};
}

}  // namespace

Result<void> Cgroup::Limit(const CgroupLimits& limits) const {
  return SetLimits(directory_.get(), limits);
}

Result<void> Cgroup::Add(pid_t pid) const {
  return Write(directory_.get(), "cgroup.procs", std::to_string(pid));
}

Result<void> Cgroup::Kill() const { return Write(directory_.get(), "cgroup.kill", "1"); }

Result<bool> Cgroup::Populated() const {
  PA_TRY(const std::string events, Read(directory_.get(), "cgroup.events"));
  return Number(events, "populated") != 0;
}

Result<CgroupUsage> Cgroup::Usage() const {
  PA_TRY(const std::string cpu, Read(directory_.get(), "cpu.stat"));
  PA_TRY(const std::string memory, Read(directory_.get(), "memory.events"));
  PA_TRY(const std::string pids, Read(directory_.get(), "pids.events"));
  return CgroupUsage{.cpu_us = Number(cpu, "usage_usec"),
                     .killed_for_memory = Number(memory, "oom_kill"),
                     .refused_processes = Number(pids, "max"),
                     .throttled = Number(cpu, "nr_throttled")};
}

Result<void> Cgroup::Remove() {
  if (rmdir(path_.c_str()) != 0) return std::unexpected(Error("rmdir", path_, errno));
  directory_.reset();
  return {};
}

Result<CgroupHome> CgroupHome::Open() {
  PA_TRY_VOID(CheckClone());
  PA_TRY(std::string path, OwnDirectory());
  PA_TRY(const UniqueFd directory, OpenCgroup(path));
  PA_TRY_VOID(CheckDelegation(path, directory.get()));
  PA_TRY_VOID(CheckAlone(path, directory.get()));
  PA_TRY_VOID(MoveIntoLeaf(path, directory.get()));
  const Result<bool> enabled = EnableControllers(directory.get());
  if (!enabled) {
    (void)MoveInto(path, getpid());
    rmdir((path + std::string(kLeaf)).c_str());
    return std::unexpected(enabled.error());
  }
  RemoveEmpty(path);
  return CgroupHome(std::move(path), *enabled);
}

Result<Cgroup> CgroupHome::Make(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  if (mkdir(path.c_str(), 0755) != 0) return std::unexpected(Error("mkdir", path, errno));
  Result<UniqueFd> directory = OpenCgroup(path);
  if (!directory) {
    rmdir(path.c_str());
    return std::unexpected(directory.error());
  }
  return Cgroup(path, std::move(*directory));
}

}  // namespace pa::sandbox
