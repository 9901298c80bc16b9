#include "supervisor/tools/make_database.h"

#include <algorithm>

#include "base/words.h"

namespace pa {
namespace {

constexpr std::string_view kHeader = "# Make data base, printed on ";
constexpr std::string_view kPhonyLine = ".PHONY:";
constexpr std::string_view kPhonyMark = "#  Phony target (prerequisite of .PHONY).";
constexpr std::string_view kMakefileList = "MAKEFILE_LIST := ";
constexpr std::size_t kMaxName = 4096;

// `a b: prerequisites`, `a:: prerequisites` -> the name. A colon within it is followed by something
// else.
std::string_view NameOf(std::string_view entry) {
  for (std::size_t at = entry.find(':'); at != std::string_view::npos;
       at = entry.find(':', at + 1)) {
    std::string_view rest = entry.substr(at + 1);
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (rest.empty() || rest.starts_with(' ')) return entry.substr(0, at);
  }
  return {};
}

}  // namespace

bool IsOfferedTargetName(std::string_view name) {
  constexpr std::string_view kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name.find_first_not_of(kCharacters) == std::string_view::npos;
}

void MakeDatabase::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    Append(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    Finish();
  }
}

void MakeDatabase::Finish() {
  OnLine(line_);
  line_.clear();
  cut_ = false;
}

void MakeDatabase::Append(std::string_view part) {
  const std::size_t room = kMaxLine - line_.size();
  cut_ = cut_ || part.size() > room;
  line_.append(part.substr(0, room));
}

void MakeDatabase::OnLine(std::string_view line) {
  if (line.starts_with(kHeader)) {
    // Before it stands what the Makefile itself printed, which may look like anything; behind it
    // the Makefile prints nothing.
    entry_.clear();
    phony_.clear();
    makefile_list_.clear();
    marked_.clear();
    too_large_ = false;
  } else if (line == kPhonyMark) {
    const std::string_view name = NameOf(entry_);
    too_large_ = too_large_ || marked_.size() >= kMaxTargets;
    if (!name.empty() && !too_large_) marked_.emplace(name);
  } else if (line.starts_with(kPhonyLine)) {
    too_large_ = too_large_ || cut_;
    phony_ = line.substr(kPhonyLine.size());
  } else if (line.starts_with(kMakefileList)) {
    makefile_list_ = line.substr(kMakefileList.size());
  } else if (!line.empty() && line[0] != '#' && line[0] != '\t') {
    entry_ = line.substr(0, kMaxName);
  }
}

MakeDatabase::Targets MakeDatabase::Phony() const {
  Targets targets;
  std::set<std::string, std::less<>> listed;
  for (const std::string_view word : SplitWords(phony_, " ")) {
    std::string name(word);
    if (!marked_.contains(name) || !listed.insert(name).second) continue;
    (IsOfferedTargetName(name) ? targets.offered : targets.refused).push_back(std::move(name));
  }
  for (const std::string& name : marked_) {
    if (!IsOfferedTargetName(name) && !listed.contains(name)) targets.refused.push_back(name);
  }
  return targets;
}

std::vector<std::string> MakeDatabase::Makefiles() const {
  const auto words = SplitWords(makefile_list_, " ");
  return {words.begin(), words.end()};
}

}  // namespace pa
