#include "supervisor/state/git_identity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/digest.h"
#include "base/file.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/git_config.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

using Files = std::map<std::string, std::string>;

constexpr char kMainFile[] = "config";
constexpr int kMaxIncludeDepth = 10;           // as git's own
constexpr std::size_t kMaxIdentityFiles = 16;  // that are read

// Who commits; as ParseGitConfig has the names.
constexpr std::string_view kIdentitySettings[] = {
    "user.name",    "user.email",     "user.useconfigonly", "author.name",
    "author.email", "committer.name", "committer.email"};

std::string QuotedForGit(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Of the file itself, where the name is a symlink, as in a directory of dotfiles.
PathStamp LookThrough(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {.error = MeansAbsent(errno) ? 0 : errno};
  return StampOf(status);
}

class IdentityReader {
 public:
  using Looked = std::vector<std::pair<std::string, PathStamp>>;
  IdentityReader(const std::string& home, Looked& looked, std::string& warning)
      : home_(home), looked_(looked), warning_(warning) {}

  // What of the file, and of those that it includes, names somebody.
  std::string Read(const std::string& path, int depth = 0) {
    if (depth > kMaxIncludeDepth || looked_.size() >= kMaxIdentityFiles) {
      return Miss(path, "there are too many includes");
    }
    looked_.emplace_back(path, LookThrough(path));
    const Result<std::string> text = ReadFile(path, policy::kMaxGitConfig);
    const int code = text ? 0 : text.error().sys_errno;
    if (MeansAbsent(code)) return "";  // as git takes it
    if (!text) return Miss(path, text.error().Message());
    const auto variables = policy::ParseGitConfig(*text);
    if (!variables) return Miss(path, variables.error());
    std::string out;
    for (const policy::GitVariable& variable : *variables) out += Kept(path, variable, depth);
    return out;
  }

  Files Take(std::string text) && {
    if (!text.empty()) files_.emplace(kMainFile, std::move(text));
    return std::move(files_);
  }

 private:
  std::string Miss(const std::string& path, std::string_view why) {
    warning_ = fmt::format(
        "commits of the command may lack the user's name: {} of the git configuration is not read: "
        "{}",
        path, why);
    return "";
  }
  std::string Kept(const std::string& path, const policy::GitVariable& variable, int depth) {
    const std::string_view name = variable.name;
    if (std::ranges::find(kIdentitySettings, name) != std::end(kIdentitySettings)) {
      const std::size_t dot = name.find('.');
      // Of the one that is a boolean: without a value it is true.
      const bool bare = variable.value.empty() && name == "user.useconfigonly";
      const std::string value = bare ? "" : " = " + QuotedForGit(variable.value);
      return fmt::format("[{}]\n\t{}{}\n", name.substr(0, dot), name.substr(dot + 1), value);
    }
    constexpr std::string_view kIf = "includeif.";
    constexpr std::string_view kPath = ".path";
    if (name == "include.path") return Read(Absolute(path, variable.value), depth + 1);
    if (!name.starts_with(kIf) || !name.ends_with(kPath)) return "";
    const std::string inner = Read(Absolute(path, variable.value), depth + 1);
    if (inner.empty()) return "";
    const std::string file = fmt::format("{}-{}", kMainFile, files_.size() + 1);
    files_.emplace(file, inner);
    const std::string_view condition =
        name.substr(kIf.size(), name.size() - kIf.size() - kPath.size());
    return fmt::format("[includeIf {}]\n\tpath = {}\n", QuotedForGit(Anchored(path, condition)),
                       file);
  }

  // As git finds what `path` includes.
  std::string Absolute(const std::string& path, const std::string& named) const {
    if (named.starts_with("~/")) return home_ + named.substr(1);
    return named.starts_with('/') ? named : path.substr(0, path.rfind('/') + 1) + named;
  }

  // `gitdir:./x` is relative to the file that has the condition.
  static std::string Anchored(const std::string& path, std::string_view condition) {
    const std::size_t at = condition.find(":./");
    if (!condition.starts_with("gitdir") || at == std::string_view::npos) {
      return std::string(condition);
    }
    return fmt::format("{}:{}{}", condition.substr(0, at), path.substr(0, path.rfind('/')),
                       condition.substr(at + 2));
  }

  const std::string& home_;
  Looked& looked_;
  std::string& warning_;
  Files files_;
};

// Whole or not at all: another server may read or write it just now.
Result<void> Put(const std::string& directory, const std::string& name, const std::string& text) {
  const std::string path = directory + "/" + name;
  const Result<std::string> present = ReadFile(path, text.size());
  if (present && *present == text) return {};
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    const UniqueFd file(open(temporary.c_str(), kFlags, 0600));
    if (!file) return std::unexpected(Error("open", temporary, errno));
    PA_TRY_VOID(WriteAll(file.get(), text));
  }
  if (rename(temporary.c_str(), path.c_str()) == 0) return {};
  return std::unexpected(Error("rename", temporary, errno));
}

// By what it holds: as long as it is granted, it does not change.
std::string NameOfIdentity(const Files& files) {
  std::string all;
  for (const auto& [name, text] : files) all += fmt::format("{} {}\n{}", name, text.size(), text);
  return Hex(Sha256Of(all)).substr(0, 32);
}

// The file that git reads first is the last, so that it never names one that is not there.
Result<std::string> PutAll(const std::string& base, const Files& files) {
  std::string directory = base + "/.identity/" + NameOfIdentity(files);
  PA_TRY_VOID(MakeStateDirectory(directory));
  for (const auto& [name, text] : files) {
    if (name == kMainFile) continue;
    PA_TRY_VOID(Put(directory, name, text));
  }
  PA_TRY_VOID(Put(directory, kMainFile, files.at(kMainFile)));
  return directory;
}

}  // namespace

GitIdentityFound FindGitIdentity(const std::string& home, const std::string& config_home) {
  GitIdentityFound found;
  if (home.empty()) return found;
  IdentityReader reader(home, found.looked, found.warning);
  // In git's order: the last one counts.
  std::string text;
  if (!config_home.empty()) text = reader.Read(config_home + "/git/config");
  text += reader.Read(home + "/.gitconfig");
  found.files = std::move(reader).Take(std::move(text));
  return found;
}

GitIdentity::Key GitIdentity::KeyOf(const policy::Policy& policy) {
  return {.inherit = policy.git.inherit_identity,
          .home = policy.home,
          .config_home = policy.config_home,
          .base = policy.caches.base};
}

bool GitIdentity::StillHolds(const Key& key) const {
  return settled_ && key == key_ && std::ranges::all_of(looked_, [](const auto& file) {
           return LookThrough(file.first) == file.second;
         });
}

const GitIdentity::Given* GitIdentity::Known(const policy::Policy& policy) {
  const Key key = KeyOf(policy);
  if (StillHolds(key)) return &given_;
  return key.inherit && !key.home.empty() ? nullptr : &Take(policy, {});
}

const GitIdentity::Given& GitIdentity::Take(const policy::Policy& policy, GitIdentityFound found) {
  key_ = KeyOf(policy);
  looked_ = std::move(found.looked);
  given_ = {.directory = "", .warning = std::move(found.warning)};
  const auto are_settled = [this] {
    return std::ranges::all_of(looked_, [](const auto& file) { return file.second.Settled(); });
  };
  if (!found.files.contains(kMainFile) || key_.base.empty()) {
    settled_ = are_settled();
    return given_;
  }
  const Result<std::string> directory = PutAll(key_.base, found.files);
  if (directory) {
    given_.directory = *directory;
    looked_.emplace_back(given_.File(), LookThrough(given_.File()));
  } else {
    given_.warning = "commits of the command lack the user's name: " + directory.error().Message();
  }
  settled_ = directory.has_value() && are_settled();
  return given_;
}

}  // namespace pa
