// For another lock of git's: a line in kLocks.
#include "supervisor/run/git_locks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/file_clock.h"
#include "base/open_beneath.h"
#include "base/path_stamp.h"
#include "base/proc_path.h"
#include "base/try.h"

namespace pa {
namespace {

// What `git add` and `git commit` make (strace of 2.39, with a merge, a cherry-pick and rerere;
// AUTO_MERGE since 2.44), beside the lock of the branch. Neither writes `config`. The reftable
// format (reftable(5), since 2.45) has one lock for all references; a linked worktree has tables of
// its own beside the common ones.
struct Lock {
  const char* name;
  UniqueFd HeldRepository::* in;
};
constexpr Lock kLocks[] = {{"index.lock", &HeldRepository::git_dir},
                           {"HEAD.lock", &HeldRepository::git_dir},
                           {"CHERRY_PICK_HEAD.lock", &HeldRepository::git_dir},
                           {"REVERT_HEAD.lock", &HeldRepository::git_dir},
                           {"AUTO_MERGE.lock", &HeldRepository::git_dir},
                           {"MERGE_RR.lock", &HeldRepository::git_dir},
                           {"packed-refs.lock", &HeldRepository::common_dir},
                           {"reftable/tables.list.lock", &HeldRepository::git_dir},
                           {"reftable/tables.list.lock", &HeldRepository::common_dir}};

constexpr std::size_t kMaxRuns = 16;
constexpr std::size_t kFields = 4;
constexpr std::size_t kDigits = 16;
constexpr std::size_t kLine = kFields * (kDigits + 1);

std::optional<GitRun> ParseRun(std::string_view line) {
  std::array<std::uint64_t, kFields> fields{};
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::string_view digits = line.substr(i * (kDigits + 1), kDigits);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), fields.at(i), 16);
    const char after = line.at((i + 1) * (kDigits + 1) - 1);
    const char wanted = i + 1 == kFields ? '\n' : ' ';
    if (error != std::errc() || end != digits.end() || after != wanted) return std::nullopt;
  }
  return GitRun{fields[0], fields[1], static_cast<std::int64_t>(fields[2]),
                static_cast<std::int64_t>(fields[3])};
}

// The lock of the branch that HEAD names, from the common directory on; "" if it names none. An
// agent writes HEAD.
std::string BranchLock(const std::string& head) {
  constexpr std::string_view kWord = "ref: ";
  if (!head.starts_with("ref: refs/") || !head.ends_with('\n')) return "";
  std::string name = head.substr(kWord.size(), head.size() - kWord.size() - 1);
  // As no reference may be named (git-check-ref-format(1)): it must lead out of `refs` nowhere.
  if (name.contains("..") || name.contains('\n') || name.contains('\0')) return "";
  return name + ".lock";
}

// When it came to be, which nobody can set. Where that is not known, when it was changed last.
std::optional<std::int64_t> MadeAt(int fd) {
  struct statx info{};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_CTIME, &info) != 0) return std::nullopt;
  const bool born = (info.stx_mask & STATX_BTIME) != 0;
  const statx_timestamp& time = born ? info.stx_btime : info.stx_ctime;
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Whether nobody else has it open; nobody can open it as long as `fd` lives.
bool HaveAlone(int fd) {
  // Whoever tries to open it now makes the kernel tell us, by SIGIO, which would end us (fcntl(2)).
  return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

class Clearing {
 public:
  Clearing(const HeldRepository& repository, std::span<const GitRun> runs,
           const Result<std::string>* at_work)
      : repository_(repository), runs_(runs), at_work_(at_work) {}
  void Look(int directory, const std::string& at, const std::string& name);
  void Unseen(const std::string& path, int error);
  GitLocksFound TakeFound() { return std::move(found_); }

 private:
  bool MadeByOurs(int lock) const;
  // Why it has to stay, after its path; "" if it goes.
  std::string WhyKept(int lock);

  const HeldRepository& repository_;
  std::span<const GitRun> runs_;
  const Result<std::string>* at_work_;  // null: nobody has looked
  GitLocksFound found_;
};

bool Clearing::MadeByOurs(int lock) const {
  const std::optional<std::int64_t> made = MadeAt(lock);
  return made && std::ranges::any_of(runs_, [&](const GitRun& run) {
           const bool here = run.device == repository_.device && run.inode == repository_.inode;
           return here && run.begun <= *made && *made <= run.ends;
         });
}

std::string Clearing::WhyKept(int lock) {
  struct stat status{};
  if (fstat(lock, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) {
    return "does not look like a lock of git, so it was kept";
  }
  if (status.st_uid != geteuid()) return "belongs to another user";
  const bool ours = MadeByOurs(lock);
  if (at_work_ == nullptr) {
    found_.asks = true;
    return "was kept, because nobody has looked for a git that is at work in this repository";
  }
  const Result<std::string>& at_work = *at_work_;
  if (!at_work || !at_work->empty()) found_.in_use = found_.in_use || ours;
  if (!at_work) {
    return "was kept, because a git may be at work in this repository: " +
           at_work.error().Message();
  }
  if (!at_work->empty()) {
    return "belongs to " + *at_work + ", it seems, which is at work in this repository";
  }
  if (ours) return "";
  return "was not left by a git command of this server's: "
         "another program that works in the repository holds it, or was killed; "
         "if none does, the user can remove the file";
}

// What may be there. Where only the means were wanting, the next call looks again.
void Clearing::Unseen(const std::string& path, int error) {
  found_.in_use = found_.in_use || !MeansGone(error);
  found_.kept.push_back(Error("open", path, error).Message() + ", so it was kept");
}

// `name` in `directory`, which people know as `at`.
void Clearing::Look(int directory, const std::string& at, const std::string& name) {
  const UniqueFd lock = OpenPlain(directory, name.c_str(), O_PATH | O_NOFOLLOW);
  if (!lock) {
    if (!MeansAbsent(errno)) Unseen(at + "/" + name, errno);
    return;
  }
  const std::string path = at + "/" + name;
  std::string why = WhyKept(lock.get());
  if (why.empty()) {
    struct stat status{};
    if (fstat(lock.get(), &status) != 0) return Unseen(path, errno);
    const bool own = directory == repository_.git_dir.get();
    return found_.ours.push_back({path, name, own, StampOf(status)});
  }
  found_.kept.push_back(path + " " + why);
}

}  // namespace

std::int64_t EarliestFromNow() {
  return std::chrono::nanoseconds(FileClockNow().time_since_epoch()).count();
}

std::int64_t LatestUntilNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(now).count();
}

Result<std::vector<GitRun>> ReadGitRuns(int fd) {
  PA_TRY(const std::string text, ReadFileFrom(fd, "git runs", kMaxRuns * kLine));
  std::vector<GitRun> runs;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(kLine)) {
    const std::optional<GitRun> run =
        rest.size() < kLine ? std::nullopt : ParseRun(rest.substr(0, kLine));
    if (!run) return std::unexpected(Error("read", "git runs", EINVAL));
    runs.push_back(*run);
  }
  return runs;
}

Result<void> WriteGitRuns(int fd, std::span<const GitRun> runs) {
  std::string text;
  for (const GitRun& run : runs.last(std::min(runs.size(), kMaxRuns))) {
    text +=
        fmt::format("{:016x} {:016x} {:016x} {:016x}\n", run.device, run.inode,
                    static_cast<std::uint64_t>(run.begun), static_cast<std::uint64_t>(run.ends));
  }
  const auto size = static_cast<ssize_t>(text.size());
  if (pwrite(fd, text.data(), text.size(), 0) != size || ftruncate(fd, size) != 0) {
    return std::unexpected(Error("write", "git runs", errno));
  }
  return {};
}

std::optional<HeldRepository> HoldRepository(const policy::Repository& repository) {
  constexpr int kFlags = O_PATH | O_DIRECTORY;
  HeldRepository held{.git_dir = OpenPlain(AT_FDCWD, repository.git_dir.c_str(), kFlags),
                      .common_dir = OpenPlain(AT_FDCWD, repository.common_dir.c_str(), kFlags),
                      .names = repository};
  struct stat status{};
  if (!held.git_dir || !held.common_dir) return std::nullopt;
  if (fstat(held.git_dir.get(), &status) != 0) return std::nullopt;
  held.device = status.st_dev;
  held.inode = status.st_ino;
  return held;
}

GitLocksFound FindGitLocks(const HeldRepository& repository, std::span<const GitRun> runs,
                           const Result<std::string>& head, const Result<std::string>* at_work) {
  const policy::Repository& names = repository.names;
  Clearing clearing(repository, runs, at_work);
  // The branch first: it is HEAD that says which.
  const int error = head ? 0 : head.error().sys_errno;
  if (error != 0 && !MeansAbsent(error)) clearing.Unseen(names.git_dir + "/HEAD", error);
  if (const std::string branch = BranchLock(head.value_or("")); !branch.empty()) {
    clearing.Look(repository.common_dir.get(), names.common_dir, branch);
  }
  std::set<std::string> seen;  // both directories are one, but for a linked worktree
  for (const Lock& lock : kLocks) {
    const bool own = lock.in == &HeldRepository::git_dir;
    const std::string& at = own ? names.git_dir : names.common_dir;
    if (!seen.insert(at + "/" + lock.name).second) continue;
    clearing.Look((repository.*lock.in).get(), at, lock.name);
  }
  return clearing.TakeFound();
}

LockRemoval RemoveGitLock(int directory, const std::string& name, const PathStamp& stamp) {
  const UniqueFd lock = OpenPlain(directory, name.c_str(), O_PATH | O_NOFOLLOW);
  struct stat status{};
  const bool plain = lock && fstat(lock.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     StampOf(status).SameFile(stamp);
  // Only now that it is known to be a plain file: to open another one could do something, or wait.
  // So could one of which a program has a lease, but for O_NONBLOCK.
  const UniqueFd held(plain ? open(ProcPath(lock.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                            : -1);
  if (!held || !HaveAlone(held.get())) return LockRemoval::kInUse;
  const std::size_t slash = name.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : name.substr(0, slash);
  const std::string last = name.substr(slash + 1);
  const UniqueFd place = OpenPlain(directory, parent.c_str(), O_PATH | O_DIRECTORY);
  const bool same = LookAt(place.get(), last).SameFile(stamp);
  const bool removed = same && unlinkat(place.get(), last.c_str(), 0) == 0;
  return removed ? LockRemoval::kRemoved : LockRemoval::kNot;
}

void Note(const GitLock& lock, LockRemoval removal, GitLocksFound& found) {
  switch (removal) {
    case LockRemoval::kRemoved:
      return found.cleared.push_back(lock.path);
    case LockRemoval::kInUse:
      found.in_use = true;
      return found.kept.push_back(
          lock.path + " is held by a program, or on a file system that does not say whether it is");
    case LockRemoval::kNot:
      return found.kept.push_back(lock.path + " could not be removed");
  }
}

}  // namespace pa
