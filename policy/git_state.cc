// To protect another one: its line with its reason, a case in git_state_test.cc.
#include "policy/git_state.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <string>

namespace pa::policy {
namespace {

constexpr GitStateFile kFiles[] = {
    // `exec` lines run at `git rebase --continue`.
    {"rebase-merge/git-rebase-todo", GitJudgement::kSteps, "git rebase"},
    // git refuses `exec` here; its list is read by the same function.
    {"sequencer/todo", GitJudgement::kSteps, "git sequencer"},
    // Shell scripts, `git rebase` until 2.19, with -p until 2.33, and `git am` until 2.5, source it.
    {"rebase-merge/author-script", GitJudgement::kAuthor, "git rebase"},
    {"rebase-apply/author-script", GitJudgement::kAuthor, "git rebase"},
    // `git bisect visualize` was a shell script that evaluates it.
    {"BISECT_NAMES", GitJudgement::kWords, "git bisect"},
};

// Of git-rebase(1) and sequencer.c, and their short forms. `exec` is not among them, nor is what a later
// git may come to execute.
constexpr std::string_view kHarmless[] = {
    "b",     "break",  "d",      "drop",  "e",      "edit", "f",    "fixup",
    "l",     "label",  "m",      "merge", "noop",   "p",    "pick", "r",
    "reset", "revert", "reword", "s",     "squash", "t",    "u",    "update-ref"};

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::multiset<std::string> Lines(std::string_view text) {
  std::multiset<std::string> lines;
  for (const auto part : std::views::split(text, '\n')) {
    lines.emplace(Trim(std::string_view(part.begin(), part.end())));
  }
  return lines;
}

bool AreSteps(std::string_view before, std::string_view after) {
  std::multiset<std::string> known = Lines(before);
  return std::ranges::all_of(Lines(after), [&](const std::string& line) {
    if (line.empty() || line.starts_with('#')) return true;
    const std::string_view word = std::string_view(line).substr(0, line.find_first_of(" \t"));
    if (std::ranges::find(kHarmless, word) != std::end(kHarmless)) return true;
    const auto stood = known.find(line);
    if (stood == known.end()) return false;
    known.erase(stood);
    return true;
  });
}

// Takes what git has quoted for a shell, `'it'\''s'`, from the front; false if it is something else.
bool TakeQuoted(std::string_view& text) {
  bool some = false;
  while (text.starts_with('\'') || text.starts_with("\\'") || text.starts_with("\\!")) {
    const bool escaped = text.starts_with('\\');
    const std::size_t close = escaped ? 1 : text.find('\'', 1);
    if (close == std::string_view::npos) return false;
    text.remove_prefix(close + 1);
    some = true;
  }
  return some;
}

bool TakeAssignment(std::string_view& text) {
  for (const std::string_view name :
       {"GIT_AUTHOR_NAME=", "GIT_AUTHOR_EMAIL=", "GIT_AUTHOR_DATE="}) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    return true;
  }
  return false;
}

bool AreWords(std::string_view text, bool assigned) {
  constexpr std::string_view kBetween = " \n";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return true;
    if (assigned && !TakeAssignment(text)) return false;
    const bool whole = TakeQuoted(text) && (text.empty() || kBetween.contains(text.front()));
    if (!whole) return false;
  }
}

}  // namespace

std::span<const GitStateFile> GitStateFiles() { return kFiles; }

bool ExecutesNothingNew(GitJudgement judgement, std::string_view before, std::string_view after) {
  if (before == after) return true;
  if (after.contains('\0')) return false;
  if (judgement == GitJudgement::kSteps) return AreSteps(before, after);
  return AreWords(after, judgement == GitJudgement::kAuthor);
}

bool IsHarmlessState(std::string_view path, std::string_view before, std::string_view after) {
  const auto file = std::ranges::find_if(
      kFiles, [&](const GitStateFile& one) { return path.ends_with("/" + std::string(one.name)); });
  return file != std::end(kFiles) && ExecutesNothingNew(file->judgement, before, after);
}

}  // namespace pa::policy
