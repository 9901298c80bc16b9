// JudgeRepositories: takes out of git repositories that commands made what git would execute there
// (policy/made_repository.h). For a janitor's process: it reads and moves what commands wrote.
//
//    for (const ProtectedChange& change : JudgeRepositories(judged)) ...
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/made_repository.h"
#include "policy/repositories_below.h"
#include "supervisor/guard/protected_change.h"

namespace pa {

using RepositoryList = std::vector<policy::RepositoryBelow>;

// A command that can write a git directory that its guard does not hold. When the command has
// ended, the git directory is judged: one below `directory`, and not among `existing`.
struct RepositoryMaker {
  std::string directory = {};
  std::shared_ptr<const RepositoryList> existing = {};
};

struct JudgedRepositories {
  std::string directory = {};  // where the command could write
  std::vector<policy::KeptDirectory> kept = {};
  std::int64_t since_ns = 0;  // as in policy::JudgedWithin
  RepositoryList made = {};
  RepositoryList excess = {};  // those that are more than `most`: they are taken away
  std::size_t most = 0;
  std::map<std::string, RepositoryMaker> open = {};  // by the path of the git directory
  std::string quarantine = {};                       // the base of a Quarantine
};

std::vector<ProtectedChange> JudgeRepositories(const JudgedRepositories& judged);

// Those of `made` that hold what no command of ours has left there. `directory`, `kept`: as above.
RepositoryList FindUnclean(const std::string& directory,
                           const std::vector<policy::KeptDirectory>& kept,
                           const RepositoryList& made);

// Makes `directory`, which lies beneath `area`, and the directories on the way accessible.
void OpenUp(const std::string& area, const std::string& directory);

// `path` for a message. The command has chosen it, and it shall not look like lines of ours.
std::string ShownPath(std::string_view path);

}  // namespace pa
