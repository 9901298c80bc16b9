#include "supervisor/cli/trash_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/json_writer.h"
#include "base/path_stamp.h"
#include "base/tree_scan.h"
#include "base/utf8.h"
#include "policy/load.h"
#include "policy/path.h"
#include "policy/protected_paths.h"
#include "policy/repositories_below.h"
#include "policy/spelling.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/guard/file_image.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/trash.h"
#include "supervisor/tools/put_file.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

policy::PolicyPtr LoadFor(const CommonOptions& options, const Environment& environment) {
  policy::LoadedPolicy loaded = policy::LoadPolicy(SourcesOf(options, environment));
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", diagnostic.Format());
  }
  return std::move(loaded.policy);
}

struct Listed {
  std::vector<TrashEntry> entries;
  bool all = true;  // else it is told what could not be read
};

// Of the projects that the policy is about, and of those where somebody works in one of them.
Listed Entries(const policy::Policy& policy, const Environment& environment) {
  std::vector<std::string> bases;
  if (auto base = FindStateDirectory(policy, StateHome(environment), kTrashDirectory)) {
    bases.push_back(*std::move(base));
  }
  for (const std::string& root : policy.roots) bases.push_back(root + "/" + kProjectTrash);
  std::vector<std::string> unreadable;
  Listed listed{.entries = ListTrash(bases, unreadable), .all = unreadable.empty()};
  for (const std::string& why : unreadable) fmt::print(stderr, "{}\n", RepairUtf8(why, true));
  return listed;
}

void PrintJson(const std::vector<TrashEntry>& entries) {
  JsonWriter w;
  w.BeginArray();
  for (const TrashEntry& entry : entries) {
    w.BeginObject().Field("id", entry.id).Field("path", RepairUtf8(entry.path));
    w.Field("deleted_at", entry.deleted_at).Field("content", entry.Content()).EndObject();
  }
  fmt::print("{}\n", std::move(w.EndArray()).Take());
}

// What a directory would bring to the place of one of `kept`; null: nothing.
Result<const policy::ProtectedPath*> Brought(const TrashEntry& entry,
                                             const std::vector<policy::ProtectedPath>& kept) {
  if (!LookAt(entry.Content()).IsDirectory()) return nullptr;
  std::vector<const policy::ProtectedPath*> within;
  for (const policy::ProtectedPath& one : kept) {
    std::string_view place = entry.path;
    std::string_view name = one.path;
    policy::TakeSame(place, name);
    if (place.empty() && !name.empty()) within.push_back(&one);
  }
  if (within.empty()) return nullptr;
  std::error_code failed;
  fs::recursive_directory_iterator at(entry.Content(), failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    const std::string goal = entry.path + at->path().string().substr(entry.Content().size());
    const auto known = std::ranges::find_if(
        within, [&](const policy::ProtectedPath* one) { return policy::Forbids(*one, goal); });
    if (known != within.end()) return *known;
  }
  if (failed) return std::unexpected(Error("read", entry.Content(), failed.value()));
  return nullptr;
}

// Nobody has judged the hooks and the configuration of what commands can have laid there
// themselves.
Result<bool> HoldsRepository(const TrashEntry& entry) {
  const UniqueFd directory = OpenDirectory(entry.directory);
  if (!directory) return std::unexpected(Error("open", entry.directory, errno));
  TreeScan scan(policy::ChooseRepositoryNames);
  ScannedTree tree = scan.Look(directory.get());
  const bool found = !policy::RepositoriesBelow(tree, entry.directory).empty();
  if (found) return true;
  if (tree.Complete()) return false;
  return std::unexpected(Error("it cannot be inspected completely", entry.Content(), 0));
}

// What commands must not change does not change because somebody has laid it into a trash.
std::string ProtectionOf(const policy::Policy& policy, const TrashEntry& entry) {
  const std::string& path = entry.path;
  for (const std::string& root : policy.roots) {
    if (!policy::IsBeneath(path, root)) continue;
    if (auto why = ReasonOfGit(root, policy::RelativeTo(root, path)); !why.empty()) return why;
    const std::vector<policy::RepositoryBelow> around = policy::RepositoriesAround(root, path);
    policy::ProtectionQuery query = policy::QueryFor(policy, root, {root});
    query.repositories = around;
    const auto found = policy::FindProtectedPaths(query);
    if (!found) return found.error().Message();
    for (const policy::ProtectedPath& kept : found->paths) {
      if (policy::Forbids(kept, path)) return kept.reason;
    }
    const Result<const policy::ProtectedPath*> brought = Brought(entry, found->paths);
    if (!brought) return brought.error().Message();
    if (*brought != nullptr) {
      return "it holds " + policy::RelativeTo(root, (*brought)->path) + ", " + (*brought)->reason;
    }
    if (!policy::IsBeneath(entry.directory, root)) continue;
    const Result<bool> repository = HoldsRepository(entry);
    if (!repository) return repository.error().Message();
    if (*repository) {
      return "it holds a git repository, and commands can write in this trash: look at its hooks "
             "and configuration before you move it";
    }
  }
  return "";
}

std::string WhyNotRestored(const TrashEntry& entry, const Error& error) {
  switch (error.sys_errno) {
    case EEXIST:
      return "something is there; move it away first";
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return "its directory is not there any more, or a symlink is; make it, or take the content "
             "from " +
             entry.Content();
    default:
      return error.Message() + "; the content is " + entry.Content();
  }
}

}  // namespace

int RunTrashList(const TrashListCommand& command, const Environment& environment) {
  const policy::PolicyPtr policy = LoadFor(command.common, environment);
  if (!policy) return 1;
  const auto [entries, all] = Entries(*policy, environment);
  if (command.json) {
    PrintJson(entries);
    return all ? 0 : 1;
  }
  for (const TrashEntry& entry : entries) {
    fmt::print("{}  {}  {}\n", entry.id, entry.DeletedAt(), RepairUtf8(entry.path, true));
  }
  if (entries.empty() && all) fmt::print("the trash is empty\n");
  return all ? 0 : 1;
}

int RunTrashRestore(const TrashRestoreCommand& command, const Environment& environment) {
  const policy::PolicyPtr policy = LoadFor(command.common, environment);
  if (!policy) return 1;
  const Listed listed = Entries(*policy, environment);
  for (const TrashEntry& entry : listed.entries) {
    if (entry.id != command.id) continue;
    const std::string shown = RepairUtf8(entry.path, true);
    const std::string protection = ProtectionOf(*policy, entry);
    if (!protection.empty()) {
      fmt::print(stderr, "{} is not restored: {}; the content is {}\n", shown, protection,
                 entry.Content());
      return 1;
    }
    const Result<std::string> restored = RestoreTrash(entry, policy->roots);
    if (!restored) {
      fmt::print(stderr, "{} is not restored: {}\n", shown,
                 WhyNotRestored(entry, restored.error()));
      return 1;
    }
    fmt::print("restored {}\n", shown);
    if (!restored->empty()) {
      fmt::print(stderr, "{} is restored, but a power failure could still lose it: {}\n", shown,
                 RepairUtf8(*restored, true));
    }
    return 0;
  }
  fmt::print(
      stderr,
      "nothing in the trash has the ID {}; `project-actions trash list` shows what is there, "
      "of the project in which it is called or that --root names\n",
      command.id);
  return 1;
}

}  // namespace pa
