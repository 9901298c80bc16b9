// To protect another place of git's: a line in kGitPlaces or in git_state.cc, a case in
// protected_paths_test.cc, an attempt in tests/escapes/attempts.cc.
#include "policy/protected_paths.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "base/directory_reader.h"
#include "base/file.h"
#include "base/path_parts.h"
#include "base/proc_path.h"
#include "base/try.h"
#include "policy/git_config.h"
#include "policy/git_index.h"
#include "policy/git_state.h"
#include "policy/host_files.h"
#include "policy/path.h"
#include "policy/repository.h"
#include "policy/spelling.h"

namespace pa::policy {
namespace {

using Kind = ProtectedPath::Kind;
using Found = ProtectedPath::Found;

constexpr std::size_t kMaxPaths = 32768;
constexpr std::size_t kMaxGitDirectories = 1024;
constexpr std::size_t kMaxProjects = 64;      // whose host files are looked after
constexpr std::size_t kMaxIndex = 64u << 20;  // half a million files
constexpr int kMaxSymlinks = 40;              // as the kernel's own
constexpr int kMaxIncludes = 10;              // as git's own
constexpr std::size_t kMaxFrozen = 192;       // mounts, with the directories on the way

// What git looks for in a directory of hooks (githooks(5)).
constexpr std::string_view kHookNames[] = {"applypatch-msg",
                                           "commit-msg",
                                           "fsmonitor-watchman",
                                           "p4-changelist",
                                           "p4-post-changelist",
                                           "p4-pre-submit",
                                           "p4-prepare-changelist",
                                           "post-applypatch",
                                           "post-checkout",
                                           "post-commit",
                                           "post-index-change",
                                           "post-merge",
                                           "post-receive",
                                           "post-rewrite",
                                           "post-update",
                                           "pre-applypatch",
                                           "pre-auto-gc",
                                           "pre-commit",
                                           "pre-merge-commit",
                                           "pre-push",
                                           "pre-rebase",
                                           "pre-receive",
                                           "prepare-commit-msg",
                                           "proc-receive",
                                           "push-to-checkout",
                                           "reference-transaction",
                                           "sendemail-validate",
                                           "update"};

// What else leads git to what it executes. Free, because git only reads it as data: info/attributes
// and info/exclude (as .gitattributes), objects/info/alternates, shallow, grafts, FETCH_HEAD and
// the like, rr-cache (docs/adr/0015).
struct GitFile {
  std::string_view name;
  Kind kind;
  const char* reason;
};
constexpr GitFile kGitPlaces[] = {
    // Remotes of before there was configuration: git takes their URLs for what configuration does
    // not name.
    {"remotes", Kind::kTree, "git remotes"},
    {"branches", Kind::kTree, "git remotes"},
    // Makes the state around it one of `git rebase -p`, a shell script until 2.33, which evaluates
    // it.
    {"rebase-merge/rewritten", Kind::kPinned, "git rebase"},
};

// Places of git's that filesystem.protect may name and that are looked after anyway, better than by
// protecting all that is in them.
constexpr std::string_view kOwnPlaces[] = {".git",           ".git/hooks",   ".git/config",
                                           ".git/commondir", ".git/modules", ".git/config.worktree",
                                           ".git/worktrees"};

Found FoundOf(const PathStamp& stamp) {
  if (!stamp.exists) return Found::kAbsent;
  if (stamp.IsDirectory()) return Found::kDirectory;
  if (stamp.IsRegular()) return Found::kFile;
  return stamp.IsSymlink() ? Found::kSymlink : Found::kOther;
}

// Everything is absent, read, or an error: what cannot be read now git may well read later, and one
// place after another has been taken for empty that was not.
Error Unreadable(const std::string& path, const std::string& why) {
  return {"protected paths", path + ": " + why};
}
Error Unreadable(const std::string& path, int code) {
  if (code == EFBIG) return Unreadable(path, "it is too large to be read");
  return {"protected paths: read", path, code};
}

// Nothing: it is absent. Never opens what is not a regular file: opening a device can do something.
Result<std::optional<std::string>> ReadText(const std::string& path, std::size_t limit) {
  const UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place && MeansAbsent(errno)) return std::nullopt;
  struct stat status{};
  if (!place || fstat(place.get(), &status) != 0) {
    return std::unexpected(Unreadable(path, errno));
  }
  if (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3)) return "";  // /dev/null
  if (!S_ISREG(status.st_mode)) return std::unexpected(Unreadable(path, "it is no regular file"));
  Result<std::string> text = ReadFile(ProcPath(place.get()), limit);
  if (!text) return std::unexpected(Unreadable(path, text.error().sys_errno));
  return std::move(*text);
}

// git follows a symlink here, and a command could have made it.
Result<std::optional<std::string>> ReadOwnText(const std::string& path, std::size_t limit) {
  const PathStamp stamp = LookAt(path);
  if (stamp.error != 0) return std::unexpected(Unreadable(path, stamp.error));
  if (stamp.exists && !stamp.IsRegular()) {
    return std::unexpected(Unreadable(path, "it is no regular file; remove it"));
  }
  return ReadText(path, limit);
}

Result<GitIndex> LoadIndex(const std::string& path, std::span<const std::uint32_t> replaced = {}) {
  PA_TRY(const std::optional<std::string> bytes, ReadOwnText(path, kMaxIndex));
  if (!bytes) return GitIndex{};
  std::expected<GitIndex, std::string> index = ReadGitIndex(*bytes, replaced);
  if (index) return std::move(*index);
  return std::unexpected(Unreadable(path, "git's index cannot be read: " + index.error() +
                                              "; `git read-tree HEAD` makes a new one"));
}

// With what its shared half adds.
Result<GitIndex> LoadWholeIndex(const std::string& path) {
  Result<GitIndex> index = LoadIndex(path);
  if (!index || index->shared.empty()) return index;
  PA_TRY(const GitIndex rest, LoadIndex(Join(ParentOf(path), index->shared), index->replaced));
  index->links.insert(index->links.end(), rest.links.begin(), rest.links.end());
  index->folded.insert(index->folded.end(), rest.folded.begin(), rest.folded.end());
  return index;
}

// No submodule's name begins with a slash.
std::vector<std::string> NamesOf(const GitIndex& index) {
  std::vector<std::string> names = index.links;
  for (const std::string& name : index.folded) {
    names.push_back("/" + name.substr(0, name.find_last_not_of('/') + 1));
  }
  return names;
}

// What one file of configuration says, and those that it includes.
struct Configuration {
  std::vector<std::string> hooks_paths;
  std::string work_tree;
};

class ProtectedFinder {
 public:
  explicit ProtectedFinder(const ProtectionQuery& query) : query_(query) {}
  std::expected<ProtectedPaths, ProtectionFailure> Find();

 private:
  void Fail(ProtectionFailure failure);
  PathStamp Look(const std::string& path);
  HolderPtr HolderOf(const std::string& absent);
  bool Has(const std::string& directory, const char* name);
  std::optional<std::string> Read(const std::string& path, std::size_t limit);
  std::vector<std::string> NamesIn(const std::string& directory);
  const std::string* AreaOf(const std::string& path) const;
  void Add(const std::string& path, Kind kind, Found found, const std::string& reason);
  std::string Walk(const std::string& path, Kind kind, const std::string& reason);
  std::string Missing(std::string at, std::vector<std::string> rest, Kind kind,
                      const std::string& reason);
  std::optional<std::string> ReadLine(const std::string& path);
  std::string Expand(const std::string& path) const;
  std::vector<GitVariable> Variables(const std::string& path, std::string_view text);

  void NearestRepository();
  void EnclosingGitDirectory(const std::string& at);
  void ProjectsAbove();
  void RepositoriesBelow();
  void WorkingTree(const std::string& top);
  void Submodules(const std::string& top);
  void IndexOf(const std::string& top, const std::string& git_directory);
  void FoldedIn(const std::string& top, const GitIndex& index);
  void StateOf(const std::string& directory);
  void GitDirectory(const std::string& directory, const std::string& top);
  void HooksFrom(const std::string& tree, const std::vector<std::string>& hooks_paths,
                 const char* reason);
  void LinkedTrees(const std::string& worktrees, std::vector<std::string>& tops);
  void Modules(const std::string& directory, int depth);
  void ReadConfiguration(const std::string& file, Configuration& into, int depth = 0);
  void UserConfiguration();
  void Places();
  void AuditDirectory();
  void HostFileAt(const std::string& directory, const HostFile& file);
  void HostFilesIn(const std::string& directory, HostFile::Base base, bool symlinks = true);
  void AllHostFiles();
  void HooksIn(const std::string& directory, const std::string& reason);
  void AllHooks();
  bool LeadsToArea(const std::string& path) const;
  bool CanBeReadOnly(const std::string& directory) const;
  bool InTree(const std::string& path) const;
  bool InReadOnly(const std::string& path) const;
  ProtectedPaths Finish();

  const ProtectionQuery& query_;
  std::map<std::string, ProtectedPath> paths_;
  std::map<std::string, PathStamp> looked_at_;
  std::map<std::string, HolderPtr> holders_;  // by path
  std::set<std::string> fresh_;   // looked at within the clock's tick: no stamp tells of more
  std::set<std::string> listed_;  // directories whose names count
  std::map<std::string, std::vector<std::string>> git_directories_;  // and their core.hooksPath
  std::set<std::string> visited_;  // working trees, or their places
  std::set<std::string> trees_;    // working trees, in which a relative core.hooksPath begins
  std::vector<std::pair<std::string, std::string>> hooks_;  // directory, reason
  const HostFile* host_ = nullptr;                          // whose way is gone
  ProtectionSource source_ = ProtectionSource::kBuiltIn;    // the same
  std::string git_dir_;                                     // of the nearest repository
  std::string top_level_;
  std::vector<std::string> above_;  // projects in which the working directory lies
  std::vector<std::string> below_;  // working trees of query_.repositories
  std::vector<ProtectedPaths::Index> indexes_;
  std::set<std::pair<std::string, std::string>> indexed_;  // git directory, top
  std::vector<ProtectedPaths::Decider> deciders_;
  std::set<std::string> left_out_;
  std::optional<ProtectionFailure> error_;
  bool too_many_ = false;
  bool below_the_project_ = false;  // the repository that is looked at, which is not its own
};

// The first one is told. Landlock refuses what access(2) allows: then a janitor's process may not
// read it.
void ProtectedFinder::Fail(ProtectionFailure failure) {
  const bool refused = failure.sys_errno == EACCES && !failure.subject.empty();
  if (refused && faccessat(AT_FDCWD, failure.subject.c_str(), R_OK, AT_EACCESS) == 0) {
    failure.kind = ProtectionFailure::Kind::kOutOfReach;
  }
  if (!error_) error_ = std::move(failure);
}

PathStamp ProtectedFinder::Look(const std::string& path) {
  const auto known = looked_at_.find(path);
  if (known != looked_at_.end()) return known->second;
  const PathStamp stamp = looked_at_[path] = LookAt(path);
  if (stamp.error != 0) Fail(Unreadable(path, stamp.error));
  if (!stamp.Settled()) fresh_.insert(path);
  return stamp;
}

// Each component up to it must have been looked at, in this order: what was made meanwhile is seen.
HolderPtr ProtectedFinder::HolderOf(const std::string& absent) {
  for (std::string at = ParentOf(absent);; at = ParentOf(at)) {
    const auto known = looked_at_.find(at);
    if (known == looked_at_.end()) return nullptr;
    const PathStamp& stamp = known->second;
    if (stamp.IsDirectory()) {
      HolderPtr& holder = holders_[at];
      if (!holder) holder = std::make_shared<const Holder>(at, stamp, !fresh_.contains(at));
      return holder;
    }
    if (stamp.exists || at == "/") return nullptr;
  }
}

bool ProtectedFinder::Has(const std::string& directory, const char* name) {
  const PathStamp stamp = LookAt(directory + "/" + name);
  if (stamp.error != 0) Fail(Unreadable(directory + "/" + name, stamp.error));
  return stamp.exists;
}

// Nothing: it is absent, or the search has failed.
std::optional<std::string> ProtectedFinder::Read(const std::string& path, std::size_t limit) {
  Result<std::optional<std::string>> text = ReadText(path, limit);
  if (text) return std::move(*text);
  Fail(text.error());
  return std::nullopt;
}

std::vector<std::string> ProtectedFinder::NamesIn(const std::string& directory) {
  Look(directory);
  listed_.insert(directory);
  // Of more Add() says that it is too much.
  Result<std::vector<std::string>> names = ReadNames(directory, O_NOFOLLOW, kMaxPaths + 1);
  if (names) return std::move(*names);
  Fail(Unreadable(directory, names.error().sys_errno));
  return {};
}

// Strictly beneath: the tree's own name stands where the command cannot write.
const std::string* ProtectedFinder::AreaOf(const std::string& path) const {
  const std::string* best = nullptr;
  for (const std::string& area : query_.writable) {
    if (path == area || !IsBeneath(path, area)) continue;
    if (best == nullptr || area.size() > best->size()) best = &area;
  }
  return best;
}

void ProtectedFinder::Add(const std::string& path, Kind kind, Found found,
                          const std::string& reason) {
  // Nothing of it could be kept from a command for which all of its directory is open.
  if (kind == Kind::kTree && IsBeneath(query_.directory, path)) {
    Fail({Error("protected directory", path + " (" + reason + ")"),
          ProtectionFailure::Kind::kWithin});
  }
  const std::string* area = AreaOf(path);
  if (area == nullptr || too_many_) return;
  const bool of_its_own = kind == Kind::kPinned || kind == Kind::kState;
  if (!of_its_own && found != Found::kDirectory && found != Found::kAbsent) kind = Kind::kFile;
  ProtectedPath added{.path = path, .kind = kind, .found = found, .area = *area, .reason = reason};
  if (kind != Kind::kPinned) added.host = host_;
  added.source = kind == Kind::kReadOnly ? ProtectionSource::kGitCommands : source_;
  const auto [at, is_new] = paths_.try_emplace(path, added);
  // The tree says more than the name, the names more than the place.
  constexpr std::array kWeight = {0, 2, 3, 1, 1, 6, 4, 5};
  const auto weight = [&](Kind of) { return kWeight.at(static_cast<std::size_t>(of)); };
  if (!is_new && weight(kind) > weight(at->second.kind)) {
    added.repository = at->second.repository;
    at->second = std::move(added);
  }
  too_many_ = paths_.size() > kMaxPaths + kMaxProjects * HostFiles().size();
}

// Goes to `path` as the kernel would, and protects it and what leads to it: directories stay where
// they are, symlinks lead where they led. What `path` came to be.
std::string ProtectedFinder::Walk(const std::string& path, Kind kind, const std::string& reason) {
  std::vector<std::string> rest;  // the next component last
  const auto push = [&](std::string_view more) {
    std::vector<std::string> components;
    while (!more.empty()) {
      components.emplace_back(more.substr(0, more.find('/')));
      more.remove_prefix(std::min(components.back().size() + 1, more.size()));
    }
    rest.insert(rest.end(), components.rbegin(), components.rend());
  };
  push(path);
  std::string at = "/";
  for (int symlinks = 0; !rest.empty();) {
    const std::string component = std::move(rest.back());
    rest.pop_back();
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      at = ParentOf(at);
      continue;
    }
    std::string next = Join(at, component);
    const PathStamp stamp = Look(next);
    if (stamp.IsSymlink()) {
      Add(next, Kind::kFile, Found::kSymlink, reason);
      std::array<char, PATH_MAX> target;
      const ssize_t length = readlink(next.c_str(), target.data(), target.size());
      const bool read = length > 0 && static_cast<std::size_t>(length) < target.size();
      if (!read) Fail(Unreadable(next, length < 0 ? errno : ENAMETOOLONG));
      if (!read || ++symlinks > kMaxSymlinks) return next;
      const std::string_view text(target.data(), static_cast<std::size_t>(length));
      if (text.starts_with('/')) at = "/";
      push(text);
      continue;
    }
    if (!stamp.exists || (!rest.empty() && !stamp.IsDirectory())) {
      return Missing(next, std::move(rest), kind, reason);
    }
    Add(next, rest.empty() ? kind : Kind::kPinned, FoundOf(stamp), reason);
    at = std::move(next);
  }
  return at;
}

// `at` is not there, or no directory: what would lie beneath must not come to exist.
std::string ProtectedFinder::Missing(std::string at, std::vector<std::string> rest, Kind kind,
                                     const std::string& reason) {
  for (; !rest.empty(); rest.pop_back()) {
    if (rest.back() == "..") return at;  // git would not find its way either
    if (rest.back().empty() || rest.back() == ".") continue;
    at = Join(at, rest.back());
    looked_at_.try_emplace(at);  // beneath what is not there nothing is
  }
  Add(at, kind, Found::kAbsent, reason);
  return at;
}

// The only line of a small file; nothing if there is none. A NUL byte would end it for git alone.
std::optional<std::string> ProtectedFinder::ReadLine(const std::string& path) {
  if (!Look(path).exists) return std::nullopt;
  std::optional<std::string> text = Read(path, kMaxLinkFile);
  if (!text) return std::nullopt;
  if (text->contains('\0')) Fail(Unreadable(path, "there is a NUL byte in it"));
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text->empty() ? std::nullopt : text;
}

std::string ProtectedFinder::Expand(const std::string& path) const {
  constexpr std::string_view kOptional = ":(optional)";
  if (path.starts_with(kOptional)) return Expand(path.substr(kOptional.size()));
  return path.starts_with("~/") ? query_.home + path.substr(1) : path;
}

// Upwards, as git does. One that is not complete git passes over, but a command could complete it.
void ProtectedFinder::NearestRepository() {
  const std::string& here = query_.directory;
  WorkingTree(here);
  if (!Look(Join(here, ".git")).exists) {
    // For git it would be a repository as soon as these were there, without any `.git`.
    const bool bare = Has(here, "HEAD");
    bare ? GitDirectory(here, "") : void(Walk(here + "/HEAD", Kind::kFile, "git repository"));
  }
  for (std::string at = here;; at = ParentOf(at)) {
    EnclosingGitDirectory(at);
    const std::string name = Join(at, ".git");
    const PathStamp stamp = top_level_.empty() ? Look(name) : PathStamp{};
    if (stamp.exists) WorkingTree(at);
    if (stamp.exists && (!stamp.IsDirectory() || Has(name, "HEAD"))) top_level_ = at;
    if (at == "/") return;
  }
}

// By its content, whatever its name, and past the nearest `.git`: a command could make one in
// there. Its working tree may lie in it, so nothing but what git executes is held.
void ProtectedFinder::EnclosingGitDirectory(const std::string& at) {
  if (!Look(Join(at, "HEAD")).exists) return;
  for (const char* name : {"commondir", "objects", "refs"}) Look(Join(at, name));
  const Result<bool> is = IsGitDirectory(at == "/" ? "" : at);
  if (!is) return Fail(Unreadable(at, is.error().sys_errno));
  if (*is) GitDirectory(at, "");
}

// What is protected there counts also where a call chooses a directory in the midst of it
// (`.vscode`).
void ProtectedFinder::ProjectsAbove() {
  const auto within = [&](const std::string& at) {
    return std::ranges::any_of(query_.roots,
                               [&](const std::string& root) { return IsBeneath(at, root); });
  };
  for (std::string at = ParentOf(query_.directory); within(at); at = ParentOf(at)) {
    const bool root = std::ranges::find(query_.roots, at) != query_.roots.end();
    if (root || Look(Join(at, ".git")).exists) above_.push_back(at);
    if (at == "/") break;
  }
  if (top_level_.empty() || top_level_ == query_.directory) return;
  if (std::ranges::find(above_, top_level_) == above_.end()) above_.push_back(top_level_);
}

// One mount keeps all of a repository as it is, whatever the host renames in it meanwhile; beyond
// so many of them, and without any, what git executes there is put back as elsewhere.
void ProtectedFinder::RepositoriesBelow() {
  const std::size_t others = paths_.size();
  for (const RepositoryBelow& one : query_.repositories) {
    const bool bare = one.kind == RepositoryBelow::Kind::kBare;
    const std::string top = bare ? one.path : ParentOf(one.path);
    if (!bare) below_.push_back(top);
    if (visited_.contains(top)) continue;  // a submodule, which the git above it may write
    if (query_.mounts && one.IsDirectory() && paths_.size() - others < kMaxFrozen) {
      Walk(one.path, Kind::kFrozen, "git repository below the working directory");
      const auto frozen = paths_.find(one.path);
      if (frozen != paths_.end()) frozen->second.repository = true;
    } else {
      below_the_project_ = true;
      bare ? GitDirectory(one.path, "") : WorkingTree(top);
      below_the_project_ = false;
    }
  }
}

// A working directory, or another place in which commands may write, can lie in the midst of one.
bool ProtectedFinder::CanBeReadOnly(const std::string& directory) const {
  const auto within = [&](const std::string& path) { return IsBeneath(path, directory); };
  return query_.git_read_only && !below_the_project_ && !within(query_.directory) &&
         std::ranges::none_of(query_.writable, within);
}

// `.git` of a working tree, be it there or not, and where it leads.
void ProtectedFinder::WorkingTree(const std::string& top) {
  if (too_many_ || !visited_.insert(top).second) return;
  const std::string place = Walk(Join(top, ".git"), Kind::kPinned, "git repository");
  const PathStamp stamp = Look(place);
  std::string directory = place;
  if (stamp.IsRegular()) {
    constexpr std::string_view kWord = "gitdir: ";
    Walk(place, Kind::kFile, "git repository");
    const std::optional<std::string> line = ReadLine(place);
    if (!line || !line->starts_with(kWord)) return;
    directory = ResolvePath(Join(top, line->substr(kWord.size())));
  } else if (!stamp.IsDirectory()) {
    return;
  }
  if (top == query_.directory || git_dir_.empty()) git_dir_ = directory;
  GitDirectory(directory, top);
  Submodules(top);
  IndexOf(top, directory);
}

std::vector<GitVariable> ProtectedFinder::Variables(const std::string& path,
                                                    std::string_view text) {
  std::expected<std::vector<GitVariable>, std::string> variables = ParseGitConfig(text);
  if (variables) return std::move(*variables);
  Fail(Unreadable(path, variables.error()));
  return {};
}

// Those that .gitmodules names, checked out or not: git looks into whatever has a `.git` there.
void ProtectedFinder::Submodules(const std::string& top) {
  const std::string file = Join(top, ".gitmodules");
  Look(file);
  if (const std::string* area = AreaOf(file)) deciders_.push_back({file, *area, Kind::kFile});
  const Result<std::optional<std::string>> text = ReadOwnText(file, kMaxGitConfig);
  if (!text) return Fail(text.error());
  if (!*text) return;
  for (const GitVariable& variable : Variables(file, **text)) {
    if (!variable.name.starts_with("submodule.") || !variable.name.ends_with(".path")) continue;
    const bool leaves = ("/" + variable.value + "/").contains("/../");
    if (variable.value.empty() || variable.value.starts_with('/') || leaves) continue;
    WorkingTree(ResolvePath(Join(top, variable.value)));
  }
}

// Those that the index says are submodules: for git that is enough.
void ProtectedFinder::IndexOf(const std::string& top, const std::string& git_directory) {
  if (too_many_ || error_ || !indexed_.emplace(git_directory, top).second) return;
  ProtectedPaths::Index index{.path = git_directory + "/index", .top = top};
  index.stamp = Look(index.path);
  const Result<GitIndex> read = LoadWholeIndex(index.path);
  if (!read) return Fail(read.error());
  if (!read->shared.empty()) {
    index.shared = git_directory + "/" + read->shared;
    index.shared_stamp = Look(index.shared);
  }
  index.settled = index.stamp.Settled() && index.shared_stamp.Settled();
  index.links = NamesOf(*read);
  for (const std::string& link : read->links) WorkingTree(ResolvePath(Join(top, link)));
  FoldedIn(top, *read);
  const std::string* own = AreaOf(index.path);
  if (own == nullptr) return;
  deciders_.push_back({index.path, *own, Kind::kFile});
  if (!index.shared.empty()) deciders_.push_back({index.shared, *own, Kind::kFile});
  for (const std::string& area : query_.writable) {
    if (IsBeneath(top, area) && area.size() >= index.area.size()) index.area = area;
  }
  if (!index.area.empty()) indexes_.push_back(std::move(index));
}

// git unfolds a directory of a sparse index as soon as it is there, and finds submodules in its
// tree.
void ProtectedFinder::FoldedIn(const std::string& top, const GitIndex& index) {
  for (std::string name : index.folded) {
    while (name.ends_with('/')) name.pop_back();
    const std::string directory = Join(top, name);
    if (!Look(directory).exists) {
      Walk(directory, Kind::kPinned, "git sparse index");
      continue;
    }
    Fail(Unreadable(
        directory,
        "git's sparse index hides which submodules are in it; remove the directory, or run "
        "`git sparse-checkout reapply --no-sparse-index`"));
  }
}

// All in a git directory that git executes, or that says what to execute, or where to look for it.
void ProtectedFinder::GitDirectory(const std::string& directory, const std::string& top) {
  if (too_many_ || error_ || !Look(directory).IsDirectory()) return;
  if (!top.empty()) trees_.insert(top);
  const auto [entry, is_new] = git_directories_.try_emplace(directory);
  if (!is_new) return HooksFrom(top, entry->second, "core.hooksPath");
  too_many_ = git_directories_.size() > kMaxGitDirectories;
  Walk(directory, CanBeReadOnly(directory) ? Kind::kReadOnly : Kind::kPinned, "git repository");
  if (const auto pinned = paths_.find(directory); pinned != paths_.end()) {
    pinned->second.repository = true;
  }
  StateOf(directory);
  Configuration found;
  std::vector<std::string> tops = {top};
  ReadConfiguration(directory + "/config.worktree", found);
  Modules(directory + "/modules", 0);
  if (const auto common = ReadLine(Walk(directory + "/commondir", Kind::kFile, "git repository"))) {
    const std::string resolved = ResolvePath(Join(directory, *common));
    if (directory == git_dir_) git_dir_ = resolved;
    Walk(directory + "/gitdir", Kind::kFile, "git repository");
    GitDirectory(resolved, top);
  } else {
    ReadConfiguration(directory + "/config", found);
    hooks_.emplace_back(directory + "/hooks", "git hooks");
    LinkedTrees(directory + "/worktrees", tops);
  }
  if (!found.work_tree.empty()) {
    tops.push_back(ResolvePath(Join(directory, Expand(found.work_tree))));
    WorkingTree(tops.back());
    IndexOf(tops.back(), directory);
  }
  for (const std::string& tree : tops) HooksFrom(tree, found.hooks_paths, "core.hooksPath");
  git_directories_[directory] = std::move(found.hooks_paths);
}

// What git itself writes while an operation goes on: its directories come and go, so they are not
// held.
void ProtectedFinder::StateOf(const std::string& directory) {
  for (const GitFile& place : kGitPlaces) {
    Walk(Join(directory, place.name), place.kind, place.reason);
  }
  for (const GitStateFile& file : GitStateFiles()) {
    const std::string path = Join(directory, file.name);
    if (Look(ParentOf(path)).IsSymlink() || Look(path).IsSymlink()) {
      Walk(path, Kind::kFile, std::string(file.reason));
    } else {
      Add(path, Kind::kState, FoundOf(Look(path)), std::string(file.reason));
    }
  }
}

void ProtectedFinder::HooksFrom(const std::string& tree,
                                const std::vector<std::string>& hooks_paths, const char* reason) {
  if (!tree.empty()) trees_.insert(tree);
  for (const std::string& path : hooks_paths) {
    const std::string hooks = Expand(path);
    if (!tree.empty() || hooks.starts_with('/')) hooks_.emplace_back(Join(tree, hooks), reason);
  }
}

// The git directories of linked worktrees. New ones may be made: nothing leads to them.
void ProtectedFinder::LinkedTrees(const std::string& worktrees, std::vector<std::string>& tops) {
  if (const std::string* area = AreaOf(worktrees)) {
    deciders_.push_back({worktrees, *area, Kind::kNames});
  }
  if (!Look(worktrees).IsDirectory()) return;
  Walk(worktrees, Kind::kPinned, "git repository");
  for (const std::string& name : NamesIn(worktrees)) {
    const std::string directory = worktrees + "/" + name;
    const std::optional<std::string> link = ReadLine(directory + "/gitdir");
    const std::string place = link ? Join(directory, *link) : "";
    const std::string top = place.ends_with("/.git") ? ResolvePath(ParentOf(place)) : "";
    if (!top.empty()) {
      Walk(Join(top, ".git"), Kind::kFile, "git repository");
      tops.push_back(top);
    }
    GitDirectory(directory, top);
    const auto holds_top = [&](const std::string& area) { return IsBeneath(top, area); };
    if (top.empty() || !std::ranges::any_of(query_.writable, holds_top)) continue;
    const std::string nearest = git_dir_;
    WorkingTree(top);
    git_dir_ = nearest;
    IndexOf(top, directory);
  }
}

// A submodule's name may hold slashes, so between `modules` and a git directory lie more.
void ProtectedFinder::Modules(const std::string& directory, int depth) {
  if (depth > kMaxSubmoduleDepth || too_many_) return;
  const std::string place = Walk(directory, Kind::kNames, "git submodules");
  if (!Look(place).IsDirectory()) return;
  if (const auto names = paths_.find(place); names != paths_.end()) {
    names->second.repository = true;
  }
  for (const std::string& name : NamesIn(place)) {
    const std::string module = place + "/" + name;
    if (!Look(module).IsDirectory()) continue;
    Has(module, "HEAD") ? GitDirectory(module, "") : Modules(module, depth + 1);
  }
}

void ProtectedFinder::ReadConfiguration(const std::string& file, Configuration& into, int depth) {
  const std::string place = Walk(file, Kind::kFile, "git configuration");
  if (!Look(place).exists || depth > kMaxIncludes) return;
  const std::optional<std::string> text = Read(place, kMaxGitConfig);
  if (!text) return;
  for (const GitVariable& variable : Variables(place, *text)) {
    const std::string& name = variable.name;
    if (variable.value.empty()) continue;
    if (name == "core.hookspath") into.hooks_paths.push_back(variable.value);
    if (name == "core.worktree") into.work_tree = variable.value;
    const bool include =
        name == "include.path" || (name.starts_with("includeif.") && name.ends_with(".path"));
    // Relative to the file that includes, by the name under which git has read it.
    if (include && !too_many_) {
      ReadConfiguration(Join(ParentOf(file), Expand(variable.value)), into, depth + 1);
    }
  }
}

// The user's own files lie elsewhere, but what they name may lie here. git passes over those for
// which it lacks permission, and it is the same user.
void ProtectedFinder::UserConfiguration() {
  Configuration found;
  for (const std::string& file : UserConfigurationFiles(query_)) {
    const bool refused = access(file.c_str(), R_OK) != 0 && errno == EACCES;
    if (!refused || AreaOf(file) != nullptr) ReadConfiguration(file, found);
  }
  const std::set<std::string> trees = trees_;
  for (const std::string& tree : trees) {
    HooksFrom(tree, found.hooks_paths, "core.hooksPath of the user");
  }
}

void ProtectedFinder::Places() {
  source_ = ProtectionSource::kPolicy;
  for (const ConfiguredPath& place : query_.places) {
    if (std::ranges::find(kOwnPlaces, place.path) != std::end(kOwnPlaces)) continue;
    constexpr std::string_view kGit = ".git/";
    if (place.path.starts_with(kGit) && !git_dir_.empty()) {
      Walk(Join(git_dir_, place.path.substr(kGit.size())), Kind::kTree, place.reason);
      continue;
    }
    Walk(Join(query_.directory, place.path), Kind::kTree, place.reason);
    for (const std::string& project : above_) {
      Walk(Join(project, place.path), Kind::kTree, place.reason);
    }
  }
  source_ = ProtectionSource::kBuiltIn;
  for (const ConfiguredPath& anchor : query_.anchors) {
    Walk(anchor.path, Kind::kFile, anchor.reason);
  }
}

// What of it is there is protected with all that leads to it; what is not must not come to exist,
// wherever the directories that are there go.
void ProtectedFinder::HostFileAt(const std::string& directory, const HostFile& file) {
  const Kind kind = file.kind == HostFile::Kind::kTree ? Kind::kTree : Kind::kFile;
  std::string at = directory;
  std::vector<std::string> rest;  // the next component last
  for (const auto part : std::views::split(file.path, '/'))
    rest.emplace_back(part.begin(), part.end());
  std::ranges::reverse(rest);
  while (!rest.empty()) {
    at = Join(at, rest.back());
    rest.pop_back();
    const PathStamp stamp = Look(at);
    if (stamp.IsSymlink()) break;
    if (!stamp.exists) return void(Missing(at, std::move(rest), kind, file.Reason()));
  }
  Walk(Join(directory, file.path), kind, file.Reason());
}

bool ProtectedFinder::LeadsToArea(const std::string& path) const {
  return std::ranges::any_of(query_.writable,
                             [&](const std::string& area) { return IsBeneath(area, path); });
}

// Above the places where commands can write, what leads there counts: by its name, or by a symlink
// of the project's.
void ProtectedFinder::HostFilesIn(const std::string& directory, HostFile::Base base,
                                  bool symlinks) {
  const bool within = AreaOf(Join(directory, "x")) != nullptr;
  if ((!within && !LeadsToArea(directory)) || !Look(directory).IsDirectory()) return;
  for (const HostFile& file : HostFiles()) {
    if (file.base != base) continue;
    const std::string first = Join(directory, file.path.substr(0, file.path.find('/')));
    const bool leads = within || LeadsToArea(first) || (symlinks && Look(first).IsSymlink());
    if (!leads) continue;
    if (std::ranges::find(query_.unprotected, file.path) != query_.unprotected.end()) continue;
    host_ = &file;
    HostFileAt(directory, file);
    host_ = nullptr;
  }
}

// Where hosts look for them: here, at the top of the repository, and where a repository or a
// working tree of one is, which are opened as projects of their own. Those that matter most come
// first.
void ProtectedFinder::AllHostFiles() {
  std::vector<std::string> projects = {query_.directory};
  projects.insert(projects.end(), above_.begin(), above_.end());
  projects.insert(projects.end(), below_.begin(), below_.end());
  for (const std::string& tree : trees_) {
    if (Look(Join(tree, ".git")).exists) projects.push_back(tree);
  }
  std::set<std::string> done;
  for (const std::string& project : projects) {
    if (HoldsPackages(project, query_.directory) || done.contains(project)) continue;
    if (done.size() == kMaxProjects) {
      left_out_.insert(project);
    } else {
      done.insert(project);
      HostFilesIn(project, HostFile::Base::kProject);
    }
  }
  if (query_.home.empty()) return;
  const std::string home = ResolvePath(query_.home);
  if (!done.contains(home)) HostFilesIn(home, HostFile::Base::kProject, false);
  HostFilesIn(home, HostFile::Base::kHome, false);
}

// To put back a tree in which the log lies would be to take lines away from it.
void ProtectedFinder::AuditDirectory() {
  if (query_.audit_directory.empty()) return;
  const std::string place = Walk(query_.audit_directory, Kind::kSealed, "audit log");
  for (const auto& [path, one] : paths_) {
    if (one.kind != Kind::kTree || !IsBeneath(place, path)) continue;
    error_ =
        Error("protected paths", "the audit log lies in " + path + ", which is kept as it is (" +
                                     one.reason + "): choose another audit.path");
  }
}

// A directory of hooks may be one in which a build writes: then only what git would execute is
// protected.
void ProtectedFinder::HooksIn(const std::string& directory, const std::string& reason) {
  const std::string resolved = ResolvePath(directory);
  const auto beneath = [&](const std::string& path) { return IsBeneath(path, resolved); };
  if (std::ranges::any_of(query_.writable, beneath) ||
      std::ranges::any_of(std::views::keys(git_directories_), beneath)) {
    for (const std::string_view name : kHookNames) {
      const std::string hook = Join(resolved, name);
      if (AreaOf(hook) != nullptr) Walk(hook, Kind::kFile, reason);
    }
    return;
  }
  const std::string place = Walk(directory, Kind::kTree, reason);
  if (!Look(place).IsDirectory()) return;
  // A hook is often a symlink to a script of the project.
  for (const std::string& name : NamesIn(place)) {
    const std::string hook = place + "/" + name;
    if (Look(hook).IsSymlink()) Walk(hook, Kind::kFile, reason);
  }
}

void ProtectedFinder::AllHooks() {
  for (const auto& [directory, reason] : hooks_) {
    if (!too_many_) HooksIn(directory, reason);
  }
}

bool ProtectedFinder::InTree(const std::string& path) const {
  for (std::string at = ParentOf(path); at != "/"; at = ParentOf(at)) {
    const auto known = paths_.find(at);
    if (known == paths_.end()) continue;
    if (known->second.kind == Kind::kTree && known->second.found == Found::kDirectory) return true;
  }
  return false;
}

bool ProtectedFinder::InReadOnly(const std::string& path) const {
  for (std::string at = ParentOf(path); at != "/"; at = ParentOf(at)) {
    const auto known = paths_.find(at);
    if (known == paths_.end() || known->second.kind != Kind::kReadOnly) continue;
    return known->second.found == Found::kDirectory;
  }
  return false;
}

ProtectedPaths ProtectedFinder::Finish() {
  // What commands cannot reach need not be held; that it decided the result still counts.
  std::vector<ProtectedPath> within;
  for (const auto& [path, one] : paths_) {
    if (InReadOnly(path)) within.push_back(one);
  }
  for (const ProtectedPath& one : within) paths_.erase(one.path);
  std::erase_if(indexes_, [&](const auto& one) { return InReadOnly(one.path); });
  std::erase_if(deciders_, [&](const auto& one) { return InReadOnly(one.path); });
  ProtectedPaths result{.indexes = std::move(indexes_),
                        .deciders = std::move(deciders_),
                        .within_read_only = std::move(within),
                        .left_out = {left_out_.begin(), left_out_.end()}};
  for (auto& [path, protected_path] : paths_) {
    if (InTree(path)) continue;
    protected_path.stamp = Look(path);
    if (!protected_path.stamp.exists) protected_path.holder = HolderOf(path);
    result.paths.push_back(protected_path);
  }
  for (const auto& [path, stamp] : looked_at_) {
    const auto known = paths_.find(path);
    const bool compared = known != paths_.end() && known->second.kind != Kind::kPinned &&
                          known->second.kind != Kind::kSealed && !IsWhole(known->second.kind);
    // A directory that was only passed tells nothing by what is in it.
    const bool passed = stamp.IsDirectory() && !listed_.contains(path);
    if (compared || passed) continue;
    auto& input = result.inputs.emplace_back(path, stamp);
    if (!stamp.exists) input.holder = HolderOf(path);
  }
  return result;
}

std::expected<ProtectedPaths, ProtectionFailure> ProtectedFinder::Find() {
  NearestRepository();
  ProjectsAbove();
  for (const std::string& area : query_.writable) {
    const PathStamp stamp = LookAt(area);
    if (stamp.error != 0) Fail(Unreadable(area, stamp.error));
    if (stamp.IsDirectory()) WorkingTree(area);
  }
  RepositoriesBelow();
  UserConfiguration();
  AllHooks();
  Places();
  AllHostFiles();
  AuditDirectory();
  if (error_) return std::unexpected(std::move(*error_));
  if (too_many_) {
    return std::unexpected(
        Error("protected paths", "too many of them to protect, in " + query_.directory));
  }
  return Finish();
}

}  // namespace

HolderLook::Seen& HolderLook::SeenAt(const std::string& path, SeenPaths::value_type*& last) {
  if (last != nullptr && last->first == path) return last->second;
  const auto [known, is_new] = seen_.try_emplace(path);
  Seen& seen = known->second;
  if (is_new) {
    seen.stamp = LookAt(path);
    seen.settled = seen.stamp.Settled();
    if (renewed_ != nullptr) {
      const auto renewed = renewed_->find(path);
      seen.renewed = renewed != renewed_->end() && seen.stamp == renewed->second;
    }
  }
  last = &*known;
  return seen;
}

// By descriptor: the kernel need not walk to the holder for each name.
bool HolderLook::IsAbsentIn(Seen& holder, const std::string& holder_path, std::string_view name) {
  const auto [known, is_new] = holder.names.try_emplace(std::string(name));
  if (!is_new) return known->second;
  if (!holder.directory) {
    constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (open_ != nullptr) open_->directory.reset();
    open_ = &holder;
    holder.directory = UniqueFd(open(holder_path.c_str(), kFlags));
  }
  const PathStamp stamp = holder.directory ? LookAt(holder.directory.get(), known->first)
                                           : LookAt(Join(holder_path, known->first));
  known->second = stamp.IsAbsent();
  return known->second;
}

bool HolderLook::StillAbsent(const std::string& path, const HolderPtr& known) {
  if (known == nullptr) return At(path).IsAbsent();
  if (known.get() == untouched_) return true;
  const Holder& holder = *known;
  Seen& now = SeenAt(holder.path, holder_);
  if (now.renewed || (holder.settled && now.stamp == holder.stamp)) {
    untouched_ = &holder;
    return true;
  }
  // By another directory, or a symlink, the path leads elsewhere.
  if (!now.stamp.SameFile(holder.stamp)) return false;
  // As long as the first name on the way is not there, nothing can come beneath without moving the
  // holder.
  const std::size_t begin = holder.path == "/" ? 1 : holder.path.size() + 1;
  const std::size_t end = path.find('/', begin);
  const std::string_view first = std::string_view(path).substr(begin, end - begin);
  if (!IsAbsentIn(now, holder.path, first)) {
    outdated_ = true;
    return end != path.npos && LookAt(path).IsAbsent();
  }
  if (now.settled) now.renew = true;
  return true;
}

std::optional<HolderStamps> HolderLook::Renewed() const {
  if (outdated_) return std::nullopt;
  HolderStamps all;
  for (const auto& [path, seen] : seen_) {
    if (seen.renew) all.emplace(path, seen.stamp);
  }
  if (all.empty()) return std::nullopt;
  if (renewed_ != nullptr) all.insert(renewed_->begin(), renewed_->end());
  return all;
}

bool ProtectedPaths::Hold(std::span<const Input> inputs, HolderLook& look) {
  return std::ranges::all_of(inputs, [&](const Input& input) {
    return input.stamp.exists ? look.At(input.path) == input.stamp
                              : look.StillAbsent(input.path, input.holder);
  });
}

bool ProtectedPaths::InputsHold() const {
  HolderLook look;
  return Hold(inputs, look);
}

Result<std::vector<std::string>> SubmodulesOf(const ProtectedPaths::Index& index) {
  PA_TRY(const GitIndex read, LoadWholeIndex(index.path));
  return NamesOf(read);
}

bool IsWhole(ProtectedPath::Kind kind) { return kind == Kind::kFrozen || kind == Kind::kReadOnly; }

const ProtectedPath* ProtectedPaths::Protecting(const std::string& path) const {
  const auto found = std::ranges::find_if(paths, [&](const ProtectedPath& one) {
    const bool whole = one.kind == Kind::kTree || one.kind == Kind::kSealed || IsWhole(one.kind);
    return one.path == path || (whole && IsBeneath(path, one.path));
  });
  return found == paths.end() ? nullptr : &*found;
}

bool Forbids(const ProtectedPath& kept, const std::string& path) {
  const bool whole = kept.kind == Kind::kTree || kept.kind == Kind::kSealed || IsWhole(kept.kind) ||
                     kept.found == ProtectedPath::Found::kAbsent;
  if (kept.host != nullptr) {
    std::string_view rest = path;
    std::string_view name = kept.path;
    TakeSame(rest, name);
    return name.empty() && (rest.empty() || whole);
  }
  if (path == kept.path) return true;
  const bool parent = std::string_view(path).substr(0, path.rfind('/')) == kept.path;
  return (whole && IsBeneath(path, kept.path)) || (kept.kind == Kind::kNames && parent);
}

const ProtectedPath* ProtectedPaths::Sealed() const {
  const auto found = std::ranges::find(paths, Kind::kSealed, &ProtectedPath::kind);
  return found == paths.end() ? nullptr : &*found;
}

std::vector<std::string> WritableTrees(std::span<const sandbox::PathGrant> grants) {
  std::vector<std::string> trees;
  for (const sandbox::PathGrant& grant : grants) {
    const bool device = sandbox::Has(grant.access, sandbox::Access::kDevice);
    if (sandbox::Has(grant.access, sandbox::Access::kWrite) && !device) {
      trees.push_back(grant.path);
    }
  }
  return trees;
}

ProtectionQuery QueryFor(const Policy& policy, std::string directory,
                         std::vector<std::string> writable) {
  return {.directory = std::move(directory),
          .writable = std::move(writable),
          .places = policy.protect,
          .unprotected = policy.unprotect,
          .roots = policy.roots,
          .anchors = policy.anchors,
          .audit_directory = policy.audit.Directory(),
          .home = policy.home,
          .config_home = policy.config_home};
}

std::vector<std::string> UserConfigurationFiles(const ProtectionQuery& query) {
  std::vector<std::string> files = {query.system_configuration};
  if (!query.config_home.empty()) files.push_back(query.config_home + "/git/config");
  if (!query.home.empty()) files.push_back(query.home + "/.gitconfig");
  return files;
}

std::expected<ProtectedPaths, ProtectionFailure> FindProtectedPaths(const ProtectionQuery& query) {
  return ProtectedFinder(query).Find();
}

}  // namespace pa::policy
