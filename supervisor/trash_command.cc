#include "supervisor/trash_command.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "policy/load.h"
#include "policy/path.h"
#include "policy/protected_paths.h"
#include "supervisor/file_trash.h"
#include "supervisor/state_directory.h"
#include "supervisor/tools/put_file.h"

namespace pa {
namespace {

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

// What commands must not change does not change because somebody has laid it into a trash.
std::string ProtectionOf(const policy::Policy& policy, const std::string& path) {
  for (const std::string& root : policy.roots) {
    if (!policy::IsBeneath(path, root)) continue;
    if (IsInRepository(policy::RelativeTo(root, path))) return "git's own data";
    const auto found = policy::FindProtectedPaths(policy::QueryFor(policy, root, {root}));
    if (!found) return found.error().Message();
    for (const policy::ProtectedPath& kept : found->paths) {
      if (policy::Forbids(kept, path)) return kept.reason;
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
    const std::string protection = ProtectionOf(*policy, entry.path);
    if (!protection.empty()) {
      fmt::print(stderr, "{} is not restored: {}; the content is {}\n", shown, protection,
                 entry.Content());
      return 1;
    }
    const Result<void> restored = RestoreTrash(entry, policy->roots);
    if (!restored) {
      fmt::print(stderr, "{} is not restored: {}\n", shown,
                 WhyNotRestored(entry, restored.error()));
      return 1;
    }
    fmt::print("restored {}\n", shown);
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
