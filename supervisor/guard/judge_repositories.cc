#include "supervisor/guard/judge_repositories.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "base/path_stamp.h"
#include "base/utf8.h"
#include "supervisor/guard/quarantine.h"
#include "supervisor/state/passable.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

using policy::Foreign;
using policy::RepositoryBelow;
using Changes = std::vector<ProtectedChange>;

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

ProtectedChange TakeOut(const Foreign& foreign, const std::string& area, Quarantine& quarantine) {
  const std::size_t slash = foreign.path.rfind('/');
  const std::string name = foreign.path.substr(slash + 1);
  ProtectedChange change{.path = foreign.path, .kind = ChangeKind::kNewRepository};
  change.why = ShownPath(foreign.what);
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
  const PathStamp stamp = LookAt(path);
  using enum RepositoryBelow::Kind;
  RepositoryBelow::Kind kind = stamp.IsRegular() ? kLink : kOther;
  if (stamp.IsDirectory()) kind = path.ends_with("/.git") ? kDirectory : kBare;
  if (stamp.IsAbsent()) return std::nullopt;
  if (kind == kBare && !policy::IsGitDirectory(path).value_or(true)) return std::nullopt;
  return RepositoryBelow{.path = path, .kind = kind};
}

// As whoever can write there judges it.
Changes JudgeOpen(const std::string& path, const RepositoryMaker& maker, Quarantine& quarantine) {
  const std::optional<RepositoryBelow> one = OpenAt(path);
  if (!one) return {};
  std::vector<policy::KeptDirectory> kept = {{maker.directory + "/.git", true}};
  for (const RepositoryBelow& other : *maker.existing) kept.push_back({other.path, true});
  return Judge(*one, {.directory = maker.directory, .kept = kept}, quarantine);
}

// Those that are too many: the first are named, and all that stay.
Changes TakeAway(const JudgedRepositories& judged, Quarantine& quarantine) {
  constexpr std::size_t kMaxNamed = 8;
  const std::string what = fmt::format("commands made more than {}", judged.most);
  Changes changes;
  for (const RepositoryBelow& one : judged.excess) {
    ProtectedChange change = TakeOut({one.path, what}, judged.directory, quarantine);
    if (!change.restored || changes.size() < kMaxNamed) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

std::string ShownPath(std::string_view path) {
  constexpr std::size_t kLongest = 300;
  if (path.empty()) return ".";
  const bool long_one = path.size() > kLongest;
  return RepairUtf8(Utf8Head(path, kLongest), true) + (long_one ? "..." : "");
}

void OpenUp(const std::string& area, const std::string& directory) {
  std::string gone;
  const UniqueFd top = OpenDirectory(area);
  if (top) (void)OpenParent(top.get(), area, directory + "/.", &gone);
}

std::vector<ProtectedChange> JudgeRepositories(const JudgedRepositories& judged) {
  const policy::JudgedWithin within = {.directory = judged.directory,
                                       .kept = judged.kept,
                                       .since_ns = judged.since_ns,
                                       .made = judged.made};
  Quarantine quarantine(judged.quarantine);
  Changes changes = TakeAway(judged, quarantine);
  for (const RepositoryBelow& one : judged.made) {
    std::ranges::move(Judge(one, within, quarantine), std::back_inserter(changes));
  }
  for (const auto& [path, maker] : judged.open) {
    std::ranges::move(JudgeOpen(path, maker, quarantine), std::back_inserter(changes));
  }
  return changes;
}

RepositoryList FindUnclean(const std::string& directory,
                           const std::vector<policy::KeptDirectory>& kept,
                           const RepositoryList& made) {
  RepositoryList unclean;
  std::ranges::copy_if(made, std::back_inserter(unclean), [&](const RepositoryBelow& one) {
    return !policy::FindForeign(one, {.directory = directory, .kept = kept}).empty();
  });
  return unclean;
}

}  // namespace pa
