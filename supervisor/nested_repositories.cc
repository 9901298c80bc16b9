#include "supervisor/nested_repositories.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "base/file.h"
#include "base/path_stamp.h"
#include "base/tree_scan.h"
#include "base/utf8.h"
#include "policy/made_repository.h"
#include "policy/path.h"
#include "supervisor/background.h"
#include "supervisor/displaced.h"
#include "supervisor/state_directory.h"
#include "supervisor/text_cut.h"

namespace pa {
namespace {

using policy::Foreign;
using policy::RepositoryBelow;
using Repositories = NestedRepositories::Repositories;
using Changes = std::vector<ProtectedChange>;

// What the loop can wait for; more is done on a thread.
constexpr ScanLimits kAtOnce = {
    .directories = 256, .entries = 4096, .depth = 32, .time = std::chrono::milliseconds(5)};
// Of a directory of which nothing is known yet, be its disk as slow as it may: what this look does not find, and the
// next one does, is taken for a command's.
constexpr ScanLimits kFirst = {.entries = 40'000'000, .time = std::chrono::seconds(60)};
constexpr std::size_t kMaxMade = 4096;  // below one working directory

// Devices are numbered anew at each start of the system; a birth in nanoseconds is not given twice.
std::string Id(const RepositoryBelow& one) {
  const std::size_t place = one.born_ns != 0 ? 0 : std::hash<std::string>()(one.path);
  return fmt::format("{:x}-{:x}-{:x}", one.inode, one.born_ns, place);
}

bool Holds(const Repositories& list, const RepositoryBelow& one) {
  return std::ranges::any_of(list, [&](const RepositoryBelow& other) { return one.Same(other); });
}

// A path below the working directory. The command has chosen it, and it shall not look like lines of ours.
std::string Shown(std::string_view path) {
  constexpr std::size_t kLongest = 300;
  if (path.empty()) return ".";
  const bool long_one = path.size() > kLongest;
  return RepairUtf8(Utf8Head(path, kLongest), true) + (long_one ? "..." : "");
}

std::string Unseen(const ScannedTree& tree) {
  constexpr char kStart[] = "git repositories below the working directory were looked for only";
  if (!tree.exceeded.empty()) {
    return fmt::format("{} within limits ({}); work in a directory further below", kStart,
                       Shown(tree.exceeded));
  }
  if (tree.unreadable.empty()) return "";
  return fmt::format("{} where it can be read: not in {}{}", kStart, Shown(tree.unreadable.front()),
                     tree.unreadable.size() > 1 ? " and others" : "");
}

void Append(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

// The new ones, relative to the directory.
std::string NewOnes(const std::string& directory, const std::vector<std::string>& made) {
  constexpr std::size_t kMaxNamed = 5;
  if (made.empty()) return "";
  std::string text = fmt::format("{} new git repositor{} below the working directory:", made.size(),
                                 made.size() == 1 ? "y" : "ies");
  for (std::size_t i = 0; i < std::min(kMaxNamed, made.size()); ++i) {
    text += (i == 0 ? " " : ", ") + Shown(std::string_view(made[i]).substr(directory.size() + 1));
  }
  if (made.size() > kMaxNamed) text += ", ...";
  return text;
}

// What takes the place of a file of git's.
FileImage Regular(const std::string& content) {
  FileImage image;
  image.content = content;
  image.stamp.exists = true;
  image.stamp.mode = S_IFREG | 0644;
  image.stamp.owner = geteuid();
  image.stamp.group = getegid();
  image.stamp.size = content.size();
  image.stamp.links = 1;
  return image;
}

// Git directories that the guard keeps as they are.
std::vector<std::string> Kept(const NestedRepositories::Watched& watched) {
  std::vector<std::string> kept = {watched.directory.path() + "/.git"};
  for (const RepositoryBelow& one : watched.existing) kept.push_back(one.path);
  return kept;
}

ProtectedChange TakeOut(const Foreign& foreign, const std::string& area, Displaced& displaced) {
  const std::size_t slash = foreign.path.rfind('/');
  const std::string name = foreign.path.substr(slash + 1);
  ProtectedChange change;
  change.path = foreign.path;
  change.what = "got what git would execute (" + foreign.what + ")";
  const UniqueFd parent = OpenDirectory(foreign.path.substr(0, slash));
  const UniqueFd top = OpenDirectory(area);
  Result<std::string> kept = std::unexpected(Error("open", foreign.path, errno));
  if (parent && top && foreign.instead) {
    const FileImage image = Regular(*foreign.instead);
    kept = displaced.Exchange(image, parent.get(), name, top.get(), area);
  } else if (parent && top) {
    kept = displaced.Take(parent.get(), name, top.get(), area);
  }
  change.restored = kept.has_value();
  if (kept) change.kept = *kept;
  if (!kept) change.failure = kept.error().Message();
  return change;
}

}  // namespace

// Looked at by one thread at a time.
struct NestedRepositories::Scan {
  explicit Scan(std::string path) : directory(std::move(path)) {}
  const std::string directory;
  std::mutex looking;
  TreeScan tree{policy::ChooseRepositoryNames};
  bool known = false;  // there was a look that came to its end, or had the time
};

std::shared_ptr<NestedRepositories::Scan> NestedRepositories::ScanOf(const std::string& directory) {
  const auto known = std::ranges::find_if(
      scans_, [&](const std::shared_ptr<Scan>& one) { return one->directory == directory; });
  if (known != scans_.end()) {
    scans_.splice(scans_.begin(), scans_, known);
  } else {
    scans_.push_front(std::make_shared<Scan>(directory));
    if (scans_.size() > kMaxScans) scans_.pop_back();
  }
  return scans_.front();
}

Task<NestedRepositories::Seen> NestedRepositories::Look(policy::WorkingDirectory directory) {
  const std::shared_ptr<Scan> scan = ScanOf(directory.path());
  if (std::unique_lock lock(scan->looking, std::try_to_lock); lock) {
    ScannedTree tree = scan->tree.Look(directory.fd(), kAtOnce);
    if (tree.exceeded.empty()) {
      scan->known = true;
      Repositories found = policy::RepositoriesBelow(tree, directory.path());
      co_return Seen{std::move(found), Unseen(tree)};
    }
  }
  Task<Seen> task = InBackground<Seen>(loop_, [scan, directory] {
    const std::lock_guard lock(scan->looking);
    ScannedTree tree = scan->tree.Look(directory.fd(), scan->known ? ScanLimits() : kFirst);
    scan->known = true;
    Repositories found = policy::RepositoriesBelow(tree, directory.path());
    return Seen{std::move(found), Unseen(tree)};
  });
  Seen seen = co_await task;
  co_return seen;
}

std::string NestedRepositories::FileOf(const RepositoryBelow& one,
                                       const policy::Policy& policy) const {
  const Result<std::string> directory = FindStateDirectory(policy, state_home_, "repositories");
  return directory ? *directory + "/" + Id(one) : "";
}

Result<bool> NestedRepositories::IsMade(const RepositoryBelow& one,
                                        const policy::Policy& policy) const {
  if (made_.contains(Id(one))) return true;
  const std::string file = FileOf(one, policy);
  if (file.empty()) return false;
  const PathStamp stamp = LookAt(file);
  if (stamp.error != 0) return std::unexpected(Error("lstat", file, stamp.error));
  return stamp.exists;
}

// A command that began before it was there runs still.
bool NestedRepositories::IsBeingMade(const RepositoryBelow& one) const {
  return std::ranges::any_of(active_, [&](const std::weak_ptr<const Watched>& weak) {
    const Watch other = weak.lock();
    return other && policy::IsBeneath(one.path, other->directory.path()) &&
           !Holds(other->existing, one);
  });
}

Result<void> NestedRepositories::Record(const RepositoryBelow& one, const policy::Policy& policy) {
  made_.insert(Id(one));
  const std::string file = FileOf(one, policy);
  if (file.empty()) return {};
  const Result<void> made = MakeStateDirectory(file.substr(0, file.rfind('/')));
  if (!made) return made;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd fd(open(file.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!fd) return std::unexpected(Error("open", file, errno));
  // The name is what counts; the path is for people.
  (void)WriteAll(fd.get(), one.path + "\n");
  return {};
}

void NestedRepositories::Forget(const RepositoryBelow& one, const policy::Policy& policy) {
  made_.erase(Id(one));
  const std::string file = FileOf(one, policy);
  if (!file.empty()) (void)unlink(file.c_str());
}

// Those of `made` that are not as the last command of ours has left them.
Task<Repositories> NestedRepositories::Unclean(const Repositories& made, const Watched& watched) {
  const std::vector<std::string> kept = Kept(watched);
  const std::string area = watched.directory.path();
  Task<Repositories> judging = InBackground<Repositories>(loop_, [made, kept, area] {
    Repositories unclean;
    for (const RepositoryBelow& one : made) {
      if (!policy::FindForeign(one, area, kept).empty()) unclean.push_back(one);
    }
    return unclean;
  });
  Repositories unclean = co_await judging;
  co_return unclean;
}

Task<NestedRepositories::Watch> NestedRepositories::Begin(policy::WorkingDirectory directory,
                                                          policy::PolicyPtr policy) {
  Task<Seen> look = Look(directory);
  const Seen seen = co_await look;
  auto watched = std::make_shared<Watched>(Watched{directory, policy});
  for (const RepositoryBelow& one : seen.repositories) {
    if (IsBeingMade(one)) continue;
    const Result<bool> is_made = IsMade(one, *policy);
    if (!is_made) watched->unread = is_made.error().Message();
    (is_made.value_or(false) ? watched->made : watched->existing).push_back(one);
  }
  if (!watched->made.empty()) {
    Task<Repositories> judging = Unclean(watched->made, *watched);
    const Repositories unclean = co_await judging;
    for (const RepositoryBelow& one : unclean) {
      if (IsBeingMade(one)) continue;
      Forget(one, *policy);
      std::erase(watched->made, one);
      watched->existing.push_back(one);
    }
    std::ranges::sort(watched->existing, {}, &RepositoryBelow::path);
  }
  std::erase_if(active_, [](const std::weak_ptr<const Watched>& weak) { return weak.expired(); });
  active_.push_back(watched);
  co_return watched;
}

Repositories NestedRepositories::Remember(const Watched& watched, Seen seen, std::string& warning) {
  Repositories made;
  std::vector<std::string> fresh;
  std::string unrecorded;
  for (const RepositoryBelow& one : seen.repositories) {
    if (Holds(watched.existing, one)) continue;
    made.push_back(one);
    // The rest is the user's from the next call on, and stays as it is.
    const bool too_many = made.size() > kMaxMade;
    if (too_many) seen.unseen = fmt::format("more than {} git repositories were made", kMaxMade);
    if (too_many || IsMade(one, *watched.policy).value_or(false)) continue;
    const Result<void> recorded = Record(one, *watched.policy);
    if (!recorded) unrecorded = recorded.error().Message();
    fresh.push_back(one.path);
  }
  // What was moved out of the directory is gone, too: where it is found next, it is the user's.
  for (const RepositoryBelow& one : watched.made) {
    if (seen.unseen.empty() && !Holds(seen.repositories, one)) Forget(one, *watched.policy);
  }
  Append(warning, NewOnes(watched.directory.path(), fresh));
  Append(warning, seen.unseen);
  constexpr char kKept[] =
      "git repositories below the working directory were kept as they are, because";
  if (!watched.unread.empty()) {
    Append(warning, fmt::format("{} it cannot be read which of them commands made: {}", kKept,
                                watched.unread));
  }
  constexpr char kUnrecorded[] =
      "they are kept as they are as soon as this server has ended, because";
  if (!unrecorded.empty()) {
    Append(warning, fmt::format("{} it cannot be recorded that a command made them: {}",
                                kUnrecorded, unrecorded));
  }
  return made;
}

Task<NestedRepositories::Ended> NestedRepositories::End(Watch watch) {
  Task<Seen> look = Look(watch->directory);
  Seen seen = co_await look;
  Ended ended;
  const Repositories made = Remember(*watch, std::move(seen), ended.warning);
  if (made.empty()) co_return ended;
  const std::vector<std::string> kept = Kept(*watch);
  const std::string area = watch->directory.path();
  const std::string place =
      FindStateDirectory(*watch->policy, state_home_, kDisplacedDirectory).value_or("");
  Task<Changes> judging = InBackground<Changes>(loop_, [made, area, kept, place] {
    Changes changes;
    Displaced displaced(place);
    for (const RepositoryBelow& one : made) {
      for (const Foreign& foreign : policy::FindForeign(one, area, kept)) {
        changes.push_back(TakeOut(foreign, area, displaced));
      }
    }
    return changes;
  });
  ended.changes = co_await judging;
  co_return ended;
}

}  // namespace pa
