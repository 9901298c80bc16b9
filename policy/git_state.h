// Files in which git records an operation in progress (a rebase, a bisection), and of which it
// executes or evaluates something when the operation continues. Commands may write these files as
// long as the new content executes nothing that was not there before.
//
//    for (const GitStateFile& file : GitStateFiles()) ...  // relative to a git directory
//    if (!IsHarmlessState(path, before, after)) ...                    // it must not stay
#pragma once

#include <span>
#include <string_view>

namespace pa::policy {

enum class GitJudgement {
  kSteps,   // a list of steps: harmless ones (pick, reword, ...), and those that were there before
  kWords,   // words in single quotes, which a shell would only split
  kAuthor,  // the same, assigned to GIT_AUTHOR_NAME, _EMAIL and _DATE
  // Options that git passes to other programs of its own; each has an allow-list:
  // A merge strategy, by name: git executes `git-merge-NAME`, from the working tree if there is a
  // slash in the name.
  kStrategy,
  kMergeOptions,  // options of such a strategy
  kApplyOptions,  // options of git apply
  kSigning,       // -S with a key
  kRerere,        // --rerere-autoupdate or its opposite
  kObject,        // the name of an object
  kSheet,         // configuration with the options of cherry-pick and revert, those above included
};

struct GitStateFile {
  std::string_view name;
  GitJudgement judgement;
  std::string_view reason;
};

std::span<const GitStateFile> GitStateFiles();

// `before`: "" if there was no file. Content that is not understood counts as executing something
// new.
bool ExecutesNothingNew(GitJudgement judgement, std::string_view before, std::string_view after);
// The same for `path`, a file in a git directory, by the judgement that belongs to its name; false
// for other names.
bool IsHarmlessState(std::string_view path, std::string_view before, std::string_view after);

}  // namespace pa::policy
