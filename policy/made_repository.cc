#include "policy/made_repository.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "base/directory_reader.h"
#include "base/file.h"
#include "base/path_stamp.h"
#include "base/unique_fd.h"
#include "base/words.h"
#include "policy/git_config.h"
#include "policy/path.h"
#include "policy/repository.h"

namespace pa::policy {
namespace {

// Of one repository. Beyond any of these nobody judges it, and it goes as a whole.
constexpr std::size_t kMaxForeign = 1024;
constexpr std::size_t kMaxEntries = 20'000;  // in directories of hooks, modules and worktrees
constexpr std::size_t kMaxAllConfiguration = 4u << 20;  // bytes of its files together
constexpr std::size_t kMaxNamed = 8;                    // variables of one file

// Sections, a subsection as `*`, and variables. Not there, because git executes them or what they
// name: core.fsmonitor, hookspath, sshcommand, pager, editor, askpass, gitproxy,
// alternaterefscommand, attributesfile; filter, diff, merge and mergetool drivers; alias;
// credential; include; gpg.program; remote.*.uploadpack, receivepack and vcs; submodule.*.update
// with a command; uploadpack; url.*.insteadof and protocol, which decide what a URL means.
constexpr std::string_view kAllowed[] = {"advice.detachedhead",
                                         "branch.*.merge",
                                         "branch.*.pushremote",
                                         "branch.*.rebase",
                                         "branch.*.remote",
                                         "branch.*.vscode-merge-base",
                                         "branch.autosetuprebase",
                                         "color.ui",
                                         "commit.gpgsign",
                                         "core.abbrev",
                                         "core.autocrlf",
                                         "core.bare",
                                         "core.bigfilethreshold",
                                         "core.checkstat",
                                         "core.compression",
                                         "core.eol",
                                         "core.filemode",
                                         "core.fsyncobjectfiles",
                                         "core.ignorecase",
                                         "core.logallrefupdates",
                                         "core.longpaths",
                                         "core.precomposeunicode",
                                         "core.protecthfs",
                                         "core.protectntfs",
                                         "core.quotepath",
                                         "core.repositoryformatversion",
                                         "core.safecrlf",
                                         "core.sharedrepository",
                                         "core.sparsecheckout",
                                         "core.sparsecheckoutcone",
                                         "core.symlinks",
                                         "core.trustctime",
                                         "core.untrackedcache",
                                         "extensions.compatobjectformat",
                                         "extensions.noop",
                                         "extensions.objectformat",
                                         "extensions.partialclone",
                                         "extensions.preciousobjects",
                                         "extensions.refstorage",
                                         "extensions.relativeworktrees",
                                         "extensions.worktreeconfig",
                                         "feature.manyfiles",
                                         "fetch.prune",
                                         "fetch.recursesubmodules",
                                         "gc.auto",
                                         "gc.autodetach",
                                         "index.skiphash",
                                         "index.sparse",
                                         "index.threads",
                                         "index.version",
                                         "init.defaultbranch",
                                         "lfs.repositoryformatversion",
                                         "maintenance.auto",
                                         "pull.ff",
                                         "pull.rebase",
                                         "push.autosetupremote",
                                         "push.default",
                                         "receive.denycurrentbranch",
                                         "remote.*.fetch",
                                         "remote.*.mirror",
                                         "remote.*.partialclonefilter",
                                         "remote.*.promisor",
                                         "remote.*.prune",
                                         "remote.*.push",
                                         "remote.*.pushurl",
                                         "remote.*.tagopt",
                                         "remote.*.url",
                                         "remote.pushdefault",
                                         "submodule.*.active",
                                         "submodule.*.branch",
                                         "submodule.*.fetchrecursesubmodules",
                                         "submodule.*.ignore",
                                         "submodule.*.shallow",
                                         "submodule.*.update",
                                         "submodule.*.url",
                                         "submodule.active",
                                         "submodule.alternateerrorstrategy",
                                         "submodule.alternatelocation",
                                         "submodule.recurse",
                                         "tag.gpgsign",
                                         "user.email",
                                         "user.name"};

constexpr std::string_view kUpdates[] = {"checkout", "merge", "none", "rebase"};

// `remote.a.b.url` → `remote.*.url`: a subsection may hold dots.
std::string Pattern(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == last) return std::string(name);
  return std::string(name.substr(0, first)) + ".*" + std::string(name.substr(last));
}

// `[core]` or `[remote "origin"]`, and nothing behind it.
bool IsSection(std::string_view line) {
  const std::size_t quote = line.find('"');
  const std::string_view head = line.substr(1, quote == line.npos ? line.size() - 2 : quote - 1);
  const bool word = !head.empty() && std::ranges::all_of(head, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ' ';
  });
  if (!word || !line.ends_with(']')) return false;
  if (quote == line.npos) return !head.contains(' ');
  const std::string_view rest = line.substr(quote + 1);
  return head.ends_with(' ') && rest.find('"') == rest.size() - 2 && !rest.contains('\\');
}

// `name = value` or `name`, the value without anything that goes on in the next line.
bool IsVariable(std::string_view line) {
  const auto end = static_cast<std::size_t>(
      std::ranges::find_if_not(
          line,
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; }) -
      line.begin());
  const std::string_view rest = Trimmed(line.substr(end));
  const bool quotes = std::ranges::count(rest, '"') % 2 == 0;
  const bool named = end > 0 && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
  return named && quotes && !rest.ends_with('\\') && (rest.empty() || rest.front() == '=');
}

// Written as git writes it, a line for each thing, so that no reader can take it for anything else.
// The number of variables; nothing where it is not.
std::optional<std::size_t> CountVariables(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.contains('\r') || line.contains('\0')) return std::nullopt;
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      if (!IsSection(line)) return std::nullopt;
      continue;
    }
    if (!IsVariable(line)) return std::nullopt;
    ++count;
  }
  return count;
}

std::string GitQuoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string Written(const GitVariable& variable) {
  const std::size_t first = variable.name.find('.');
  const std::size_t last = variable.name.rfind('.');
  std::string text = "[" + variable.name.substr(0, first);
  if (first != last) text += " " + GitQuoted(variable.name.substr(first + 1, last - first - 1));
  return text + "]\n\t" + variable.name.substr(last + 1) + " = " + GitQuoted(variable.value) + "\n";
}

// A command has chosen how many there are, and how long each is.
std::string Named(const std::set<std::string_view>& names) {
  constexpr std::size_t kLongest = 80;
  std::string text;
  std::size_t count = 0;
  for (const std::string_view name : names) {
    if (++count > kMaxNamed) break;
    text += (text.empty() ? "" : ", ") + std::string(name.substr(0, kLongest)) +
            (name.size() > kLongest ? "..." : "");
  }
  return names.size() > kMaxNamed
             ? text + " and " + std::to_string(names.size() - kMaxNamed) + " more"
             : text;
}

// What a module names as its working tree lies in that of the repository which holds the module.
bool NamesOwnTree(const GitVariable& variable, const std::string& directory,
                  const std::string& top) {
  return variable.name == "core.worktree" && !top.empty() && !variable.value.starts_with('/') &&
         IsBeneath(ResolvePath(directory + "/" + variable.value), top);
}

std::string Joined(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

// What follows `word` in the only line of a small file; "" if there is no such thing.
std::string LineIn(const std::string& file, std::string_view word) {
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const Result<std::string> text =
      fd ? ReadFileFrom(fd.get(), file, kMaxLinkFile) : std::unexpected(Error("open", file));
  if (!text || !text->starts_with(word) || text->contains('\0')) return "";
  const std::string line = text->substr(word.size());
  return line.substr(0, line.find_last_not_of("\r\n") + 1);
}

class RepositoryJudge {
 public:
  // `top`: in which modules have their working trees, "" for none.
  explicit RepositoryJudge(std::string top) : top_(std::move(top)) {}
  void Directory(const std::string& directory, int depth);
  void Configuration(const std::string& directory, const char* name, bool module = false);
  void Add(Foreign foreign) {
    too_much_ = too_much_ || found_.size() == kMaxForeign;
    if (!too_much_) found_.push_back(std::move(foreign));
  }
  // Of `directory`, which was judged.
  std::vector<Foreign> Take(const std::string& directory) && {
    if (too_much_) return {{directory, "more than can be judged"}};
    return std::move(found_);
  }

 private:
  std::vector<std::string> Names(const std::string& directory);
  void Hooks(const std::string& directory);
  void Modules(const std::string& directory, int depth);
  void Worktrees(const std::string& directory);

  std::string top_;
  std::size_t entries_ = 0;
  std::size_t configuration_ = 0;  // bytes
  bool too_much_ = false;          // found_ is not all
  std::vector<Foreign> found_;
};

// Those in a directory of git's; none of what is known not to be there. A symlink in its place
// leads anywhere.
std::vector<std::string> RepositoryJudge::Names(const std::string& directory) {
  std::vector<std::string> names;
  if (too_much_ || LookAt(directory).IsAbsent()) return names;
  const UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    Add({directory, "it is no directory that can be read"});
    return names;
  }
  DirectoryReader reader(fd.get());
  while (const auto entry = reader.Next()) {
    too_much_ = ++entries_ > kMaxEntries;
    if (too_much_) return {};
    names.emplace_back(entry->name);
  }
  if (reader.failed()) Add({directory, "it cannot be read"});
  std::ranges::sort(names);
  return names;
}

void RepositoryJudge::Configuration(const std::string& directory, const char* name, bool module) {
  const std::string file = directory + "/" + name;
  const PathStamp stamp = LookAt(file);
  if (too_much_ || stamp.IsAbsent()) return;
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const Result<std::string> text = fd && stamp.IsRegular()
                                       ? ReadFileFrom(fd.get(), file, kMaxGitConfig)
                                       : std::unexpected(Error("open", file));
  if (!text) return Add({file, "it cannot be read"});
  configuration_ += text->size();
  too_much_ = configuration_ > kMaxAllConfiguration;
  if (too_much_) return;
  const std::expected<std::vector<GitVariable>, std::string> variables = ParseGitConfig(*text);
  if (!variables) return Add({file, variables.error()});
  std::set<std::string_view> foreign;
  std::string instead;
  for (const GitVariable& variable : *variables) {
    if (IsAllowedVariable(variable.name, variable.value) ||
        (module && NamesOwnTree(variable, directory, top_))) {
      instead += Written(variable);
    } else {
      foreign.insert(variable.name);
    }
  }
  const bool unusual = foreign.empty() && CountVariables(*text) != variables->size();
  if (unusual || !foreign.empty()) {
    Add({file, unusual ? "an unusual spelling" : Named(foreign), std::move(instead)});
  }
}

void RepositoryJudge::Hooks(const std::string& directory) {
  for (const std::string& name : Names(directory)) {
    if (!name.ends_with(".sample")) Add({directory + "/" + name, "a hook"});
  }
}

// A submodule's name may hold slashes, so between `modules` and a git directory lie more.
void RepositoryJudge::Modules(const std::string& directory, int depth) {
  for (const std::string& name : Names(directory)) {
    const std::string module = directory + "/" + name;
    if (!LookAt(module).IsDirectory()) {
      Add({module, "it is no directory"});
    } else if (depth > kMaxSubmoduleDepth) {
      Add({module, "it lies too deep"});
    } else if (!LookAt(module + "/HEAD").IsAbsent()) {
      Directory(module, depth);
    } else {
      Modules(module, depth + 1);
    }
  }
}

void RepositoryJudge::Worktrees(const std::string& directory) {
  for (const std::string& name : Names(directory)) {
    Configuration(directory + "/" + name, "config.worktree");
  }
}

void RepositoryJudge::Directory(const std::string& directory, int depth) {
  Configuration(directory, "config", depth > 0);
  Configuration(directory, "config.worktree");
  // Of a linked worktree git makes it, and there is no such thing here.
  if (!LookAt(directory + "/commondir").IsAbsent()) {
    Add({directory + "/commondir", "it leads elsewhere"});
  }
  Hooks(directory + "/hooks");
  Modules(directory + "/modules", depth + 1);
  Worktrees(directory + "/worktrees");
}

// What is kept but for what somebody lays into it is no place to hide another one.
bool IsKept(const std::string& directory, std::span<const KeptDirectory> kept) {
  return std::ranges::any_of(kept, [&](const KeptDirectory& one) {
    return one.whole ? IsBeneath(directory, one.path) : directory == one.path;
  });
}

bool IsOlder(const std::string& directory, const JudgedWithin& within) {
  if (within.since_ns == 0) return false;
  const auto holds = [&](const RepositoryBelow& one) { return IsBeneath(directory, one.path); };
  if (std::ranges::any_of(within.made, holds)) return false;
  const auto found = Identify(directory, RepositoryBelow::Kind::kBare);
  return !found || (*found && (*found)->born_ns < within.since_ns);
}

}  // namespace

bool IsAllowedVariable(std::string_view name, std::string_view value) {
  const std::string pattern = Pattern(name);
  if (std::ranges::find(kAllowed, pattern) == std::end(kAllowed)) return false;
  if (pattern == "submodule.*.update") {
    return std::ranges::find(kUpdates, value) != std::end(kUpdates);
  }
  const bool url = pattern.ends_with("url");
  const std::size_t helper = url ? value.find("::") : value.npos;  // ext::sh -c ...
  const bool runs =
      helper != value.npos && std::ranges::all_of(value.substr(0, helper), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+';
      });
  return !runs && !(url && value.starts_with('-'));
}

std::vector<Foreign> FindForeign(const std::string& git_directory) {
  RepositoryJudge judge(git_directory.substr(0, git_directory.rfind('/')));
  judge.Directory(git_directory, 0);
  return std::move(judge).Take(git_directory);
}

std::vector<Foreign> FindForeign(const RepositoryBelow& made, const JudgedWithin& within) {
  const std::string& area = within.directory;
  if (made.IsDirectory()) return FindForeign(made.path);
  if (made.kind != RepositoryBelow::Kind::kLink) {
    return {{made.path, "it is neither a directory nor a file of git's"}};
  }
  const std::string top = made.path.substr(0, made.path.rfind('/'));
  const std::string target = LineIn(made.path, "gitdir: ");
  const std::string directory = target.empty() ? "" : ResolvePath(Joined(top, target));
  if (directory.empty() || directory == area || !IsBeneath(directory, area)) {
    return {{made.path, "it leads out of the working directory"}};
  }
  // A linked worktree has its own configuration, and the rest is its repository's.
  const std::string line = LineIn(directory + "/commondir", "");
  const std::string common = line.empty() ? "" : ResolvePath(Joined(directory, line));
  const std::string worktrees = directory.substr(0, directory.rfind('/'));
  if (!common.empty() && (worktrees != common + "/worktrees" || !IsBeneath(common, area))) {
    return {{made.path, "it leads to a repository that has no such working tree"}};
  }
  const std::string& whose = common.empty() ? directory : common;
  const bool kept = IsKept(whose, within.kept);
  if (!kept && IsOlder(whose, within)) {
    return {{made.path, "it leads to a repository that was not looked at before"}};
  }
  std::vector<Foreign> found;
  if (!common.empty()) {
    RepositoryJudge judge("");
    judge.Configuration(directory, "config.worktree");
    found = std::move(judge).Take(directory);
    if (!kept) std::ranges::move(FindForeign(common), std::back_inserter(found));
  } else if (!kept) {
    RepositoryJudge judge(top);
    judge.Directory(directory, 1);
    found = std::move(judge).Take(directory);
  }
  return found;
}

}  // namespace pa::policy
