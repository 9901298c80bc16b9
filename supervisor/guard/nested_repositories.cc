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
#include <utility>

#include "base/file.h"
#include "base/file_clock.h"
#include "base/finally.h"
#include "base/path_stamp.h"
#include "base/tree_scan.h"
#include "base/try.h"
#include "base/utf8.h"
#include "policy/path.h"
#include "supervisor/guard/guard_chores.h"
#include "supervisor/guard/guard_fields.h"
#include "supervisor/guard/quarantine.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/pause.h"
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
// Who waits for another's look sees as soon that it has ended, or that nobody waits any more.
constexpr std::chrono::milliseconds kWaitForALook{2};
constexpr std::chrono::seconds kReadingEnds{10};  // after its own limit, on a busy machine

bool IsSet(const NestedRepositories::GivenUp& given_up) {
  return given_up != nullptr && given_up->IsSet();
}

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

std::string Unseen(const ScannedTree& tree) {
  constexpr char kStart[] = "git repositories below the working directory were looked for only";
  if (!tree.exceeded.empty()) {
    return fmt::format("{} within limits ({}); work in a directory further below", kStart,
                       tree.exceeded);
  }
  if (!tree.deeper.empty()) {
    return fmt::format("{} within limits ({} levels, in {}); work in a directory further below",
                       kStart, ScanLimits().depth, ShownPath(tree.deeper));
  }
  if (tree.unreadable.empty()) return "";
  return fmt::format("{} where it can be read: not in {}{}", kStart,
                     ShownPath(tree.unreadable.front()),
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
    text += (i == 0 ? " " : ", ") +
            ShownPath(std::string_view(found[i].path).substr(directory.size() + 1));
  }
  if (found.size() > kMaxNamed) text += ", ...";
  return text;
}

// What the command has closed on the way to what was found; the user's stays as it was.
void OpenClosed(const ScannedTree& tree, const std::string& area,
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

bool IsName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && !name.contains('/') &&
         !name.contains('\0');
}

bool IsPlausible(const ReadTree& read, const ScanLimits& limits) {
  return std::ranges::all_of(read.directories, [&](const ReadDirectory& one) {
    const bool plain = one.path.empty() || IsPlainPath("/" + one.path);
    const bool deep = std::ranges::count(one.path, '/') >= limits.depth;
    return plain && !deep && std::ranges::is_sorted(one.below) &&
           std::ranges::all_of(one.below, IsName) &&
           std::ranges::all_of(one.found, [](const ScannedName& found) {
             return found.directory.empty() && IsName(found.name);
           });
  });
}

}  // namespace

struct NestedRepositories::Scan {
  explicit Scan(std::string path) : directory(std::move(path)) {}
  const std::string directory;
  bool busy = false;  // one look at a time
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

// Names that the janitor read, which may be anybody's.
Task<Result<ReadTree>> NestedRepositories::Read(const policy::WorkingDirectory& directory,
                                                const ChangedTree& changed,
                                                const ScanLimits& limits, GivenUp given_up) {
  if (!changed.exceeded.empty() || changed.directories.empty()) co_return ReadTree();
  auto root = std::make_shared<const UniqueFd>(fcntl(directory.fd(), F_DUPFD_CLOEXEC, 0));
  if (!*root) co_return std::unexpected(Error("dup", directory.path(), errno));
  JanitorOrder order{.chore = kReadDirectories,
                     .read = {directory.path()},
                     .descriptors = {std::move(root)},
                     .time = limits.time + kReadingEnds,
                     .given_up = given_up};
  Task<Result<ReadTree>> reading = Ask<ReadTree>(janitor_, std::move(order), changed.directories,
                                                 limits, std::uint64_t{changed.known});
  Result<ReadTree> read = co_await reading;
  if (read && !IsPlausible(*read, limits)) {
    co_return std::unexpected(Error("janitor", "its answer names no directories", EBADMSG));
  }
  co_return read;
}

Task<Result<NestedRepositories::Seen>> NestedRepositories::Look(policy::WorkingDirectory directory,
                                                                Watch ended, GivenUp given_up) {
  const Error cancelled("look", directory.path(), ECANCELED);
  const std::shared_ptr<Scan> scan = ScanOf(directory.path());
  while (scan->busy) {
    if (IsSet(given_up)) co_return std::unexpected(cancelled);
    Task<bool> pause = Pause(loop_, kWaitForALook);
    [[maybe_unused]] const bool over = co_await pause;
  }
  scan->busy = true;
  const Finally done([&] { scan->busy = false; });
  ScanLimits within = scan->known ? limits_ : first_;
  within.given_up = given_up == nullptr ? nullptr : given_up->flag();
  // The first look is a wait for a disk: none for the loop.
  ChangedTree changed{.exceeded = "nothing is known"};
  if (scan->known) changed = scan->tree.Check(directory.fd(), kLookAtOnce);
  const bool small = changed.exceeded.empty() && changed.deeper.empty();
  if (!small) {
    Task<ChangedTree> checking =
        InBackground<ChangedTree>(loop_, [&] { return scan->tree.Check(directory.fd(), within); });
    changed = co_await checking;
  }
  Task<Result<ReadTree>> reading = Read(directory, changed, within, given_up);
  Result<ReadTree> read = co_await reading;
  if (IsSet(given_up) || !read) co_return std::unexpected(read ? cancelled : read.error());
  scan->known = true;
  const bool few = small && read->directories.size() <= kLookAtOnce.directories;
  const auto take = [&] {
    ScannedTree tree = scan->tree.Take(changed, std::move(*read), within);
    if (ended) OpenClosed(tree, directory.path(), ended->closed);
    Repositories found = policy::RepositoriesBelow(tree, directory.path());
    return Seen{std::move(found), Unseen(tree), std::move(tree.closed)};
  };
  Seen seen;
  if (few) {
    seen = take();
  } else {
    Task<Seen> taking = InBackground<Seen>(loop_, take);
    seen = co_await taking;
  }
  if (!seen.unseen.empty()) AddKnown(seen.repositories, KnownBelow(directory.path()));
  co_return seen;
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
Task<Result<Repositories>> NestedRepositories::Unclean(const Repositories& made,
                                                       const Watched& watched, GivenUp given_up) {
  std::vector<policy::KeptDirectory> kept = {{watched.directory.path() + "/.git", true}};
  for (const RepositoryBelow& one : watched.existing) kept.push_back({one.path, true});
  const std::string area = watched.directory.path();
  JanitorOrder order{.chore = kFindUnclean, .read = {area}, .given_up = given_up};
  Task<Result<Repositories>> judging =
      Ask<Repositories>(janitor_, std::move(order), area, kept, made);
  Result<Repositories> unclean = co_await judging;
  co_return unclean;
}

// What has been judged by now is told of by the next command there.
Task<Result<void>> NestedRepositories::JudgeOwed(const std::string& directory) {
  const auto touches = [&](const Owed& one) {
    const std::string& owed = one.watch->directory.path();
    return policy::IsBeneath(owed, directory) || policy::IsBeneath(directory, owed);
  };
  for (;;) {
    const auto at = std::ranges::find_if(owed_, touches);
    if (at == owed_.end()) co_return Result<void>();
    if (at->judging) {
      Task<bool> pause = Pause(loop_, kWaitForALook);
      [[maybe_unused]] const bool over = co_await pause;
      continue;
    }
    at->judging = true;
    bool judged = false;
    const Finally done([&] { judged ? void(owed_.erase(at)) : void(at->judging = false); });
    Task<Result<Ended>> ending = TryToEnd(at->watch, at->kept);
    Result<Ended> ended = co_await ending;
    if (!ended) co_return std::unexpected(ended.error());
    std::ranges::move(ended->changes, std::back_inserter(late_));
    judged = true;
  }
}

Task<Result<NestedRepositories::Watch>> NestedRepositories::Begin(
    policy::WorkingDirectory directory, policy::PolicyPtr policy, GivenUp given_up) {
  if (!owed_.empty()) {
    Task<Result<void>> judging = JudgeOwed(directory.path());
    const Result<void> judged = co_await judging;
    if (!judged) co_return std::unexpected(judged.error());
  }
  const std::int64_t began_ns = NowNs();
  Task<Result<Seen>> look = Look(directory, nullptr, given_up);
  const Result<Seen> looked = co_await look;
  if (!looked) co_return std::unexpected(looked.error());
  const Seen& seen = *looked;
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
    Task<Result<Repositories>> judging = Unclean(watched->made, *watched, given_up);
    const Result<Repositories> unclean = co_await judging;
    if (IsSet(given_up)) {
      co_return std::unexpected(Error("look", directory.path(), ECANCELED));
    }
    if (!unclean) co_return std::unexpected(unclean.error());
    for (const RepositoryBelow& one : *unclean) {
      if (IsBeingMade(one)) continue;
      Forget(one, *policy);
      std::erase(watched->made, one);
      watched->existing.push_back(one);
    }
    std::ranges::sort(watched->existing, {}, &RepositoryBelow::path);
  }
  if (IsSet(given_up)) co_return std::unexpected(Error("look", directory.path(), ECANCELED));
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
  co_return Watch(watched);
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
  Task<Result<Ended>> ending = TryToEnd(watch, kept);
  Result<Ended> tried = co_await ending;
  Ended ended;
  if (tried) {
    ended = *std::move(tried);
  } else {
    ended.changes.push_back({.path = watch->directory.path(),
                             .kind = ChangeKind::kNotCompared,
                             .failure = tried.error().Message()});
    owed_.push_back({watch, std::move(kept)});
  }
  std::ranges::move(std::exchange(late_, {}), std::back_inserter(ended.changes));
  co_return ended;
}

Task<Result<NestedRepositories::Ended>> NestedRepositories::TryToEnd(
    Watch watch, std::vector<policy::KeptDirectory> kept) {
  Task<Result<Seen>> look = Look(watch->directory, watch, nullptr);
  const Result<Seen> seen = co_await look;
  if (!seen) co_return std::unexpected(seen.error());
  Judged judged = Remember(*watch, *seen);
  Ended ended{.warning = std::move(judged.warning)};
  const std::map<std::string, Maker>& open = watch->bounds->open;
  if (judged.made.empty() && judged.excess.empty() && open.empty()) co_return ended;
  for (const RepositoryBelow& one : watch->existing) kept.push_back({one.path});
  const std::string place =
      FindStateDirectory(*watch->policy, state_home_, kQuarantineDirectory).value_or("");
  const std::string area = watch->directory.path();
  const JudgedRepositories judged_within{.directory = area,
                                         .kept = kept,
                                         .since_ns = watch->complete ? 0 : watch->began_ns,
                                         .made = judged.made,
                                         .excess = judged.excess,
                                         .most = kMaxMade,
                                         .open = watch->bounds->open,
                                         .quarantine = place};
  JanitorOrder order{.chore = kJudgeRepositories, .read = {area}, .write = {area}};
  if (!place.empty() && MakeStateDirectory(place)) order.write.push_back(place);
  Task<Result<Changes>> judging = Ask<Changes>(janitor_, std::move(order), judged_within);
  Result<Changes> changes = co_await judging;
  if (!changes) co_return std::unexpected(changes.error());
  ended.changes = *std::move(changes);
  co_return ended;
}

}  // namespace pa
