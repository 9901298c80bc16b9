#include "supervisor/guard/guard_chores.h"

#include <fcntl.h>

#include <string>
#include <utility>

#include "base/pack.h"
#include "base/tree_reader.h"
#include "policy/repositories_below.h"
#include "supervisor/guard/compare_state.h"
#include "supervisor/guard/guard_fields.h"
#include "supervisor/guard/judge_repositories.h"
#include "supervisor/guard/read_state.h"

namespace pa {
namespace {

using Descriptors = std::span<const int>;

bool SetPins(std::vector<GuardedPath>& paths, const Pins& pins, Descriptors descriptors) {
  if (pins.size() != descriptors.size()) return false;
  for (std::size_t i = 0; i < pins.size(); ++i) {
    if (pins[i] >= paths.size()) return false;
    UniqueFd own(fcntl(descriptors[i], F_DUPFD_CLOEXEC, 0));
    if (own) paths[pins[i]].pin = std::make_shared<const UniqueFd>(std::move(own));
  }
  return true;
}

std::string ReadStateChore(std::string_view input, Descriptors) {
  GuardQuery query;
  return Unpacker(input)(query) ? Pack(ReadState(query)) : "";
}

std::string CompareStateChore(std::string_view input, Descriptors descriptors) {
  Comparison comparison;
  Pins pins;
  if (!Unpacker(input)(comparison, pins)) return "";
  if (!SetPins(comparison.state.paths, pins, descriptors)) return "";
  return Pack(CompareState(comparison));
}

std::string RestorePathsChore(std::string_view input, Descriptors descriptors) {
  std::vector<GuardedPath> paths;
  Pins pins;
  std::string quarantine;
  if (!Unpacker(input)(paths, pins, quarantine)) return "";
  return SetPins(paths, pins, descriptors) ? Pack(RestorePaths(paths, quarantine)) : "";
}

std::string JudgeRepositoriesChore(std::string_view input, Descriptors) {
  JudgedRepositories judged;
  return Unpacker(input)(judged) ? Pack(JudgeRepositories(judged)) : "";
}

std::string ReadDirectoriesChore(std::string_view input, Descriptors descriptors) {
  std::vector<ChangedDirectory> changed;
  ScanLimits limits;
  std::uint64_t known = 0;
  if (!Unpacker(input)(changed, limits, known) || descriptors.size() != 1) return "";
  return Pack(
      ReadDirectories(descriptors[0], changed, policy::ChooseRepositoryNames, limits, known));
}

std::string ReadSavedChore(std::string_view input, Descriptors) {
  std::string directory;
  std::string name;
  return Unpacker(input)(directory, name) ? Pack(ReadSaved(directory, name)) : "";
}

std::string FindUncleanChore(std::string_view input, Descriptors) {
  std::string directory;
  std::vector<policy::KeptDirectory> kept;
  RepositoryList made;
  if (!Unpacker(input)(directory, kept, made)) return "";
  return Pack(FindUnclean(directory, kept, made));
}

constexpr Chore kChores[] = {
    {kReadState, ReadStateChore},
    {kCompareState, CompareStateChore},
    {kRestorePaths, RestorePathsChore},
    {kJudgeRepositories, JudgeRepositoriesChore},
    {kReadDirectories, ReadDirectoriesChore},
    {kReadSaved, ReadSavedChore},
    {kFindUnclean, FindUncleanChore},
};

}  // namespace

std::span<const Chore> GuardChores() { return kChores; }

}  // namespace pa
