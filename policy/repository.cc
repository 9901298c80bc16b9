#include "policy/repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/path_parts.h"
#include "base/path_stamp.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/git_config.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

struct RepositoryLayout {
  std::string top_level;
  std::string git_dir;
  std::string common_dir;
};
using FoundRepository = Result<std::optional<RepositoryLayout>>;

// git says "dubious ownership" of the same; what another user made may name anything.
std::unexpected<Error> Refused(const std::string& path, std::string_view why) {
  return std::unexpected(Error{"git repository", path + ": " + std::string(why)});
}

std::optional<std::string> Real(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

bool Exists(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

bool IsOwnDirectory(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

// By `op`: a line, or a work tree.
constexpr const char* kNeedsLine = "needs the line of";
constexpr const char* kNeedsWorkTree = "needs core.worktree of";

Result<std::optional<std::string>> LineOf(const std::string& path, const RepositoryTexts& texts) {
  if (LookAt(path).IsAbsent()) return std::nullopt;
  const auto known = texts.lines.find(path);
  if (known == texts.lines.end()) return std::unexpected(Error(kNeedsLine, path));
  return known->second;
}

// What git itself looks for before it takes a directory for a repository (setup.c,
// is_git_directory).
bool LooksLikeGitDirectory(const std::string& git_dir, const std::string& common_dir) {
  return Exists(git_dir + "/HEAD") && Exists(common_dir + "/objects") &&
         Exists(common_dir + "/refs");
}

// `<git_dir>/gitdir` names `top_level`/.git.
Result<bool> NamesBack(const std::string& git_dir, const std::string& top_level,
                       const RepositoryTexts& texts) {
  PA_TRY(const std::optional<std::string> line, LineOf(git_dir + "/gitdir", texts));
  if (!line) return false;
  const std::string link = Join(git_dir, *line);
  return link.ends_with("/.git") && Real(ParentOf(link)) == top_level;
}

FoundRepository Search(const std::string& from, const std::string& inside,
                       const RepositoryTexts& texts);

FoundRepository DirectoryPlace(const std::string& top_level, const std::string& git_dir,
                               const RepositoryTexts& texts) {
  PA_TRY(const std::optional<std::string> common, LineOf(git_dir + "/commondir", texts));
  if (common && Real(Join(git_dir, *common)) != git_dir) {
    return Refused(git_dir, "its commondir names another repository");
  }
  if (!LooksLikeGitDirectory(git_dir, git_dir)) return std::nullopt;
  if (!IsOwnDirectory(git_dir)) return Refused(git_dir, "it belongs to another user");
  return RepositoryLayout{top_level, git_dir, git_dir};
}

// Where git_dir lies decides: <common>/worktrees/ID is a place that only the owner of <common> can
// write, so a line that stands there was not made up by whoever wrote `.git`.
FoundRepository WorktreePlace(const std::string& top_level, const std::string& git_dir,
                              const std::string& common_line, const RepositoryTexts& texts) {
  const std::optional<std::string> common = Real(Join(git_dir, common_line));
  PA_TRY(const bool names_back, NamesBack(git_dir, top_level, texts));
  if (!common || ParentOf(git_dir) != *common + "/worktrees" || !names_back) {
    return Refused(git_dir, "it does not name " + top_level + " as its working tree");
  }
  if (!IsOwnDirectory(git_dir) || !IsOwnDirectory(*common)) {
    return Refused(git_dir, "it belongs to another user");
  }
  return RepositoryLayout{top_level, git_dir, *common};
}

// core.worktree as the repository's own configuration has it, "" if it has none. git includes no
// other file to find it (setup.c, read_repository_format).
Result<std::string> ConfiguredWorkTree(const std::string& git_dir, const RepositoryTexts& texts) {
  std::string work_tree;
  for (const char* name : {"/config", "/config.worktree"}) {
    const std::string file = git_dir + name;
    if (!Exists(file)) continue;
    const auto known = texts.work_trees.find(file);
    if (known == texts.work_trees.end()) return std::unexpected(Error(kNeedsWorkTree, file));
    if (!known->second) return std::unexpected(known->second.error());
    if (!known->second->empty()) work_tree = *known->second;
  }
  return work_tree;
}

// Without this an agent in one submodule could name the git directory of another.
Result<bool> NamesWorkTree(const std::string& git_dir, const std::string& top_level,
                           const RepositoryTexts& texts) {
  PA_TRY(const std::string work_tree, ConfiguredWorkTree(git_dir, texts));
  return !work_tree.empty() && Real(Join(git_dir, work_tree)) == top_level;
}

FoundRepository SubmodulePlace(const std::string& top_level, const std::string& git_dir,
                               const std::string& inside, const RepositoryTexts& texts) {
  bool believed = IsBeneath(git_dir, inside);
  if (!believed && top_level != "/") {
    FoundRepository enclosing = Search(ParentOf(top_level), inside, texts);
    if (!enclosing) return enclosing;
    believed = *enclosing && (IsBeneath(git_dir, (*enclosing)->git_dir + "/modules") ||
                              IsBeneath(git_dir, (*enclosing)->common_dir + "/modules"));
    PA_TRY(const bool names_it, NamesWorkTree(git_dir, top_level, texts));
    believed = believed && names_it;
  }
  if (!believed) return Refused(git_dir, "it does not name " + top_level + " as its working tree");
  if (!IsOwnDirectory(git_dir)) return Refused(git_dir, "it belongs to another user");
  return RepositoryLayout{top_level, git_dir, git_dir};
}

FoundRepository LinkedPlace(const std::string& top_level, const std::string& inside,
                            const RepositoryTexts& texts) {
  constexpr std::string_view kWord = "gitdir: ";
  const std::string link = top_level + "/.git";
  PA_TRY(const std::optional<std::string> line, LineOf(link, texts));
  if (!line || !line->starts_with(kWord)) return Refused(link, "it is no link of git's");
  const std::optional<std::string> git_dir = Real(Join(top_level, line->substr(kWord.size())));
  if (!git_dir) return Refused(link, "its target does not exist");
  PA_TRY(const std::optional<std::string> common, LineOf(*git_dir + "/commondir", texts));
  if (common) return WorktreePlace(top_level, *git_dir, *common, texts);
  return SubmodulePlace(top_level, *git_dir, inside, texts);
}

FoundRepository PlaceAt(const std::string& top_level, const std::string& inside,
                        const RepositoryTexts& texts) {
  const std::string name = top_level == "/" ? "/.git" : top_level + "/.git";
  struct stat status{};
  if (lstat(name.c_str(), &status) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) return DirectoryPlace(top_level, name, texts);
  if (S_ISREG(status.st_mode)) return LinkedPlace(top_level, inside, texts);
  const std::optional<std::string> real = Real(name);
  if (!real || !IsBeneath(*real, inside)) {
    return Refused(name, "it leads out of the working directory");
  }
  return DirectoryPlace(top_level, *real, texts);
}

// Upwards from `from`, within one file system, as git does.
FoundRepository Search(const std::string& from, const std::string& inside,
                       const RepositoryTexts& texts) {
  struct stat start{};
  if (stat(from.c_str(), &start) != 0) return std::unexpected(Error{"stat", from, errno});
  for (std::string at = from;; at = ParentOf(at)) {
    struct stat status{};
    if (stat(at.c_str(), &status) != 0 || status.st_dev != start.st_dev) return std::nullopt;
    FoundRepository place = PlaceAt(at, inside, texts);
    if (!place || *place || at == "/") return place;
  }
}

void Grant(Repository& repository, const std::string& path, sandbox::Access access,
           const char* reason) {
  repository.grants.push_back({path, access, reason, sandbox::Symlinks::kRefuse});
}

void GrantRepository(Repository& repository, const std::string& inside) {
  const std::string& common = repository.common_dir;
  if (!IsBeneath(common, inside)) {
    Grant(repository, common, sandbox::kReadWrite, "git repository");
    // Not where a link leads: an agent may have made it.
    if (IsOwnDirectory(common + "/hooks")) {
      Grant(repository, common + "/hooks", sandbox::kReadExecute, "git hooks");
    }
  }
  if (!IsBeneath(repository.git_dir, inside) && !IsBeneath(repository.git_dir, common)) {
    Grant(repository, repository.git_dir, sandbox::kReadWrite, "git repository");
  }
}

DirectoryRefusal Unusable(const std::string& directory, const std::string& why) {
  return {.message = "working directory has a git repository that is not used: " + why,
          .ai_message = "The .git of " + directory +
                        " names git data outside of it that does not name it back, or that belongs "
                        "to somebody else, so it was not opened. Tell the user; a repository made "
                        "by `git init`, `git clone`, `git worktree add` or `git submodule` works."};
}

DirectoryRefusal PartlyHidden(const std::string& top_level, const std::string& why) {
  return {.message = "the git working tree of this directory cannot be shown as a whole: " + why,
          .ai_message =
              "git was not run: a hook would commit files that git cannot see here as deleted. "
              "Ask the user to start the server with `--root " +
              top_level + "`, or to add it to `roots` or filesystem.read in the policy."};
}

RepositoryRefusal Refusal(const std::string& directory, const Error& error) {
  const std::string why = error.sys_errno == 0 ? error.subject : error.Message();
  RepositoryRefusal refusal{Unusable(directory, why)};
  if (error.op == kNeedsLine) refusal.needed_line = error.subject;
  if (error.op == kNeedsWorkTree) refusal.needed_work_tree = error.subject;
  return refusal;
}

// Hooks run at the top, and git looks at every file beneath it.
std::optional<RepositoryRefusal> GrantTop(Repository& repository, const std::string& directory,
                                          std::span<const std::string> visible,
                                          const RepositoryTexts& texts) {
  const std::string& top = repository.top_level;
  if (repository.git_dir == repository.common_dir) {  // linked worktrees have no core.worktree
    const Result<std::string> elsewhere = ConfiguredWorkTree(repository.git_dir, texts);
    if (!elsewhere) return Refusal(directory, elsewhere.error());
    const std::optional<std::string> tree =
        elsewhere->empty() ? top : Real(Join(repository.git_dir, *elsewhere));
    if (tree != top) {
      return RepositoryRefusal{PartlyHidden(*elsewhere, "core.worktree names " + *elsewhere)};
    }
  }
  if (top == directory) return std::nullopt;
  constexpr std::string_view kPrivate[] = {"/", "/tmp", "/dev/shm"};  // never the host's, in a view
  const bool seen =
      std::ranges::any_of(visible, [&](const std::string& path) { return IsBeneath(top, path); });
  if (!seen || std::ranges::find(kPrivate, top) != std::end(kPrivate)) {
    return RepositoryRefusal{PartlyHidden(top, top + " reaches beyond the allowed roots")};
  }
  Grant(repository, top, sandbox::kReadExecute, "git working tree");
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> ReadLinkLine(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && MeansGone(errno)) return std::nullopt;
  if (!fd) return std::unexpected(Error("open", path, errno));
  Result<std::string> text = ReadFileFrom(fd.get(), path, kMaxLinkFile);
  if (!text || text->find('\0') != std::string::npos) return std::nullopt;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text->empty() ? std::nullopt : std::optional(std::move(*text));
}

Result<std::string> ReadWorkTree(const std::string& file) {
  PA_TRY(const std::string text, ReadFile(file, kMaxGitConfig));
  const auto variables = ParseGitConfig(text);
  if (!variables) return std::unexpected(Error("read", file + ": " + variables.error()));
  std::string work_tree;
  for (const GitVariable& variable : *variables) {
    if (variable.name == "core.worktree") work_tree = variable.value;
  }
  return work_tree;
}

RepositoryOr FindRepository(const std::string& directory, std::span<const std::string> visible,
                            const RepositoryTexts& texts) {
  FoundRepository place = Search(directory, directory, texts);
  if (!place) return std::unexpected(Refusal(directory, place.error()));
  if (!*place) return std::nullopt;
  Repository repository{.top_level = std::move((*place)->top_level),
                        .git_dir = std::move((*place)->git_dir),
                        .common_dir = std::move((*place)->common_dir)};
  GrantRepository(repository, directory);
  if (auto refusal = GrantTop(repository, directory, visible, texts))
    return std::unexpected(*refusal);
  return repository;
}

std::vector<std::string> VisiblePaths(const Policy& policy) {
  std::vector<std::string> visible = policy.roots;
  for (const sandbox::PathGrant& grant : policy.filesystem) {
    if (sandbox::Has(grant.access, sandbox::Access::kRead)) visible.push_back(grant.path);
  }
  return visible;
}

}  // namespace pa::policy
