// To protect another one: its line with its reason, a case in git_state_test.cc.
#include "policy/git_state.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <ranges>
#include <set>
#include <string>

#include "base/words.h"
#include "policy/git_config.h"

namespace pa::policy {
namespace {

constexpr GitStateFile kFiles[] = {
    // `exec` lines run at `git rebase --continue`.
    {"rebase-merge/git-rebase-todo", GitJudgement::kSteps, "git rebase"},
    // git refuses `exec` here; its list is read by the same function.
    {"sequencer/todo", GitJudgement::kSteps, "git sequencer"},
    // Shell scripts, `git rebase` until 2.19, with -p until 2.33, and `git am` until 2.5, source
    // it.
    {"rebase-merge/author-script", GitJudgement::kAuthor, "git rebase"},
    {"rebase-apply/author-script", GitJudgement::kAuthor, "git rebase"},
    // `git bisect visualize` was a shell script that evaluates it.
    {"BISECT_NAMES", GitJudgement::kWords, "git bisect"},
    // `git rebase --continue` executes `git merge-STRATEGY --OPTION`. git-merge-resolve is a script
    // that hands the option to `git read-tree`, where it can write a file anywhere.
    {"rebase-merge/strategy", GitJudgement::kStrategy, "git rebase"},
    {"rebase-merge/strategy_opts", GitJudgement::kMergeOptions, "git rebase"},
    {"sequencer/opts", GitJudgement::kSheet, "git sequencer"},
    // One of these writes a file anywhere, too (--build-fake-ancestor).
    {"rebase-apply/apply-opt", GitJudgement::kApplyOptions, "git am"},
    // An argument of `git am` or `git commit`, `git am` and `git stash`.
    {"rebase-merge/gpg_sign_opt", GitJudgement::kSigning, "git rebase"},
    {"rebase-apply/gpg_sign_opt", GitJudgement::kSigning, "git rebase"},
    {"rebase-merge/allow_rerere_autoupdate", GitJudgement::kRerere, "git rebase"},
    {"rebase-apply/allow_rerere_autoupdate", GitJudgement::kRerere, "git rebase"},
    {"rebase-merge/autostash", GitJudgement::kObject, "git rebase"},
    {"rebase-apply/autostash", GitJudgement::kObject, "git rebase"},
    {"MERGE_AUTOSTASH", GitJudgement::kObject, "git merge"},
};

// A * at the end stands for a value of harmless characters.
using Allowed = std::span<const std::string_view>;
constexpr std::string_view kStrategies[] = {"resolve", "recursive", "ort",
                                            "octopus", "ours",      "subtree"};
// parse_merge_opt of merge-ort-wrappers.c and merge-recursive.c.
constexpr std::string_view kMergeOptions[] = {"ours",
                                              "theirs",
                                              "subtree",
                                              "subtree=*",
                                              "patience",
                                              "histogram",
                                              "diff-algorithm=*",
                                              "ignore-space-change",
                                              "ignore-all-space",
                                              "ignore-space-at-eol",
                                              "ignore-cr-at-eol",
                                              "renormalize",
                                              "no-renormalize",
                                              "no-renames",
                                              "find-renames",
                                              "find-renames=*",
                                              "rename-threshold=*"};
// Those that git am and git rebase take for git apply.
constexpr std::string_view kApplyOptions[] = {
    "whitespace=*", "ignore-space-change", "ignore-whitespace", "-C*",   "-p*",
    "directory=*",  "exclude=*",           "include=*",         "reject"};
constexpr std::string_view kSigningOptions[] = {"-S*"};
constexpr std::string_view kRerere[] = {"rerere-autoupdate", "no-rerere-autoupdate"};
// Of sequencer.c, populate_opts_cb: a number, a truth value or a word that git compares.
constexpr std::string_view kPlainOptions[] = {"no-commit",
                                              "edit",
                                              "allow-empty",
                                              "allow-empty-message",
                                              "drop-redundant-commits",
                                              "keep-redundant-commits",
                                              "signoff",
                                              "record-origin",
                                              "allow-ff",
                                              "mainline",
                                              "allow-rerere-auto",
                                              "default-msg-cleanup"};

// Of git-rebase(1) and sequencer.c, and their short forms. `exec` is not among them, nor is what a
// later git may come to execute.
constexpr std::string_view kHarmless[] = {
    "b",     "break",  "d",      "drop",  "e",      "edit", "f",    "fixup",
    "l",     "label",  "m",      "merge", "noop",   "p",    "pick", "r",
    "reset", "revert", "reword", "s",     "squash", "t",    "u",    "update-ref"};

std::multiset<std::string> Lines(std::string_view text) {
  std::multiset<std::string> lines;
  for (const auto part : std::views::split(text, '\n')) {
    lines.emplace(Trimmed(std::string_view(part.begin(), part.end()), " \t\r"));
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

// Takes what git has quoted for a shell, `'it'\''s'`, from the front; false if it is something
// else.
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

bool IsAllowed(std::string_view word, Allowed allowed) {
  const auto harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("%._/@+:=!,-").contains(c);
  };
  return std::ranges::any_of(allowed, [&](std::string_view one) {
    if (!one.ends_with('*')) return word == one;
    one.remove_suffix(1);
    return word.starts_with(one) && std::ranges::all_of(word.substr(one.size()), harmless);
  });
}

// Each word of it, without the quotes of a shell or of git's around it, and without two dashes
// before it.
bool AreAllowed(std::string_view text, Allowed allowed) {
  std::string plain;
  for (const char c : text) {
    if (c != '\'' && c != '"') plain += c == '\n' ? ' ' : c;
  }
  return std::ranges::all_of(std::views::split(plain, ' '), [&](const auto part) {
    std::string_view word(part.begin(), part.end());
    if (word.starts_with("--")) word.remove_prefix(2);
    return (word.empty() && part.empty()) || IsAllowed(word, allowed);
  });
}

// It is no path and no word that has to be quoted: all of the file but its last newline.
bool IsStrategy(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() || IsAllowed(text, kStrategies);
}

bool IsObject(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsSheet(std::string_view text) {
  const auto variables = ParseGitConfig(text);
  return variables && std::ranges::all_of(*variables, [](const GitVariable& variable) {
           constexpr std::string_view kSection = "options.";
           if (!variable.name.starts_with(kSection)) return false;
           const std::string_view name = std::string_view(variable.name).substr(kSection.size());
           if (name == "strategy") return IsStrategy(variable.value);
           if (name == "strategy-option") return AreAllowed(variable.value, kMergeOptions);
           if (name == "gpg-sign") return AreAllowed("-S" + variable.value, kSigningOptions);
           return std::ranges::find(kPlainOptions, name) != std::end(kPlainOptions);
         });
}

}  // namespace

std::span<const GitStateFile> GitStateFiles() { return kFiles; }

bool ExecutesNothingNew(GitJudgement judgement, std::string_view before, std::string_view after) {
  if (before == after) return true;
  if (after.contains('\0')) return false;
  switch (judgement) {
    case GitJudgement::kSteps:
      return AreSteps(before, after);
    case GitJudgement::kWords:
    case GitJudgement::kAuthor:
      return AreWords(after, judgement == GitJudgement::kAuthor);
    case GitJudgement::kStrategy:
      return IsStrategy(after);
    case GitJudgement::kMergeOptions:
      return AreAllowed(after, kMergeOptions);
    case GitJudgement::kApplyOptions:
      return AreAllowed(after, kApplyOptions);
    case GitJudgement::kSigning:
      return AreAllowed(after, kSigningOptions);
    case GitJudgement::kRerere:
      return AreAllowed(after, kRerere);
    case GitJudgement::kObject:
      return IsObject(after);
    case GitJudgement::kSheet:
      return IsSheet(after);
  }
  return false;
}

bool IsHarmlessState(std::string_view path, std::string_view before, std::string_view after) {
  const auto file = std::ranges::find_if(
      kFiles, [&](const GitStateFile& one) { return path.ends_with("/" + std::string(one.name)); });
  return file != std::end(kFiles) && ExecutesNothingNew(file->judgement, before, after);
}

}  // namespace pa::policy
