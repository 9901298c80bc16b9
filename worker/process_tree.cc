#include "worker/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/directory_reader.h"
#include "base/try.h"
#include "sandbox/landlock.h"
#include "worker/build_kind.h"

namespace pa::worker {

struct ProcessTree::Process {
  pid_t pid = 0;
  pid_t parent = 0;
  bool ours = false;
  bool alive = false;  // no zombie
  std::uint64_t cpu_ms = 0;
};

struct ProcessTree::List {
  std::span<Process> all;  // ascending pids
};

namespace {

constexpr std::size_t kMaxPids = 4u << 20;  // PID_MAX_LIMIT

// A small file of /proc, whole; empty if it is gone.
template <std::size_t N>
std::string_view ReadSmall(int directory, const char* path, std::array<char, N>& buffer) {
  const UniqueFd fd(openat(directory, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  return got > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(got))
                 : std::string_view();
}

template <typename Integer>
std::optional<Integer> ParseInteger(std::string_view text) {
  Integer value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

using ProcPath = std::array<char, 32>;

ProcPath PathOf(pid_t pid, std::string_view file) {
  ProcPath path{};
  char* end = std::to_chars(path.data(), path.data() + 12, pid).ptr;
  *end++ = '/';
  file.copy(end, file.size());
  return path;
}

// `RssAnon:      1234 kB` of /proc/PID/status, in bytes.
std::uint64_t StatusBytes(std::string_view status, std::string_view name) {
  const std::size_t at = status.find(name);
  if (at == status.npos) return 0;
  std::string_view value = status.substr(at + name.size());
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return ParseInteger<std::uint64_t>(value).value_or(0) * 1024;
}

// The field `number` places behind the first of `fields`, which one blank divides.
std::uint64_t FieldAfter(std::string_view fields, int number) {
  for (; number > 0; --number) {
    const std::size_t blank = fields.find(' ');
    if (blank == fields.npos) return 0;
    fields.remove_prefix(blank + 1);
  }
  return ParseInteger<std::uint64_t>(fields).value_or(0);
}

// proc_pid_stat(5): utime is the 14th field, stime the 15th, in USER_HZ, which is 100 for all
// programs.
std::uint64_t CpuMs(std::string_view from_state) {
  constexpr int kStateToUtime = 11;
  constexpr std::uint64_t kMsPerTick = 10;
  return (FieldAfter(from_state, kStateToUtime) + FieldAfter(from_state, kStateToUtime + 1)) *
         kMsPerTick;
}

}  // namespace

SysResult<Reach> EnterSignalScope(int abi) {
  if (!kConfined || abi < 6) return Reach::kAnybody;
  PA_TRY(const UniqueFd ruleset, sandbox::CreateScopeRuleset(abi));
  PA_TRY_VOID(sandbox::Enforce(ruleset.get()));
  // kill(-1) by a guardian that only believes to be in a domain would end the machine as root. So
  // try: our parent is outside and must be out of reach.
  const pid_t outside = getppid();
  if (outside == 0) return Reach::kAnybody;  // it is not even in our pid namespace
  if (kill(outside, 0) == 0) return std::unexpected(SysError{"signal scope does not hold", {}, 0});
  return Reach::kOurTree;
}

SysResult<Reach> ReachAsInit() {
  if (getpid() == 1 && getppid() == 0) return Reach::kOurTree;
  return std::unexpected(SysError{"this is no pid namespace of our own", {}, 0});
}

SysResult<ProcessTree> ProcessTree::Open(Reach reach, bool measured) {
  if (reach == Reach::kOurTree && !measured) return ProcessTree(reach, UniqueFd());
  UniqueFd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) return std::unexpected(SysError{"open", "/proc", errno});
  // One of another pid namespace would show us somebody else's processes, under our own numbers.
  ProcPath self{};
  const ssize_t length = readlinkat(proc.get(), "self", self.data(), self.size());
  if (length < 0) return std::unexpected(SysError{"readlink", "/proc/self", errno});
  if (ParseInteger<pid_t>({self.data(), static_cast<std::size_t>(length)}) != getpid()) {
    return std::unexpected(SysError{"/proc is of another pid namespace", {}, ESRCH});
  }
  return ProcessTree(reach, std::move(proc));
}

void ProcessTree::Signal(int signal, pid_t command) {
  if (reach_ == Reach::kOurTree) {
    kill(-1, signal);
    return;
  }
  if (command > 0) kill(-command, signal);  // at once, before anything in it can fork again
  for (const Process& process : Find().all) {
    if (process.ours) SignalOne(process, signal);
  }
}

// Between listing and signalling the process may be reaped by its parent and its pid given to
// somebody else. So: first a handle on whoever has the pid, then make sure that the pid is still of
// the tree. If the handle still takes the signal, it was this process all the time.
void ProcessTree::SignalOne(const Process& process, int signal) const {
  const UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  Process now{.pid = process.pid};
  if (!handle || !ReadProcess(now)) return;
  if (now.parent != process.parent && now.parent != getpid()) return;
  syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
}

// `PID (comm) S PPID ...`; comm may hold anything, also `)`.
bool ProcessTree::ReadProcess(Process& process) const {
  std::array<char, 512> buffer;
  std::string_view stat = ReadSmall(proc_.get(), PathOf(process.pid, "stat").data(), buffer);
  const std::size_t comm_end = stat.rfind(')');
  if (comm_end == stat.npos || stat.size() < comm_end + 5) return false;
  process.alive = stat[comm_end + 2] != 'Z' && stat[comm_end + 2] != 'X';
  process.cpu_ms = CpuMs(stat.substr(comm_end + 2));
  const auto parent = ParseInteger<pid_t>(stat.substr(comm_end + 4));
  process.parent = parent.value_or(0);
  return parent.has_value();
}

// All processes, those that descend from us marked. (/proc/PID/task/TID/children would be shorter,
// but kernels may lack it.)
ProcessTree::List ProcessTree::Find() {
  if (processes_ == nullptr) {
    void* memory = mmap(nullptr, kMaxPids * sizeof(Process), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return {};
    processes_ = static_cast<Process*>(memory);
  }
  std::size_t count = 0;
  DirectoryReader reader(proc_.get());
  while (const auto entry = reader.Next()) {
    const auto pid = ParseInteger<pid_t>(entry->name);
    if (!pid || count == kMaxPids) continue;
    processes_[count] = {.pid = *pid};
    if (ReadProcess(processes_[count])) ++count;
  }
  const std::span<Process> all(processes_, count);
  std::ranges::sort(all, {}, &Process::pid);

  const auto is_ours = [all](pid_t pid) {
    const auto found = std::ranges::lower_bound(all, pid, {}, &Process::pid);
    return found != all.end() && found->pid == pid && found->ours;
  };
  // Parents mostly have the lower pids, so one round marks nearly all.
  for (bool changed = true; changed;) {
    changed = false;
    for (Process& process : all) {
      if (process.ours || (process.parent != getpid() && !is_ours(process.parent))) continue;
      process.ours = changed = true;
    }
  }
  return {all};
}

ProcessTree::Use ProcessTree::Measure() {
  Use use;
  std::uint64_t largest_shared = 0;
  for (const Process& process : Find().all) {
    if (!process.ours || !process.alive) continue;
    ++use.processes;
    use.cpu_ms = std::max(use.cpu_ms, process.cpu_ms);
    std::array<char, 4096> buffer;
    const auto status = ReadSmall(proc_.get(), PathOf(process.pid, "status").data(), buffer);
    use.memory_bytes += StatusBytes(status, "RssAnon:");
    largest_shared = std::max(largest_shared, StatusBytes(status, "RssShmem:"));
  }
  use.memory_bytes += largest_shared;
  return use;
}

// `0.20 0.18 0.12 1/80 11206`: the fourth is running/existing. sysinfo(2) has the number in 16
// bits.
std::uint64_t CountThreads() {
  std::array<char, 128> buffer;
  const std::string_view text = ReadSmall(AT_FDCWD, "/proc/loadavg", buffer);
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return 0;
  return ParseInteger<std::uint64_t>(text.substr(slash + 1)).value_or(0);
}

}  // namespace pa::worker
