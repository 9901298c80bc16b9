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

// The only line of `path`, which must be a regular file and no symlink; nothing when there is none.
std::optional<std::string> ReadLine(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return std::nullopt;
  Result<std::string> text = ReadFileFrom(fd.get(), path, kMaxLinkFile);
  if (!text || text->find('\0') != std::string::npos) return std::nullopt;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text->empty() ? std::nullopt : std::optional(std::move(*text));
}

// What git itself looks for before it takes a directory for a repository (setup.c,
// is_git_directory).
bool LooksLikeGitDirectory(const std::string& git_dir, const std::string& common_dir) {
  return Exists(git_dir + "/HEAD") && Exists(common_dir + "/objects") &&
         Exists(common_dir + "/refs");
}

// `<git_dir>/gitdir` names `top_level`/.git.
bool NamesBack(const std::string& git_dir, const std::string& top_level) {
  const std::optional<std::string> line = ReadLine(git_dir + "/gitdir");
  if (!line) return false;
  const std::string link = Join(git_dir, *line);
  return link.ends_with("/.git") && Real(ParentOf(link)) == top_level;
}

FoundRepository Search(const std::string& from, const std::string& inside);

FoundRepository DirectoryPlace(const std::string& top_level, const std::string& git_dir) {
  const std::optional<std::string> common = ReadLine(git_dir + "/commondir");
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
                              const std::string& common_line) {
  const std::optional<std::string> common = Real(Join(git_dir, common_line));
  if (!common || ParentOf(git_dir) != *common + "/worktrees" || !NamesBack(git_dir, top_level)) {
    return Refused(git_dir, "it does not name " + top_level + " as its working tree");
  }
  if (!IsOwnDirectory(git_dir) || !IsOwnDirectory(*common)) {
    return Refused(git_dir, "it belongs to another user");
  }
  return RepositoryLayout{top_level, git_dir, *common};
}

// core.worktree as the repository's own configuration has it, "" if it has none. git includes no
// other file to find it (setup.c, read_repository_format).
Result<std::string> ConfiguredWorkTree(const std::string& git_dir) {
  std::string work_tree;
  for (const char* name : {"/config", "/config.worktree"}) {
    const std::string file = git_dir + name;
    if (!Exists(file)) continue;
    PA_TRY(const std::string text, ReadFile(file, kMaxGitConfig));
    const auto variables = ParseGitConfig(text);
    if (!variables) return std::unexpected(Error("read", file + ": " + variables.error()));
    for (const GitVariable& variable : *variables) {
      if (variable.name == "core.worktree") work_tree = variable.value;
    }
  }
  return work_tree;
}

// Without this an agent in one submodule could name the git directory of another.
bool NamesWorkTree(const std::string& git_dir, const std::string& top_level) {
  const Result<std::string> work_tree = ConfiguredWorkTree(git_dir);
  return work_tree && !work_tree->empty() && Real(Join(git_dir, *work_tree)) == top_level;
}

FoundRepository SubmodulePlace(const std::string& top_level, const std::string& git_dir,
                               const std::string& inside) {
  bool believed = IsBeneath(git_dir, inside);
  if (!believed && top_level != "/") {
    FoundRepository enclosing = Search(ParentOf(top_level), inside);
    if (!enclosing) return enclosing;
    believed = *enclosing && (IsBeneath(git_dir, (*enclosing)->git_dir + "/modules") ||
                              IsBeneath(git_dir, (*enclosing)->common_dir + "/modules"));
    believed = believed && NamesWorkTree(git_dir, top_level);
  }
  if (!believed) return Refused(git_dir, "it does not name " + top_level + " as its working tree");
  if (!IsOwnDirectory(git_dir)) return Refused(git_dir, "it belongs to another user");
  return RepositoryLayout{top_level, git_dir, git_dir};
}

FoundRepository LinkedPlace(const std::string& top_level, const std::string& inside) {
  constexpr std::string_view kWord = "gitdir: ";
  const std::string link = top_level + "/.git";
  const std::optional<std::string> line = ReadLine(link);
  if (!line || !line->starts_with(kWord)) return Refused(link, "it is no link of git's");
  const std::optional<std::string> git_dir = Real(Join(top_level, line->substr(kWord.size())));
  if (!git_dir) return Refused(link, "its target does not exist");
  const std::optional<std::string> common = ReadLine(*git_dir + "/commondir");
  if (common) return WorktreePlace(top_level, *git_dir, *common);
  return SubmodulePlace(top_level, *git_dir, inside);
}

FoundRepository PlaceAt(const std::string& top_level, const std::string& inside) {
  const std::string name = top_level == "/" ? "/.git" : top_level + "/.git";
  struct stat status{};
  if (lstat(name.c_str(), &status) != 0) return std::nullopt;
  if (S_ISDIR(status.st_mode)) return DirectoryPlace(top_level, name);
  if (S_ISREG(status.st_mode)) return LinkedPlace(top_level, inside);
  const std::optional<std::string> real = Real(name);
  if (!real || !IsBeneath(*real, inside)) {
    return Refused(name, "it leads out of the working directory");
  }
  return DirectoryPlace(top_level, *real);
}

// Upwards from `from`, within one file system, as git does.
FoundRepository Search(const std::string& from, const std::string& inside) {
  struct stat start{};
  if (stat(from.c_str(), &start) != 0) return std::unexpected(Error{"stat", from, errno});
  for (std::string at = from;; at = ParentOf(at)) {
    struct stat status{};
    if (stat(at.c_str(), &status) != 0 || status.st_dev != start.st_dev) return std::nullopt;
    FoundRepository place = PlaceAt(at, inside);
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

DirectoryRefusal Unusable(const WorkingDirectory& directory, const std::string& why) {
  return {.message = "working directory has a git repository that is not used: " + why,
          .ai_message = "The .git of " + directory.path() +
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

// Whether commands may read all of `path`, as the policy has it.
bool MayBeSeen(const Policy& policy, const std::string& path) {
  const auto holds = [&](const std::string& root) { return IsBeneath(path, root); };
  return std::ranges::any_of(policy.roots, holds) ||
         std::ranges::any_of(policy.filesystem, [&](const sandbox::PathGrant& grant) {
           return sandbox::Has(grant.access, sandbox::Access::kRead) && holds(grant.path);
         });
}

// Hooks run at the top, and git looks at every file beneath it.
std::optional<DirectoryRefusal> GrantTop(Repository& repository, const Policy& policy,
                                         const WorkingDirectory& directory) {
  const std::string& top = repository.top_level;
  if (repository.git_dir == repository.common_dir) {  // linked worktrees have no core.worktree
    const Result<std::string> elsewhere = ConfiguredWorkTree(repository.git_dir);
    if (!elsewhere) return Unusable(directory, elsewhere.error().Message());
    const std::optional<std::string> tree =
        elsewhere->empty() ? top : Real(Join(repository.git_dir, *elsewhere));
    if (tree != top) return PartlyHidden(*elsewhere, "core.worktree names " + *elsewhere);
  }
  if (top == directory.path()) return std::nullopt;
  constexpr std::string_view kPrivate[] = {"/", "/tmp", "/dev/shm"};  // never the host's, in a view
  if (!MayBeSeen(policy, top) || std::ranges::find(kPrivate, top) != std::end(kPrivate)) {
    return PartlyHidden(top, top + " reaches beyond the allowed roots");
  }
  Grant(repository, top, sandbox::kReadExecute, "git working tree");
  return std::nullopt;
}

}  // namespace

std::expected<std::optional<Repository>, DirectoryRefusal> FindRepository(
    const Policy& policy, const WorkingDirectory& directory) {
  FoundRepository place = Search(directory.path(), directory.path());
  if (!place) return std::unexpected(Unusable(directory, place.error().subject));
  if (!*place) return std::nullopt;
  Repository repository{.top_level = std::move((*place)->top_level),
                        .git_dir = std::move((*place)->git_dir),
                        .common_dir = std::move((*place)->common_dir)};
  GrantRepository(repository, directory.path());
  if (auto refusal = GrantTop(repository, policy, directory)) return std::unexpected(*refusal);
  return repository;
}

}  // namespace pa::policy
