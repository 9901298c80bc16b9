#include "supervisor/tools/git_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "policy/git_config.h"

namespace pa {
namespace {

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

class IdentityReader {
 public:
  explicit IdentityReader(const std::string& home) : home_(home) {}

  // What of the file, and of those that it includes, names somebody.
  std::string Read(const std::string& path, int depth = 0) {
    if (depth > kMaxIncludeDepth || read_++ >= kMaxIdentityFiles)
      return Miss(path, "there are too many includes");
    const Result<std::string> text = ReadFile(path, policy::kMaxGitConfig);
    const int code = text ? 0 : text.error().sys_errno;
    if (code == ENOENT || code == ENOTDIR) return "";  // as git takes it
    if (!text) return Miss(path, text.error().Message());
    const auto variables = policy::ParseGitConfig(*text);
    if (!variables) return Miss(path, variables.error());
    std::string out;
    for (const policy::GitVariable& variable : *variables) out += Kept(path, variable, depth);
    return out;
  }

  GitIdentity Take(std::string text) && {
    if (!text.empty()) identity_.files.emplace(kIdentityFile, std::move(text));
    return std::move(identity_);
  }

 private:
  std::string Miss(const std::string& path, std::string_view why) {
    identity_.warning = fmt::format(
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
    const std::string file = fmt::format("{}-{}", kIdentityFile, identity_.files.size() + 1);
    identity_.files.emplace(file, inner);
    const std::string_view condition =
        name.substr(kIf.size(), name.size() - kIf.size() - kPath.size());
    return fmt::format("[includeIf {}]\n\tpath = {}\n", QuotedForGit(Anchored(path, condition)),
                       file);
  }

  // As git finds what `path` includes.
  std::string Absolute(const std::string& path, std::string named) const {
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
  std::size_t read_ = 0;
  GitIdentity identity_;
};

}  // namespace

GitIdentity ReadGitIdentity(const policy::Policy& policy) {
  if (!policy.git.inherit_identity || policy.home.empty()) return {};
  IdentityReader reader(policy.home);
  // In git's order: the last one counts.
  std::string text;
  if (!policy.config_home.empty()) text = reader.Read(policy.config_home + "/git/config");
  text += reader.Read(policy.home + "/.gitconfig");
  return std::move(reader).Take(std::move(text));
}

}  // namespace pa
