#include "supervisor/guard/nested_repositories.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/file.h"
#include "base/file_clock.h"
#include "base/path_stamp.h"
#include "base/tree_scan.h"
#include "base/try.h"
#include "base/utf8.h"
#include "policy/path.h"
#include "supervisor/guard/quarantine.h"
#include "supervisor/loop/background.h"
#include "supervisor/state/passable.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

using policy::Foreign;
using policy::RepositoryBelow;
using Repositories = NestedRepositories::Repositories;
using Changes = std::vector<ProtectedChange>;

// What the loop can wait for; more is done on a thread.
constexpr ScanLimits kLookAtOnce = {
    .directories = 256, .entries = 4096, .depth = 32, .time = std::chrono::milliseconds(5)};
constexpr std::size_t kMaxMade = 4096;  // below one working directory
// Who waits for another's look sees as soon that it is given up.
constexpr std::chrono::milliseconds kWaitForALook{20};

bool IsSet(const NestedRepositories::GivenUp& given_up) { return given_up && *given_up; }

// Devices are numbered anew at each start of the system; a birth in nanoseconds is not given twice.
std::string Id(const RepositoryBelow& one) {
  const std::size_t place = one.born_ns != 0 ? 0 : std::hash<std::string>()(one.path);
  return fmt::format("{:x}-{:x}-{:x}", one.inode, one.born_ns, place);
}

std::int64_t NowNs() { return std::chrono::nanoseconds(FileClockNow().time_since_epoch()).count(); }

bool Holds(const Repositories& list, const RepositoryBelow& one) {
  return std::ranges::any_of(list, [&](const RepositoryBelow& other) { return one.Same(other); });
}

// In its place: where it was moved to, or has another name by a hard link, nobody holds it.
bool HoldsInPlace(const Repositories& list, const RepositoryBelow& one) {
  return std::ranges::any_of(list, [&](const RepositoryBelow& other) {
    return one.Same(other) && one.path == other.path;
  });
}

// What the guard of a command holds, and with it the modules and working trees that belong there.
bool Holds(const NestedRepositories::Maker& maker, const std::string& path) {
  const auto belongs = [&](const std::string& directory) {
    return path == directory || policy::IsBeneath(path, directory + "/modules") ||
           policy::IsBeneath(path, directory + "/worktrees");
  };
  return belongs(maker.directory + "/.git") ||
         std::ranges::any_of(*maker.existing, belongs, &RepositoryBelow::path);
}

// A path below the working directory. The command has chosen it, and it shall not look like lines
// of ours.
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
                       tree.exceeded);
  }
  if (!tree.deeper.empty()) {
    return fmt::format("{} within limits ({} levels, in {}); work in a directory further below",
                       kStart, ScanLimits().depth, Shown(tree.deeper));
  }
  if (tree.unreadable.empty()) return "";
  return fmt::format("{} where it can be read: not in {}{}", kStart, Shown(tree.unreadable.front()),
                     tree.unreadable.size() > 1 ? " and others" : "");
}

void Append(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

// `found`, relative to the directory; "" for none.
std::string Named(const std::string& directory, const Repositories& found, std::string_view what,
                  std::string_view more) {
  constexpr std::size_t kMaxNamed = 5;
  if (found.empty()) return "";
  std::string text =
      fmt::format("{} {}git repositor{} below the working directory{}:", found.size(), what,
                  found.size() == 1 ? "y" : "ies", more);
  for (std::size_t i = 0; i < std::min(kMaxNamed, found.size()); ++i) {
    text +=
        (i == 0 ? " " : ", ") + Shown(std::string_view(found[i].path).substr(directory.size() + 1));
  }
  if (found.size() > kMaxNamed) text += ", ...";
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

// `directory`, and those on the way to it.
void OpenUp(const std::string& area, const std::string& directory) {
  std::string gone;
  const UniqueFd top = OpenDirectory(area);
  if (top) (void)OpenParent(top.get(), area, directory + "/.", &gone);
}

ProtectedChange TakeOut(const Foreign& foreign, const std::string& area, Quarantine& quarantine) {
  const std::size_t slash = foreign.path.rfind('/');
  const std::string name = foreign.path.substr(slash + 1);
  ProtectedChange change{.path = foreign.path, .kind = ChangeKind::kNewRepository};
  change.why = Shown(foreign.what);
  std::string gone;
  const UniqueFd top = OpenDirectory(area);
  const UniqueFd parent = top ? OpenParent(top.get(), area, foreign.path, &gone) : UniqueFd();
  Result<std::string> kept = std::unexpected(Error("open", foreign.path, errno));
  if (parent && top && foreign.instead) {
    const FileImage image = Regular(*foreign.instead);
    kept = quarantine.Exchange(image, parent.get(), name, top.get(), area);
  } else if (parent && top) {
    kept = quarantine.Take(parent.get(), name, top.get(), area);
  }
  change.restored = kept.has_value();
  if (kept) change.kept = *kept;
  if (!kept) change.failure = kept.error().Message();
  return change;
}

// Each with what was found in it; if not all of that goes, it goes as a whole.
Changes Judge(const RepositoryBelow& one, const policy::JudgedWithin& within,
              Quarantine& quarantine) {
  const std::string& area = within.directory;
  if (one.IsDirectory() && (LookAt(one.path).mode & S_IRWXU) != S_IRWXU) OpenUp(area, one.path);
  Changes changes;
  for (const Foreign& foreign : policy::FindForeign(one, within)) {
    changes.push_back(TakeOut(foreign, area, quarantine));
  }
  if (std::ranges::all_of(changes, &ProtectedChange::restored)) return changes;
  ProtectedChange whole = TakeOut({one.path, "not all of it can be taken out"}, area, quarantine);
  if (whole.restored) std::erase_if(changes, std::not_fn(&ProtectedChange::restored));
  changes.push_back(std::move(whole));
  return changes;
}

// What stands now where a git directory was open; nothing where there is none any more.
std::optional<RepositoryBelow> OpenAt(const std::string& path) {
  using Kind = RepositoryBelow::Kind;
  const PathStamp stamp = LookAt(path);
  Kind kind = stamp.IsRegular() ? Kind::kLink : Kind::kOther;
  if (stamp.IsDirectory()) kind = path.ends_with("/.git") ? Kind::kDirectory : Kind::kBare;
  if (stamp.IsAbsent()) return std::nullopt;
  if (kind == Kind::kBare && !policy::IsGitDirectory(path).value_or(true)) return std::nullopt;
  return RepositoryBelow{.path = path, .kind = kind};
}

// As whoever can write there judges it.
Changes JudgeOpen(const std::string& path, const NestedRepositories::Maker& maker,
                  Quarantine& quarantine) {
  const std::optional<RepositoryBelow> one = OpenAt(path);
  if (!one) return {};
  std::vector<policy::KeptDirectory> kept = {{maker.directory + "/.git", true}};
  for (const RepositoryBelow& other : *maker.existing) kept.push_back({other.path, true});
  return Judge(*one, {.directory = maker.directory, .kept = kept}, quarantine);
}

// Those that are too many: the first are named, and all that stay.
Changes TakeAway(const Repositories& excess, const std::string& area, Quarantine& quarantine) {
  constexpr std::size_t kMaxNamed = 8;
  const std::string what = fmt::format("commands made more than {}", kMaxMade);
  Changes changes;
  for (const RepositoryBelow& one : excess) {
    ProtectedChange change = TakeOut({one.path, what}, area, quarantine);
    if (!change.restored || changes.size() < kMaxNamed) changes.push_back(std::move(change));
  }
  return changes;
}

// What the command has closed on the way to what was found; the user's stays as it was.
void OpenUp(const ScannedTree& tree, const std::string& area,
            const std::vector<std::string>& users) {
  std::set<std::string> closed(tree.closed.begin(), tree.closed.end());
  for (const std::string& one : users) closed.erase(one);
  for (auto name = tree.names.begin(); name != tree.names.end() && !closed.empty(); ++name) {
    for (std::string at = name->directory; !at.empty();) {
      if (closed.erase(at) != 0) OpenUp(area, area + "/" + at);
      const std::size_t slash = at.rfind('/');
      at.resize(slash == at.npos ? 0 : slash);
    }
  }
}

// What an earlier look found, and this one did not come to.
void AddKnown(Repositories& found, const Repositories& known) {
  std::set<std::string_view> paths;
  Repositories more;
  for (const RepositoryBelow& one : found) paths.insert(one.path);
  for (const RepositoryBelow& one : known) {
    if (paths.contains(one.path)) continue;
    const auto now = policy::Identify(one.path, one.kind);
    if (!now || (*now && (*now)->Same(one))) more.push_back(one);
  }
  std::ranges::move(more, std::back_inserter(found));
  std::ranges::sort(found, {}, &RepositoryBelow::path);
}

}  // namespace

// Looked at by one thread at a time.
struct NestedRepositories::Scan {
  explicit Scan(std::string path) : directory(std::move(path)) {}
  const std::string directory;
  std::timed_mutex looking;
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

Task<NestedRepositories::Seen> NestedRepositories::Look(policy::WorkingDirectory directory,
                                                        Watch ended, GivenUp given_up) {
  const std::shared_ptr<Scan> scan = ScanOf(directory.path());
  const auto seen = [directory, ended](ScannedTree& tree) {
    if (ended) OpenUp(tree, directory.path(), ended->closed);
    Repositories found = policy::RepositoriesBelow(tree, directory.path());
    return Seen{std::move(found), Unseen(tree), std::move(tree.closed)};
  };
  // The first look reads each directory, which may be a wait for a disk: none for the loop.
  if (std::unique_lock lock(scan->looking, std::try_to_lock); lock && scan->known) {
    ScannedTree tree = scan->tree.Look(directory.fd(), kLookAtOnce);
    if (tree.Complete()) co_return seen(tree);
  }
  const Repositories known = KnownBelow(directory.path());
  const auto look = [scan, directory, seen, known, given_up, limits = limits_, first = first_] {
    std::unique_lock lock(scan->looking, std::defer_lock);
    while (!lock.try_lock_for(kWaitForALook)) {
      if (IsSet(given_up)) return Seen{};
    }
    ScanLimits within = scan->known ? limits : first;
    within.given_up = given_up.get();
    ScannedTree tree = scan->tree.Look(directory.fd(), within);
    if (IsSet(given_up)) return Seen{};
    scan->known = true;
    Seen all = seen(tree);
    if (!all.unseen.empty()) AddKnown(all.repositories, known);
    return all;
  };
  Task<Seen> task = InBackground<Seen>(loop_, look);
  Seen result = co_await task;
  co_return result;
}

// The user's, as far as a look has ever seen them.
Repositories NestedRepositories::KnownBelow(const std::string& directory) const {
  const std::string prefix = directory == "/" ? directory : directory + "/";
  Repositories known;
  for (auto at = users_.lower_bound(prefix); at != users_.end() && at->first.starts_with(prefix);
       ++at) {
    known.push_back(at->second);
  }
  return known;
}

void NestedRepositories::Learn(const Watched& watched) {
  if (watched.complete) {
    for (const RepositoryBelow& one : KnownBelow(watched.directory.path())) users_.erase(one.path);
  }
  for (const RepositoryBelow& one : watched.existing) {
    if (users_.size() < kMaxUsers || users_.contains(one.path)) users_[one.path] = one;
  }
}

std::string NestedRepositories::FileOf(const RepositoryBelow& one,
                                       const policy::Policy& policy) const {
  const Result<std::string> directory =
      FindStateDirectory(policy, state_home_, kRepositoriesDirectory);
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

// Where not everything was seen before the command, the birth tells, which nobody can set.
bool NestedRepositories::CanHaveMade(const Watched& watched, const RepositoryBelow& one) {
  if (HoldsInPlace(watched.existing, one)) return false;
  if (Holds(watched.existing, one)) return true;  // whoever moved it can have written in it
  return watched.complete || one.born_ns >= watched.began_ns;
}

bool NestedRepositories::CanMake(const Bounds& bounds, const std::string& path,
                                 const policy::Policy& policy) const {
  if (path == bounds.directory || !policy::IsBeneath(path, bounds.directory)) return false;
  if (Holds(bounds, path)) return false;
  const auto now = policy::Identify(path, RepositoryBelow::Kind::kOther);
  if (bounds.complete || !now || !*now) return true;
  return (*now)->born_ns >= bounds.began_ns || IsMade(**now, policy).value_or(true);
}

std::optional<NestedRepositories::Maker> NestedRepositories::MakerOf(
    const std::string& path, const Company& company, const Watch& self,
    const policy::Policy& policy) const {
  for (const std::shared_ptr<const Bounds>& bounds : company) {
    if (self && bounds == self->bounds) continue;
    if (CanMake(*bounds, path, policy)) return *bounds;
    for (const auto& [open, maker] : bounds->open) {
      if (policy::IsBeneath(path, open)) return maker;
    }
  }
  return std::nullopt;
}

std::shared_ptr<const NestedRepositories::Company> NestedRepositories::Gather() {
  auto company = std::make_shared<Company>();
  for (const std::weak_ptr<const Watched>& weak : active_) {
    if (const Watch other = weak.lock()) company->push_back(other->bounds);
  }
  std::erase_if(gathered_, [](const std::weak_ptr<Company>& weak) { return weak.expired(); });
  gathered_.push_back(company);
  return company;
}

void NestedRepositories::LeaveOpen(const Watch& watch, const Company& company,
                                   const std::vector<std::string>& open) {
  for (const std::string& path : open) {
    const std::optional<Maker> maker = MakerOf(path, company, watch, *watch->policy);
    if (maker) watch->bounds->open.emplace(path, *maker);
  }
}

// A command that began before it was there runs still, or one that has it open. Whose working
// directory's own it is holds it.
bool NestedRepositories::IsBeingMade(const RepositoryBelow& one) const {
  return std::ranges::any_of(active_, [&](const std::weak_ptr<const Watched>& weak) {
    const Watch other = weak.lock();
    if (!other) return false;
    if (other->bounds->open.contains(one.path)) return true;
    const std::string& directory = other->directory.path();
    const bool own = one.path == directory || one.path == directory + "/.git";
    return !own && policy::IsBeneath(one.path, directory) && CanHaveMade(*other, one);
  });
}

Result<void> NestedRepositories::Record(const RepositoryBelow& one, const policy::Policy& policy) {
  made_.insert(Id(one));
  const std::string file = FileOf(one, policy);
  if (file.empty()) return {};
  PA_TRY_VOID(MakeStateDirectory(file.substr(0, file.rfind('/'))));
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

// Those of `made` that are not as the last command of ours has left them. What a link of theirs
// leads to in the directory's own repository is the guard's.
Task<Repositories> NestedRepositories::Unclean(const Repositories& made, const Watched& watched,
                                               GivenUp given_up) {
  std::vector<policy::KeptDirectory> kept = {{watched.directory.path() + "/.git", true}};
  for (const RepositoryBelow& one : watched.existing) kept.push_back({one.path, true});
  const std::string area = watched.directory.path();
  Task<Repositories> judging = InBackground<Repositories>(loop_, [made, kept, area, given_up] {
    Repositories unclean;
    for (const RepositoryBelow& one : made) {
      if (IsSet(given_up)) break;
      const auto found = policy::FindForeign(one, {.directory = area, .kept = kept});
      if (!found.empty()) unclean.push_back(one);
    }
    return unclean;
  });
  Repositories unclean = co_await judging;
  co_return unclean;
}

Task<NestedRepositories::Watch> NestedRepositories::Begin(policy::WorkingDirectory directory,
                                                          policy::PolicyPtr policy,
                                                          GivenUp given_up) {
  const std::int64_t began_ns = NowNs();
  Task<Seen> look = Look(directory, nullptr, given_up);
  const Seen seen = co_await look;
  auto watched = std::make_shared<Watched>(Watched{.directory = directory,
                                                   .policy = policy,
                                                   .complete = seen.unseen.empty(),
                                                   .began_ns = began_ns,
                                                   .closed = seen.closed});
  for (const RepositoryBelow& one : seen.repositories) {
    if (IsBeingMade(one)) continue;
    const Result<bool> is_made = IsMade(one, *policy);
    if (!is_made) watched->unread = is_made.error().Message();
    (is_made.value_or(false) ? watched->made : watched->existing).push_back(one);
  }
  if (!watched->made.empty()) {
    Task<Repositories> judging = Unclean(watched->made, *watched, given_up);
    const Repositories unclean = co_await judging;
    for (const RepositoryBelow& one : unclean) {
      if (IsBeingMade(one)) continue;
      Forget(one, *policy);
      std::erase(watched->made, one);
      watched->existing.push_back(one);
    }
    std::ranges::sort(watched->existing, {}, &RepositoryBelow::path);
  }
  if (IsSet(given_up)) co_return nullptr;
  Learn(*watched);
  std::erase_if(active_, [](const std::weak_ptr<const Watched>& weak) { return weak.expired(); });
  Bounds& bounds = *watched->bounds;
  bounds.directory = directory.path();
  bounds.existing = std::make_shared<const Repositories>(watched->existing);
  bounds.complete = watched->complete;
  bounds.began_ns = began_ns;
  active_.push_back(watched);
  for (const std::weak_ptr<Company>& weak : gathered_) {
    if (const std::shared_ptr<Company> company = weak.lock()) company->push_back(watched->bounds);
  }
  co_return watched;
}

NestedRepositories::Judged NestedRepositories::Remember(const Watched& watched, const Seen& seen) {
  Judged judged;
  Repositories fresh;
  Repositories users;
  std::string unrecorded;
  std::size_t room = kMaxMade - std::min(kMaxMade, watched.made.size());
  for (const RepositoryBelow& one : seen.repositories) {
    if (HoldsInPlace(watched.existing, one)) continue;
    const bool known = IsMade(one, *watched.policy).value_or(false);
    if (!known && !CanHaveMade(watched, one)) {
      users.push_back(one);
    } else if (!known && room == 0) {
      judged.excess.push_back(one);
    } else {
      judged.made.push_back(one);
      if (known) continue;
      --room;
      const Result<void> recorded = Record(one, *watched.policy);
      if (!recorded) unrecorded = recorded.error().Message();
      fresh.push_back(one);
    }
  }
  // What was moved out of the directory is gone, too: where it is found next, it is the user's.
  for (const RepositoryBelow& one : watched.made) {
    if (seen.unseen.empty() && !Holds(seen.repositories, one)) Forget(one, *watched.policy);
  }
  const std::string& directory = watched.directory.path();
  Append(judged.warning, Named(directory, fresh, "new ", ""));
  Append(judged.warning,
         Named(directory, users, "",
               " could not be inspected before the command; they count as the user's: "
               "their hooks and configuration were not checked"));
  constexpr char kTooMany[] = " were moved to the quarantine, because commands made too many";
  Append(judged.warning, Named(directory, judged.excess, "", kTooMany));
  Append(judged.warning, seen.unseen);
  constexpr char kKept[] =
      "git repositories below the working directory were kept as they are, because";
  if (!watched.unread.empty()) {
    Append(judged.warning, fmt::format("{} it cannot be read which of them commands made: {}",
                                       kKept, watched.unread));
  }
  constexpr char kUnrecorded[] =
      "they are kept as they are as soon as this server has ended, because";
  if (!unrecorded.empty()) {
    Append(judged.warning, fmt::format("{} it cannot be recorded that a command made them: {}",
                                       kUnrecorded, unrecorded));
  }
  return judged;
}

Task<NestedRepositories::Ended> NestedRepositories::End(Watch watch,
                                                        std::vector<policy::KeptDirectory> kept) {
  Task<Seen> look = Look(watch->directory, watch, nullptr);
  const Seen seen = co_await look;
  Judged judged = Remember(*watch, seen);
  Ended ended{.warning = std::move(judged.warning)};
  const std::map<std::string, Maker>& open = watch->bounds->open;
  if (judged.made.empty() && judged.excess.empty() && open.empty()) co_return ended;
  for (const RepositoryBelow& one : watch->existing) kept.push_back({one.path});
  const std::string place =
      FindStateDirectory(*watch->policy, state_home_, kQuarantineDirectory).value_or("");
  Task<Changes> judging = InBackground<Changes>(loop_, [watch, judged, kept, place] {
    const policy::JudgedWithin within = {.directory = watch->directory.path(),
                                         .kept = kept,
                                         .since_ns = watch->complete ? 0 : watch->began_ns,
                                         .made = judged.made};
    Quarantine quarantine(place);
    Changes changes = TakeAway(judged.excess, within.directory, quarantine);
    for (const RepositoryBelow& one : judged.made) {
      std::ranges::move(Judge(one, within, quarantine), std::back_inserter(changes));
    }
    for (const auto& [path, maker] : watch->bounds->open) {
      std::ranges::move(JudgeOpen(path, maker, quarantine), std::back_inserter(changes));
    }
    return changes;
  });
  ended.changes = co_await judging;
  co_return ended;
}

}  // namespace pa
