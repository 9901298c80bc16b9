// GuardChores: what a janitor's process does for the guard. The supervisor asks by Ask
// (supervisor/janitor/janitor.h); argument and answer of each chore:
//
//    kReadState      GuardQuery                              -> ProtectedOr<GuardedState>
//    kCompareState   Comparison, Pins                        -> Compared
//    kRestorePaths   std::vector<GuardedPath>, Pins, string  -> Restored
//    kJudgeRepositories  JudgedRepositories                  -> std::vector<ProtectedChange>
//    kReadDirectories  std::vector<ChangedDirectory>, ScanLimits, uint64; the root  -> ReadTree
//    kReadSaved      directory, name                         -> SavedFile
//    kFindUnclean    string, std::vector<KeptDirectory>, RepositoryList  -> RepositoryList
//
// To add one: its name here, its function and its line in guard_chores.cc, and the fields of what
// it takes and answers in guard_fields.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "supervisor/guard/guarded_state.h"
#include "supervisor/janitor/janitor.h"

namespace pa {

inline constexpr std::string_view kReadState = "read-state";
inline constexpr std::string_view kCompareState = "compare-state";
inline constexpr std::string_view kRestorePaths = "restore-paths";
inline constexpr std::string_view kJudgeRepositories = "judge-repositories";
inline constexpr std::string_view kReadDirectories = "read-directories";
inline constexpr std::string_view kReadSaved = "read-saved";
inline constexpr std::string_view kFindUnclean = "find-unclean";

std::span<const Chore> GuardChores();

// Which of the paths have the descriptors that go with the order: their numbers in the list.
using Pins = std::vector<std::uint32_t>;

}  // namespace pa
