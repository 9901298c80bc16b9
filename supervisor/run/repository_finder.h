// RepositoryFinder: finds the repository of a working directory (policy/repository.h). What an
// agent can write there, the janitor reads.
//
//    Task<RepositoryFinder::Found> finding = finder.Find(policy, directory);
//    RepositoryFinder::Found repository = co_await finding;
//
// A repository whose `.git` is a directory is remembered until a file that decides looks different:
// to ask again costs some lstat(2).
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/path_stamp.h"
#include "policy/policy.h"
#include "policy/repository.h"
#include "policy/working_directory.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/task.h"

namespace pa {

std::span<const Chore> RepositoryChores();
// root -> std::optional<std::string>, as FindSharedFile of policy/shared_files.h
inline constexpr std::string_view kFindSharedFile = "find-shared-file";

class RepositoryFinder {
 public:
  using Found = std::expected<std::optional<policy::Repository>, policy::DirectoryRefusal>;

  // `janitor`: borrowed.
  explicit RepositoryFinder(Janitor& janitor) : janitor_(janitor) {}

  Task<Found> Find(policy::PolicyPtr policy, const policy::WorkingDirectory& directory);

 private:
  static constexpr std::size_t kMaxKnown = 64;
  // Everything that decides, and what it looked like.
  using Deciders = std::map<std::string, PathStamp>;
  struct Known {
    policy::PolicyPtr policy;
    Deciders deciders;
    std::optional<policy::Repository> repository;
  };

  static Deciders DecidersOf(const std::string& directory);
  static bool Prove(const Deciders& deciders);
  static bool Same(const Deciders& one, const Deciders& other);
  Task<Found> Search(policy::PolicyPtr policy, std::string directory);

  Janitor& janitor_;
  std::map<std::string, Known> known_;  // by working directory
};

}  // namespace pa
