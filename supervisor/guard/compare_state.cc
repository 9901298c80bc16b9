#include "supervisor/guard/compare_state.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "policy/path.h"
#include "supervisor/guard/read_state.h"

namespace pa {
namespace {

using policy::ProtectedPath;
using Kind = ProtectedPath::Kind;

// What was found when a command has ended, and what is done about it.
class Ending {
 public:
  explicit Ending(const Comparison& comparison)
      : query_(comparison.query),
        found_(comparison.state),
        condemned_(comparison.condemned),
        record_(comparison.record),
        quarantine_(comparison.quarantine) {}

  Restored Run();

 private:
  void ReadIndexes();
  void SearchAgain();
  void NoteUnreadable(const Error& error);
  void ReportUnseen();
  void PutDecidersBack();
  void RestoreRepositories();
  std::vector<GuardedPath> Baseline() const;
  bool IsCondemned(const std::string& path) const;
  void LeaveToTheUser(std::vector<GuardedPath>& baseline);

  const GuardQuery& query_;
  const GuardedState& found_;
  const CondemnedPaths& condemned_;
  const MountRecord& record_;
  const std::string& quarantine_;
  std::unordered_set<std::string> left_to_the_user_;
  std::vector<std::pair<std::string, std::string>>
      links_;                  // `.git` of each new submodule, its area
  bool decided_anew_ = false;  // another search may find something else
  std::string unreadable_;     // why another search would find nothing, or ""
  bool unseen_ = false;        // for want of descriptors, say: another time it may
  std::vector<ProtectedChange> changes_;
  std::vector<GuardedPath> owed_;
};

void Ending::ReadIndexes() {
  for (const policy::ProtectedPaths::Index& index : found_.indexes) {
    if (SameIndex(index)) continue;
    const Result<std::vector<std::string>> links = policy::SubmodulesOf(index);
    if (!links) {
      if (unreadable_.empty()) NoteUnreadable(links.error());
      continue;
    }
    decided_anew_ = decided_anew_ || *links != index.links;
    for (const std::string& link : *links) {
      const char* slash = link.starts_with('/') ? "" : "/";
      links_.emplace_back(index.top + slash + link + "/.git", index.area);
    }
  }
}

bool Ending::IsCondemned(const std::string& path) const {
  return std::ranges::any_of(condemned_,
                             [&](const auto& one) { return policy::IsBeneath(path, one.first); });
}

// What must be there now: what was found, but for what has turned out to be another command's
// doing, and no repository in what the index has come to call a submodule.
std::vector<GuardedPath> Ending::Baseline() const {
  std::vector<GuardedPath> paths = found_.paths;
  // A mount goes with the directory that it covered: the command could write the new one.
  std::vector<std::string> replaced;
  for (const GuardedPath& one : found_.paths) {
    const bool same = LookAt(one.path.path).SameFile(one.image->stamp);
    if (one.path.kind == Kind::kReadOnly && !same) replaced.push_back(one.path.path);
  }
  for (const GuardedPath& one : found_.within_read_only) {
    if (IsBeneathAny(replaced, one.path.path)) paths.push_back(one);
  }
  if (!condemned_.empty()) {
    std::erase_if(paths, [&](const GuardedPath& one) { return IsCondemned(one.path.path); });
  }
  for (const auto& [path, area] : condemned_) {
    if (IsBeneathAny(query_.writable, path)) paths.push_back(AbsentPath(path, area));
  }
  std::unordered_set<std::string> known;
  for (const GuardedPath& one : paths) known.insert(one.path.path);
  for (const auto& [path, area] : links_) {
    if (known.insert(path).second) paths.push_back(AbsentPath(path, area));
  }
  SortByPath(paths);
  return paths;
}

// What no command can have done is no change, and must not be undone.
void Ending::LeaveToTheUser(std::vector<GuardedPath>& baseline) {
  policy::HolderLook holders;
  std::erase_if(baseline, [&](GuardedPath& guarded) {
    if (Untouched(guarded, holders)) return false;
    // In place, commands write in it; only that it was moved or removed can be known.
    const bool in_place = LookAt(guarded.path.path).SameFile(guarded.image->stamp);
    if (IsPinned(guarded.path.kind) && in_place) return false;
    MountRecord::Judgement judgement = record_.JudgeOf(guarded);
    guarded.saved = std::move(judgement.saved);
    guarded.saved_is_certain = judgement.certain;
    const bool users = judgement.by == MountRecord::Judgement::By::kUser;
    if (users) left_to_the_user_.insert(guarded.path.path);
    return users;
  });
}

// A repository that is gone, or of which git could make nothing any more.
void Ending::RestoreRepositories() {
  std::vector<GuardedPath> kept = found_.paths;
  kept.insert(kept.end(), found_.deciders.begin(), found_.deciders.end());
  for (const auto& held : found_.copies) {
    const RepositoryCopy& copy = *held;
    const bool users = left_to_the_user_.contains(copy.path);
    if (users || IsCondemned(copy.path) || IsCurrent(copy)) continue;
    const Result<bool> intact = IsIntact(copy);
    if (!intact) {
      changes_.push_back({.path = copy.path,
                          .kind = ChangeKind::kNotCompared,
                          .failure = intact.error().Message()});
    }
    if (!intact || *intact) continue;
    // One line says it.
    std::erase_if(changes_, [&](const ProtectedChange& change) {
      return !change.restored && policy::IsBeneath(change.path, copy.path);
    });
    changes_.push_back(RestoreRepository(copy, kept, quarantine_));
  }
}

// Whatever the command left there, the next one must find what is protected.
void Ending::SearchAgain() {
  const Result<policy::ProtectedPaths> found = policy::FindProtectedPaths(query_.Query());
  unreadable_.clear();
  if (!found) NoteUnreadable(found.error());
}

void Ending::NoteUnreadable(const Error& error) {
  unreadable_ = error.Message();
  unseen_ = error.sys_errno != 0 && !MeansGone(error.sys_errno);
}

// The command did not bring it about, and what it changed may be lawful.
void Ending::ReportUnseen() {
  changes_.push_back(
      {.path = query_.directory, .kind = ChangeKind::kNotCompared, .failure = unreadable_});
}

void Ending::PutDecidersBack() {
  std::vector<GuardedPath> deciders = found_.deciders;
  policy::HolderLook holders;
  std::erase_if(deciders, [&](const GuardedPath& one) { return Untouched(one, holders); });
  Restored restored = RestorePaths(deciders, quarantine_);
  for (ProtectedChange& change : restored.changes) {
    change.why = unreadable_;
    changes_.push_back(std::move(change));
  }
  std::ranges::move(restored.owed, std::back_inserter(owed_));
  SearchAgain();
  if (unreadable_.empty()) return;
  changes_.push_back(
      {.path = query_.directory, .kind = ChangeKind::kMadeUnreadable, .failure = unreadable_});
}

Restored Ending::Run() {
  ReadIndexes();
  policy::HolderLook look;
  const auto same = [&](const policy::ProtectedPaths::Input& input) {
    return policy::ProtectedPaths::Hold({&input, 1}, look);
  };
  const auto is_index = [&](const policy::ProtectedPaths::Input& input) {
    return std::ranges::any_of(found_.indexes, [&](const auto& index) {
      return input.path == index.path || input.path == index.shared;
    });
  };
  decided_anew_ = decided_anew_ || std::ranges::any_of(found_.inputs, [&](const auto& input) {
                    return !same(input) && !is_index(input);
                  });
  std::vector<GuardedPath> baseline = Baseline();
  LeaveToTheUser(baseline);
  Restored restored = RestorePaths(baseline, quarantine_);
  changes_ = std::move(restored.changes);
  owed_ = std::move(restored.owed);
  RestoreRepositories();
  if (unreadable_.empty() && decided_anew_) SearchAgain();
  if (!unreadable_.empty()) unseen_ ? ReportUnseen() : PutDecidersBack();
  return {std::move(changes_), std::move(owed_)};
}

}  // namespace

Restored RestorePaths(const std::vector<GuardedPath>& baseline, const std::string& quarantine) {
  Restorer restorer(baseline, quarantine);
  Restored restored{.changes = restorer.Run()};
  restored.owed = restorer.TakeOwed();
  return restored;
}

Compared CompareState(const Comparison& comparison) {
  Compared compared{.restored = Ending(comparison).Run()};
  const bool clean = compared.restored.changes.empty() && compared.restored.owed.empty();
  if (comparison.renew && clean) compared.again = ReadAgain(comparison.state, comparison.query);
  return compared;
}

}  // namespace pa
