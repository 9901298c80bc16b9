#include "supervisor/run/repository_finder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/pack.h"
#include "base/path_parts.h"
#include "policy/path.h"
#include "policy/shared_files.h"

namespace pa {
namespace {

constexpr std::string_view kReadLinkLine = "read-link-line";
constexpr std::string_view kReadWorkTree = "read-work-tree";
constexpr int kMaxTexts = 64;  // submodules nest

using Descriptors = std::span<const int>;

std::string ReadLinkLineChore(std::string_view input, Descriptors) {
  std::string path;
  return Unpacker(input)(path) ? Pack(policy::ReadLinkLine(path)) : "";
}

std::string ReadWorkTreeChore(std::string_view input, Descriptors) {
  std::string path;
  return Unpacker(input)(path) ? Pack(policy::ReadWorkTree(path)) : "";
}

std::string FindSharedFileChore(std::string_view input, Descriptors) {
  std::string root;
  return Unpacker(input)(root) ? Pack(policy::FindSharedFile(root)) : "";
}

constexpr Chore kChores[] = {
    {kFindSharedFile, FindSharedFileChore},
    {kReadLinkLine, ReadLinkLineChore},
    {kReadWorkTree, ReadWorkTreeChore},
};

policy::DirectoryRefusal NotRead(const Error& error) {
  return {
      .message = "working directory has a git repository that cannot be read: " + error.Message(),
      .ai_message = "Tell the user: a file of this repository cannot be read.",
      .code = error.sys_errno};
}

// By the janitor, which says nothing of the file.
policy::DirectoryRefusal NotAsked(const Error& error) {
  return {.message = error.Message(), .ai_message = "", .code = error.sys_errno, .unread = true};
}

template <typename T>
Task<Result<Result<T>>> ReadBy(Janitor& janitor, std::string_view chore, std::string path,
                               std::string directory) {
  JanitorOrder order{
      .chore = chore, .about = std::move(directory), .read = {policy::ResolvePath(path)}};
  Task<Result<Result<T>>> reading = Ask<Result<T>>(janitor, std::move(order), path);
  Result<Result<T>> text = co_await reading;
  co_return text;
}

}  // namespace

std::span<const Chore> RepositoryChores() { return kChores; }

// Upwards to the first `.git`, and what is in it: if it is a directory, nothing else decides.
RepositoryFinder::Deciders RepositoryFinder::DecidersOf(const std::string& directory) {
  Deciders deciders;
  for (std::string at = directory;; at = ParentOf(at)) {
    const std::string git = at == "/" ? "/.git" : at + "/.git";
    const PathStamp stamp = deciders[git] = LookAt(git);
    if (stamp.IsDirectory()) {
      for (const char* name :
           {"/HEAD", "/objects", "/refs", "/commondir", "/config", "/config.worktree"}) {
        deciders[git + name] = LookAt(git + name);
      }
    }
    if (!stamp.IsAbsent() || at == "/") return deciders;
  }
}

// Whether the same stamps mean the same repository: not where a link leads elsewhere, nor where a
// file may have been written again since.
bool RepositoryFinder::Prove(const Deciders& deciders) {
  return std::ranges::all_of(deciders, [](const auto& decider) {
    const auto& [path, stamp] = decider;
    if (stamp.error != 0) return false;
    const bool plain = !path.ends_with("/.git") || stamp.IsAbsent() || stamp.IsDirectory();
    return plain && (!stamp.IsRegular() || stamp.Settled());
  });
}

// Of a directory nothing but which it is, and whose.
bool RepositoryFinder::Same(const Deciders& one, const Deciders& other) {
  return std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    if (a.first != b.first) return false;
    if (!a.second.IsDirectory()) return a.second == b.second;
    return a.second.SameFile(b.second) && a.second.owner == b.second.owner;
  });
}

Task<RepositoryFinder::Found> RepositoryFinder::Find(policy::PolicyPtr policy,
                                                     const policy::WorkingDirectory& directory) {
  const std::string& path = directory.path();
  Deciders deciders = DecidersOf(path);
  const auto known = known_.find(path);
  if (known != known_.end() && known->second.policy == policy &&
      Same(known->second.deciders, deciders)) {
    co_return known->second.repository;
  }
  Task<Found> searching = Search(policy, path);
  Found found = co_await searching;
  if (known_.size() >= kMaxKnown) known_.clear();
  if (found && Prove(deciders)) {
    known_.insert_or_assign(path, Known{policy, std::move(deciders), *found});
  } else {
    known_.erase(path);
  }
  co_return found;
}

Task<RepositoryFinder::Found> RepositoryFinder::Search(policy::PolicyPtr policy,
                                                       std::string directory) {
  const std::vector<std::string> visible = policy::VisiblePaths(*policy);
  policy::RepositoryTexts texts;
  for (int round = 0;; ++round) {
    policy::RepositoryOr found = policy::FindRepository(directory, visible, texts);
    if (found) co_return std::move(*found);
    const policy::RepositoryRefusal& refusal = found.error();
    const bool needs = !refusal.needed_line.empty() || !refusal.needed_work_tree.empty();
    if (!needs || round == kMaxTexts) {
      co_return std::unexpected(static_cast<const policy::DirectoryRefusal&>(refusal));
    }
    if (!refusal.needed_line.empty()) {
      Task<Result<Result<std::optional<std::string>>>> reading = ReadBy<std::optional<std::string>>(
          janitor_, kReadLinkLine, refusal.needed_line, directory);
      Result<Result<std::optional<std::string>>> line = co_await reading;
      if (!line) co_return std::unexpected(NotAsked(line.error()));
      if (!*line) co_return std::unexpected(NotRead(line->error()));
      texts.lines.emplace(refusal.needed_line, **std::move(line));
    } else {
      Task<Result<Result<std::string>>> reading =
          ReadBy<std::string>(janitor_, kReadWorkTree, refusal.needed_work_tree, directory);
      Result<Result<std::string>> work_tree = co_await reading;
      if (!work_tree) co_return std::unexpected(NotAsked(work_tree.error()));
      texts.work_trees.emplace(refusal.needed_work_tree, std::move(*work_tree));
    }
  }
}

}  // namespace pa
