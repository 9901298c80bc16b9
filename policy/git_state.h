// What git writes down of an operation that goes on (a rebase, a bisection), and executes or
// evaluates when it goes on: commands may write that, as long as it executes nothing that did not
// stand there.
//
//   for (const GitStateFile& file : GitStateFiles()) ...  // relative to a git directory
//   if (!IsHarmlessState(path, before, after)) ...                    // it must not stay
#pragma once

#include <span>
#include <string_view>

namespace pa::policy {

enum class GitJudgement {
  kSteps,   // a list of steps: none but those that only make commits, and what stood there before
  kWords,   // words in single quotes: what a shell would only take apart
  kAuthor,  // such words assigned to GIT_AUTHOR_NAME, _EMAIL and _DATE
  // What git hands on to other programs of its own, each an allow-list:
  kStrategy,  // of merging, by its name: git executes `git-merge-NAME`, from the working tree if
              // there is a slash in it
  kMergeOptions,  // of such a strategy
  kApplyOptions,  // of git apply
  kSigning,       // -S with a key
  kRerere,        // --rerere-autoupdate or its opposite
  kObject,        // the name of an object
  kSheet,         // configuration with the options of cherry-pick and revert, these among them
};

struct GitStateFile {
  std::string_view name;
  GitJudgement judgement;
  std::string_view reason;
};

std::span<const GitStateFile> GitStateFiles();

// `before`: "" where there was none. What is not understood executes something.
bool ExecutesNothingNew(GitJudgement judgement, std::string_view before, std::string_view after);
// Of the file of that name in a git directory, by its own judgement.
bool IsHarmlessState(std::string_view path, std::string_view before, std::string_view after);

}  // namespace pa::policy
