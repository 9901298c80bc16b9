#include "supervisor/tools/git_settings.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/words.h"
#include "supervisor/tools/text_sink.h"

namespace pa {
namespace {

// Who commits, and what decides which bytes are stored; as git prints keys, in lower case.
constexpr std::string_view kUserSettings =
    R"(^((user|author|committer)\.(name|email)|user\.useconfigonly)"
    R"(|core\.(autocrlf|eol|safecrlf|excludesfile|attributesfile|sharedrepository|hookspath)|)"
    R"(hook\..*|filter\..*|)"
    R"(i18n\.commitencoding|commit\.gpgsign|include(if\..*)?\.path)$)";

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

// Of what `git config` prints, in bytes. Beyond it there could be hooks, so more is an error.
constexpr std::size_t kMaxSettings = 256u << 10;

// One `git config` that reads and does nothing else.
struct ConfigQuery {
  std::vector<std::string> options;
  std::string_view pattern;  // of keys
  std::vector<sandbox::PathGrant> grants = {};
  bool without_user = false;  // even to start, git would read the user's configuration
};

bool IsRegularFile(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

using SettingsOutput = std::expected<std::string, ToolError>;

Task<SettingsOutput> RunQuery(const Work& work, const GitReader& git, ConfigQuery query,
                              CallContext& call) {
  constexpr int kNoSuchSetting = 1;  // git's way to say so
  GitReading reading{.argv = {"git", "config", "-z"}, .grants = std::move(query.grants)};
  reading.argv.insert(reading.argv.end(), query.options.begin(), query.options.end());
  reading.argv.insert(reading.argv.end(), {"--get-regexp", std::string(query.pattern)});
  if (!call.policy->config_home.empty()) reading.more["XDG_CONFIG_HOME"] = call.policy->config_home;
  if (query.without_user) reading.more["GIT_CONFIG_GLOBAL"] = "/dev/null";
  TextSink sink(kMaxSettings);
  Task<Execution> task = RunGitReader(work, git, std::move(reading), sink, call);
  const Execution run = co_await task;
  if (auto error = ErrorOfGitReader("git config", run, sink.complaints(), kNoSuchSetting)) {
    co_return std::unexpected(std::move(*error));
  }
  if (sink.truncated()) {
    co_return std::unexpected(CommandFailed(
        "git config", "its output is longer than 256 KiB",
        "The git configuration of the repository or of the user is too long to be read. Tell the "
        "user."));
  }
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
Task<Files> FindIncludedFiles(const Work& work, const GitReader& git, CallContext& call) {
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
    Task<SettingsOutput> task = RunQuery(work, git, std::move(query), call);
    const SettingsOutput output = co_await task;
    if (!output) co_return std::unexpected(output.error());
    const std::vector<std::string> paths = IncludedPaths(call, files[i], *output);
    files.insert(files.end(), paths.begin(), paths.end());
  }
  co_return grants;
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

// git-config(1), "boolean".
bool IsTrueForGit(std::string_view value) {
  const std::string lower = Lowered(value);
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  return IsNumber(lower) && lower.find_first_not_of('0') != std::string::npos;
}

// What `git lfs install` writes (git-lfs-install(1)), and the values of `required`.
bool IsOfLfs(std::string_view value) {
  constexpr std::string_view kValues[] = {"git-lfs clean -- %f",
                                          "git-lfs smudge -- %f",
                                          "git-lfs smudge --skip -- %f",
                                          "git-lfs filter-process",
                                          "git-lfs filter-process --skip",
                                          "true",
                                          "false"};
  return std::ranges::find(kValues, value) != std::end(kValues);
}

// What is executed is the repository's choice: of the user's configuration nothing of it counts.
bool TakeProgram(const GitSetting& setting, bool of_repository, UserSettings& user) {
  constexpr std::string_view kFilter = "filter.";
  const bool filter = setting.key.starts_with(kFilter);
  const bool hook = setting.key.starts_with("hook.");
  if (!filter && !hook && setting.key != "core.hookspath") return false;
  if (!of_repository) return true;
  user.has_hooks = user.has_hooks || hook;
  if (filter) {
    const std::string_view name = std::string_view(setting.key).substr(kFilter.size());
    user.filters.emplace(name.substr(0, name.rfind('.')));
    user.foreign_filters = user.foreign_filters || !IsOfLfs(setting.value);
  } else if (!hook) {
    user.hooks_path = setting.value;
  }
  return true;
}

}  // namespace

// As git lists it: `include.path`, `includeif.CONDITION.path`.
bool IsInclude(std::string_view key) {
  return key.starts_with("include") && key.ends_with(".path");
}

UserSettings ParseUserSettings(std::string_view output) {
  UserSettings user;
  const std::vector<std::string_view> fields = Fields(output);
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string_view scope = fields[i];
    const std::size_t end = std::min(fields[i + 1].find('\n'), fields[i + 1].size());
    const bool has_value = end < fields[i + 1].size();
    GitSetting setting{.key = std::string(fields[i + 1].substr(0, end)),
                       .value = has_value ? std::string(fields[i + 1].substr(end + 1)) : "true"};
    if (TakeProgram(setting, scope != "global", user)) continue;
    if (setting.key == "core.sharedrepository") user.shared_repository = setting.value;
    if (setting.key == "commit.gpgsign") {
      user.wants_signatures = IsTrueForGit(setting.value);  // it is told, and not passed on
    } else if (IsInclude(setting.key)) {
      user.includes = user.includes || scope == "global";
    } else if (scope == "global") {
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

// git gives up when it may not open an included file, and goes on without one that is not in sight.
// In both cases the includes are looked for and granted. Nearly nobody needs it, and nobody else
// pays for it.
Task<ReadSettings> ReadUserSettings(const Work& work, const GitReader& git, CallContext& call) {
  ConfigQuery query{.options = {"--show-scope", "--includes"},
                    .pattern = kUserSettings,
                    .without_user = !call.policy->git.inherit_identity};
  query.grants = RepositoryGrants(work, git);
  Task<SettingsOutput> task = RunQuery(work, git, query, call);
  SettingsOutput output = co_await task;
  const bool stopped = !output && output.error().code == ErrorCode::kCommandFailed;
  const bool has_more = output && ParseUserSettings(*output).includes;
  if ((stopped || has_more) && !query.without_user) {
    Task<Files> search = FindIncludedFiles(work, git, call);
    const Files files = co_await search;
    if (!files) co_return std::unexpected(files.error());
    query.grants.insert(query.grants.end(), files->begin(), files->end());
    Task<SettingsOutput> again = RunQuery(work, git, std::move(query), call);
    output = co_await again;
  }
  if (!output) co_return std::unexpected(std::move(output.error()));
  co_return ParseUserSettings(*output);
}

// git-init(1), --shared; git_config_perm in its setup.c. An octal number is the mode of files, and
// who may read may enter directories.
std::optional<mode_t> UmaskForSharing(std::string_view shared_repository, mode_t present) {
  const std::string value = Lowered(shared_repository);
  if (value == "group" || value == "true" || value == "1") return present & ~mode_t{070};
  if (value == "all" || value == "world" || value == "everybody" || value == "2") {
    return present & ~mode_t{075};
  }
  unsigned mode = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), mode, 8);
  const bool octal = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  if (!octal || mode < 0600 || mode > 0777) return std::nullopt;
  return ~(mode | (mode & 0444) >> 2) & 0777;
}

std::vector<sandbox::PathGrant> GrantUserFiles(const CallContext& call, UserSettings& user) {
  std::vector<sandbox::PathGrant> grants;
  GrantUserFile(call, "core.excludesfile", "ignore", user, grants);
  GrantUserFile(call, "core.attributesfile", "attributes", user, grants);
  return grants;
}

}  // namespace pa
