#include "supervisor/tools/git.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "supervisor/tool_output.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

using Environment = std::map<std::string, std::string>;

// Who commits, and what decides which bytes are stored; as git prints keys, in lower case.
constexpr std::string_view kUserSettings =
    R"(^((user|author|committer)\.(name|email)|user\.useconfigonly)"
    R"(|core\.(autocrlf|eol|safecrlf|excludesfile|attributesfile)|i18n\.commitencoding)$)";

// Nothing may wait for somebody who is not there, and nothing stays behind: `gc --auto` and the
// daemon that watches files would go on when the command is done.
constexpr std::pair<std::string_view, std::string_view> kOwnSettings[] = {
    {"commit.gpgSign", "false"},
    {"gc.auto", "0"},
    {"maintenance.auto", "false"},
    {"core.fsmonitor", "false"}};

Environment BaseEnvironment(const Work& work, const Git& git, const CallContext& call) {
  Environment env = WorkEnvironment(call);
  const Environment& set = call.policy->environment_set;
  std::erase_if(env, [&](const auto& entry) {
    return entry.first.starts_with("GIT_") && !set.contains(entry.first);
  });
  env["GIT_TERMINAL_PROMPT"] = "0";
  env["GIT_CONFIG_NOSYSTEM"] = "1";
  for (const char* name : {"GIT_PAGER", "PAGER"}) env[name] = "cat";
  for (const char* name : {"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"})
    env[name] = ":";
  for (const char* name : {"GIT_ASKPASS", "SSH_ASKPASS"}) env[name] = "/bin/false";
  // What we did not accept as this directory's repository git must not find either.
  const std::string& top = git.repository ? git.repository->top_level : work.directory.path();
  env["GIT_CEILING_DIRECTORIES"] = top.substr(0, std::max<std::size_t>(top.rfind('/'), 1));
  return env;
}

void AddSettings(Environment& env, const std::vector<GitSetting>& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    env[fmt::format("GIT_CONFIG_KEY_{}", i)] = settings[i].key;
    env[fmt::format("GIT_CONFIG_VALUE_{}", i)] = settings[i].value;
  }
  env["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
}

// Fields end with NUL; a key and its value are divided by the first newline. A key alone means
// true.
std::vector<std::string_view> Fields(std::string_view output) {
  std::vector<std::string_view> fields;
  for (std::size_t end = output.find('\0'); end != std::string_view::npos;
       end = output.find('\0')) {
    fields.push_back(output.substr(0, end));
    output.remove_prefix(end + 1);
  }
  return fields;
}

// Keeps what `git config` prints; a file that is longer than this names nobody.
class SettingsSink : public OutputSink {
 public:
  void OnOutput(Stream stream, std::string_view bytes) override {
    std::string& text = stream == Stream::kStdout ? output_ : complaints_;
    text.append(bytes.substr(0, kMax - text.size()));
  }
  const std::string& output() const { return output_; }
  const std::string& complaints() const { return complaints_; }

 private:
  static constexpr std::size_t kMax = 256u << 10;
  std::string output_;
  std::string complaints_;
};

std::vector<sandbox::PathGrant> ReadOnly(std::vector<sandbox::PathGrant> grants) {
  for (sandbox::PathGrant& grant : grants) grant.access = sandbox::Access::kRead;
  return grants;
}

// `hooks: skip`: what the repository holds is read, never executed.
std::vector<sandbox::PathGrant> WithoutExecute(std::vector<sandbox::PathGrant> grants) {
  for (sandbox::PathGrant& grant : grants) {
    if (grant.access == sandbox::kReadExecute) grant.access = sandbox::Access::kRead;
  }
  return grants;
}

// One `git config` that reads and does nothing else.
struct ConfigQuery {
  std::vector<std::string> options;
  std::string_view pattern;  // of keys
  std::vector<sandbox::PathGrant> grants = {};
  bool without_user = false;  // even to start, git would read the user's configuration
};

CommandPlan ConfigPlan(const Work& work, const Git& git, const ConfigQuery& query,
                       const CallContext& call) {
  CommandPlan plan{.executable = git.executable,
                   .argv = {"git", "config", "-z"},
                   .env = BaseEnvironment(work, git, call),
                   .directory = work.directory};
  plan.argv.insert(plan.argv.end(), query.options.begin(), query.options.end());
  plan.argv.insert(plan.argv.end(), {"--get-regexp", std::string(query.pattern)});
  if (!call.policy->config_home.empty()) plan.env["XDG_CONFIG_HOME"] = call.policy->config_home;
  if (query.without_user) plan.env["GIT_CONFIG_GLOBAL"] = "/dev/null";
  return plan;
}

bool IsRegularFile(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// The user's own lists of ignored files and attributes: named by a setting, or in their usual
// place. Only that file can be read. git warns of a file that is there and cannot be opened, so the
// usual place of one that is not granted is not looked at either.
void GrantUserFile(const CallContext& call, const std::string& key, const std::string& usual,
                   UserSettings& user, std::vector<sandbox::PathGrant>& grants) {
  if (user.set_by_repository.contains(key)) return;
  auto setting = std::ranges::find(user.settings, key, &GitSetting::key);
  if (setting == user.settings.end()) {
    setting = user.settings.insert(setting, {key, call.policy->config_home + "/git/" + usual});
  }
  if (setting->value.starts_with("~/")) setting->value.replace(0, 1, call.policy->home);
  if (setting->value.starts_with('/') && IsRegularFile(setting->value)) {
    grants.push_back({setting->value, sandbox::Access::kRead, "git configuration of the user"});
  } else {
    setting->value = "/dev/null";
  }
}

void UseSettings(const CallContext& call, UserSettings user, Git& git) {
  GrantUserFile(call, "core.excludesfile", "ignore", user, git.grants);
  GrantUserFile(call, "core.attributesfile", "attributes", user, git.grants);
  git.settings.insert(git.settings.begin(), user.settings.begin(), user.settings.end());
}

// 1 is git's way to say that there is no such setting.
std::optional<ToolError> ErrorOfQuery(const Execution& run, const SettingsSink& sink) {
  if (run.outcome == Outcome::kExited && run.exit_code <= 1) return std::nullopt;
  const CommandReport report{.what = "git config", .git = true};
  Execution told = run;
  told.err.text = sink.complaints();
  return ErrorOf(report, told);
}

using QueryResult = std::expected<std::string, ToolError>;

Task<QueryResult> RunQuery(const Work& work, const Git& git, ConfigQuery query, CallContext& call) {
  Permission permission{.purpose = policy::Purpose::kGitIdentity, .extra = query.grants};
  auto allow = Permit(work, call, std::move(permission));
  if (!allow) co_return std::unexpected(std::move(allow.error()));
  SettingsSink sink;
  const RunOptions options{.sink = &sink, .cancel = &call.cancel, .capture = false};
  CommandPlan plan = ConfigPlan(work, git, query, call);
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(*allow), call.policy, options);
  const Execution run = co_await task;
  if (auto error = ErrorOfQuery(run, sink)) co_return std::unexpected(std::move(*error));
  co_return sink.output();
}

// Values of include.path in `file`, as paths.
std::vector<std::string> IncludedPaths(const CallContext& call, const std::string& file,
                                       std::string_view output) {
  std::vector<std::string> paths;
  for (std::string_view field : Fields(output)) {
    const std::size_t newline = field.find('\n');
    if (newline == std::string_view::npos) continue;
    std::string path(field.substr(newline + 1));
    if (path.starts_with("~/")) path.replace(0, 1, call.policy->home);
    if (!path.starts_with('/')) path.insert(0, file.substr(0, file.rfind('/') + 1));
    paths.push_back(std::move(path));
  }
  return paths;
}

using Files = std::expected<std::vector<sandbox::PathGrant>, ToolError>;

// The files that the user's own configuration includes, and those that these include. What a
// repository includes is never granted.
Task<Files> FindIncludedFiles(const Work& work, const Git& git, CallContext& call) {
  constexpr std::size_t kMaxFiles = 16;
  std::vector<std::string> files = {call.policy->home + "/.gitconfig",
                                    call.policy->config_home + "/git/config"};
  std::vector<sandbox::PathGrant> grants;
  for (std::size_t i = 0; i < std::min(files.size(), kMaxFiles); ++i) {
    if (!IsRegularFile(files[i])) continue;
    grants.push_back({files[i], sandbox::Access::kRead, "git configuration of the user"});
    ConfigQuery query{.options = {"--file", files[i], "--no-includes"},
                      .pattern = R"(^include(if\..*)?\.path$)",
                      .grants = {grants.back()},
                      .without_user = true};
    Task<QueryResult> task = RunQuery(work, git, std::move(query), call);
    const QueryResult output = co_await task;
    if (!output) co_return std::unexpected(output.error());
    const std::vector<std::string> paths = IncludedPaths(call, files[i], *output);
    files.insert(files.end(), paths.begin(), paths.end());
  }
  co_return grants;
}

using Settings = std::expected<UserSettings, ToolError>;

// git gives up when it cannot open an included file, so in that case the includes are looked for
// first and granted. Nearly nobody needs it, and nobody else pays for it.
Task<Settings> ReadUserSettings(const Work& work, const Git& git, CallContext& call) {
  ConfigQuery query{.options = {"--show-scope", "--includes"}, .pattern = kUserSettings};
  if (git.repository) query.grants = ReadOnly(git.repository->grants);
  query.grants.push_back({work.directory.path(), sandbox::Access::kRead, "working directory"});
  Task<QueryResult> task = RunQuery(work, git, query, call);
  QueryResult output = co_await task;
  if (!output && output.error().code == "COMMAND_FAILED") {
    Task<Files> search = FindIncludedFiles(work, git, call);
    const Files files = co_await search;
    if (!files) co_return std::unexpected(files.error());
    query.grants.insert(query.grants.end(), files->begin(), files->end());
    Task<QueryResult> again = RunQuery(work, git, std::move(query), call);
    output = co_await again;
  }
  if (!output) co_return std::unexpected(std::move(output.error()));
  co_return ParseUserSettings(*output);
}

ToolError UnusableRepository(const Work& work, const Error& error) {
  return InvalidDirectory(
      {.message = "working directory has a git repository that is not used: " + error.subject,
       .ai_message =
           fmt::format("The .git of {} names git data outside of it that does not name it "
                       "back, or that belongs to somebody else, so it was not opened. Tell "
                       "the user; a repository made by `git init`, `git clone`, `git "
                       "worktree add` or `git submodule` works.",
                       work.directory.path())});
}

std::expected<Git, ToolError> StartGit(const Work& work, const CallContext& call) {
  // Before anything is looked at: a call that is refused is refused whatever lies in the directory.
  if (auto allow = Permit(work, call, {.purpose = policy::Purpose::kGit}); !allow) {
    return std::unexpected(std::move(allow.error()));
  }
  auto executable = Require("git", work, call);
  if (!executable) return std::unexpected(std::move(executable.error()));
  auto repository = policy::FindRepository(work.directory);
  if (!repository) return std::unexpected(UnusableRepository(work, repository.error()));
  Git git{.executable = std::move(*executable), .repository = std::move(*repository)};
  const bool skip = call.policy->git.hooks == policy::Hooks::kSkip;
  if (git.repository) {
    git.grants = skip ? WithoutExecute(git.repository->grants) : git.repository->grants;
  }
  for (const auto& [key, value] : kOwnSettings)
    git.settings.push_back({std::string(key), std::string(value)});
  if (skip) git.settings.push_back({"core.hooksPath", "/dev/null"});
  return git;
}

}  // namespace

UserSettings ParseUserSettings(std::string_view output) {
  UserSettings user;
  const std::vector<std::string_view> fields = Fields(output);
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string_view scope = fields[i];
    const std::size_t end = std::min(fields[i + 1].find('\n'), fields[i + 1].size());
    const bool has_value = end < fields[i + 1].size();
    GitSetting setting{.key = std::string(fields[i + 1].substr(0, end)),
                       .value = has_value ? std::string(fields[i + 1].substr(end + 1)) : "true"};
    if (scope == "global") {
      std::erase_if(user.settings, [&](const GitSetting& one) { return one.key == setting.key; });
      user.settings.push_back(std::move(setting));
    } else {
      user.set_by_repository.insert(std::move(setting.key));
    }
  }
  std::erase_if(user.settings,
                [&](const GitSetting& one) { return user.set_by_repository.contains(one.key); });
  return user;
}

std::map<std::string, std::string> GitEnvironment(const Work& work, const Git& git,
                                                  const CallContext& call) {
  Environment env = BaseEnvironment(work, git, call);
  env["GIT_CONFIG_GLOBAL"] = "/dev/null";
  AddSettings(env, git.settings);
  return env;
}

Task<PreparedGit> PrepareGit(const Work& work, CallContext& call) {
  auto git = StartGit(work, call);
  if (!git) co_return std::unexpected(std::move(git.error()));
  UserSettings user;
  if (call.policy->git.inherit_identity && !work.dry_run) {
    Task<Settings> task = ReadUserSettings(work, *git, call);
    Settings settings = co_await task;
    if (!settings) co_return std::unexpected(std::move(settings.error()));
    user = std::move(*settings);
  }
  UseSettings(call, std::move(user), *git);
  co_return std::move(*git);
}

Task<ToolResult> RunGit(const Work& work, Git git, GitCommand command, CallContext& call) {
  auto allow = Permit(work, call, {.purpose = policy::Purpose::kGit, .extra = git.grants});
  if (!allow) co_return RefusedCall(std::move(allow.error()));
  CommandReport report{.what = command.what,
                       .argv = command.argv,
                       .working_dir = work.directory.path(),
                       .decision = allow->rule(),
                       .git = true};
  if (work.dry_run) co_return RenderDryRun(report, *allow, std::nullopt);
  RunOptions options{.name = report.what, .sink = call.sink, .cancel = &call.cancel};
  // git's own locks fail at once when they are held; in turn, both calls succeed.
  if (git.repository) options.serialise_key = git.repository->common_dir;
  CommandPlan plan{.executable = git.executable,
                   .argv = std::move(command.argv),
                   .env = GitEnvironment(work, git, call),
                   .directory = work.directory,
                   .stdin_data = std::move(command.stdin_data)};
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(*allow), call.policy, options);
  const Execution run = co_await task;
  co_return RenderCommand(report, run);
}

}  // namespace pa
