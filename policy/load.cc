#include "policy/load.h"

#include <algorithm>
#include <filesystem>

#include "base/try.h"
#include "base/words.h"
#include "policy/aliases.h"
#include "policy/caches.h"
#include "policy/grants.h"
#include "policy/http_policy.h"
#include "policy/keys.h"
#include "policy/layers.h"
#include "policy/merge.h"
#include "policy/path.h"
#include "policy/rules.h"
#include "policy/shared_files.h"
#include "policy/system_paths.h"
#include "policy/toolchains.h"
#include "policy/trust_anchors.h"
#include "policy/warnings.h"
#include "sandbox/landlock.h"

namespace pa::policy {
namespace {

sandbox::Network NetworkNamed(std::string_view name) {
  if (name == "full") return sandbox::Network::kFull;
  return name == "loopback" ? sandbox::Network::kLoopback : sandbox::Network::kNone;
}

sandbox::Namespaces NamespacesNamed(std::string_view name) {
  if (name == "require") return sandbox::Namespaces::kRequire;
  return name == "off" ? sandbox::Namespaces::kOff : sandbox::Namespaces::kAuto;
}

GitCommands GitCommandsNamed(std::string_view name) {
  if (name == "write") return GitCommands::kWrite;
  return name == "ask" ? GitCommands::kAsk : GitCommands::kRead;
}

// From the merged layers to the values that decisions are made from.
class Compiler {
 public:
  Compiler(const PolicySources& sources, const PolicyFragment& merged,
           std::vector<TrustAnchor>& anchors, std::vector<Diagnostic>& diagnostics)
      : sources_(sources), merged_(merged), anchors_(anchors), diagnostics_(diagnostics) {}

  Policy Compile() {
    CompilePlaces();
    CompileRoots();
    CompileAliases();
    CompileTools();
    CompileRules();
    CompileFilesystem();
    CompileEnvironment();
    CompileLimits();
    policy_.network = NetworkNamed(merged_.network->value);
    policy_.http = CompileHttp(merged_, diagnostics_);
    if (policy_.http.oauth.IsOn()) {
      anchors_.push_back(
          {TrustAnchor::Kind::kIssuerKeys, policy_.http.oauth.jwks, merged_.http_jwks->at});
    }
    policy_.keep_jobs = merged_.jobs_keep->value == "server";
    policy_.job_ports = merged_.jobs_ports->value == "loopback";
    policy_.namespaces = NamespacesNamed(merged_.namespaces->value);
    if (policy_.network == sandbox::Network::kLoopback &&
        policy_.namespaces == sandbox::Namespaces::kOff) {
      diagnostics_.emplace_back(merged_.network->at,
                                "network: loopback needs namespaces, which are off (" +
                                    merged_.namespaces->at.Format() +
                                    "); write namespaces: auto, or network: none");
    }
    policy_.git.inherit_identity = merged_.git_identity->value == "inherit";
    policy_.git.hooks = merged_.git_hooks->value == "skip" ? Hooks::kSkip : Hooks::kRun;
    policy_.git.commands = GitCommandsNamed(merged_.git_commands->value);
    CompileAudit();
    policy_.git_programs = FindGitPrograms(Variable("PATH"), policy_);
    policy_.relaxations = FindRelaxations(merged_, policy_.home, sources_.read_only_tools);
    return std::move(policy_);
  }

 private:
  std::string Variable(const std::string& name) const {
    const auto found = sources_.variables.find(name);
    return found == sources_.variables.end() ? "" : found->second;
  }

  void CompilePlaces();
  void CompileRoots();
  void CompileAliases();
  void PreferCurrentDirectory();
  void PreferRootAround();
  void CompileTools();
  void CompileRules();
  RuleQuestion Question(const Rule& rule, const std::string& example) const;
  void TryExamples(const Rule& rule, const Strings& examples);
  void CompileFilesystem();
  void CompileCaches(Variables values);
  void Grant(const std::optional<Located<Strings>>& paths, sandbox::Access access,
             const std::string& key);
  void CompileEnvironment();
  void CompileLimits();
  std::string StateHome() const;
  void CompileAuditDaemon(const std::string& to);
  void CompileAudit();

  const PolicySources& sources_;
  const PolicyFragment& merged_;
  std::vector<TrustAnchor>& anchors_;
  std::vector<Diagnostic>& diagnostics_;
  Policy policy_;
};

void Compiler::CompilePlaces() {
  policy_.home = sources_.home;
  policy_.config_home = Variable("XDG_CONFIG_HOME");
  // The XDG base directory specification: relative ones are to be ignored.
  if (!policy_.config_home.starts_with('/')) {
    policy_.config_home = policy_.home.empty() ? "" : policy_.home + "/.config";
  }
}

void Compiler::CompileRoots() {
  const Located<Strings>& roots = *merged_.roots;
  for (const Located<std::string>& root : roots.value) {
    const bool twice = std::ranges::find(policy_.roots, root.value) != policy_.roots.end();
    if (!twice && IsDirectory(root.value)) policy_.roots.push_back(root.value);
  }
  if (policy_.roots.empty()) {
    diagnostics_.emplace_back(roots.at, "none of the roots is a directory");
  } else if (roots.at.source == kCurrentDirectorySource && policy_.roots.front() == "/") {
    diagnostics_.emplace_back(roots.at, "/ is no place to work in; name a directory with --root");
  } else if (roots.at.line > 0) {
    PreferCurrentDirectory();
  } else {
    PreferRootAround();
  }
}

void Compiler::CompileAliases() {
  std::vector<std::string> names = {policy_.home};
  const std::string current = Variable("PWD");  // whoever set it may have gone elsewhere since
  if (current.starts_with('/') && ResolvePath(current) == ResolvePath(sources_.current_directory)) {
    names.push_back(current);
  }
  for (const std::string& root : sources_.roots) {
    names.push_back(std::filesystem::path(sources_.current_directory) / root);
  }
  policy_.aliases = FindAliases(names);
}

// The first root is where calls work that name no directory. Whoever starts us within a root of the
// policy file means that very place; it grants nothing that the root does not.
void Compiler::PreferCurrentDirectory() {
  const std::string current = ResolvePath(sources_.current_directory);
  if (current == ResolvePath(policy_.home) || !IsDirectory(current)) return;
  const bool within = std::ranges::any_of(
      policy_.roots, [&](const std::string& root) { return IsBeneath(current, root); });
  if (!within) return;
  std::erase(policy_.roots, current);
  policy_.roots.insert(policy_.roots.begin(), current);
}

// Of several roots of the command line the one in which we are started, the innermost if they lie
// in each other: a client with one entry for several projects starts us in the one it works in.
void Compiler::PreferRootAround() {
  const std::string current = ResolvePath(sources_.current_directory);
  auto around = policy_.roots.end();
  for (auto root = policy_.roots.begin(); root != policy_.roots.end(); ++root) {
    if (!IsBeneath(current, *root)) continue;
    if (around == policy_.roots.end() || root->size() > around->size()) around = root;
  }
  if (around != policy_.roots.end()) std::rotate(policy_.roots.begin(), around, around + 1);
}

void Compiler::CompileTools() {
  for (const Located<std::string>& tool : merged_.tools_enable->value) {
    if (tool.value == "all") policy_.enable_all = true;
    if (tool.value != "all") policy_.enabled_tools.insert(tool.value);
  }
  for (const Located<std::string>& tool : merged_.pipeline_tools->value) {
    policy_.inner_tools.insert(tool.value);
  }
}

void Compiler::CompileRules() {
  std::map<std::string, int> count;  // by file
  for (const RuleText& text : merged_.permissions->value) {
    const int index = count[text.at.source]++;
    Rule rule;
    rule.tool = text.tool;
    rule.target = text.target;
    rule.path = text.path;
    if (text.path.starts_with("~/")) rule.whole_path = policy_.home + text.path.substr(1);
    if (text.path.starts_with('/')) rule.whole_path = text.path;
    if (!rule.whole_path.empty()) rule.whole_path = ResolvePath(rule.whole_path);
    rule.command = text.command;
    rule.verdict = text.verdict;
    rule.reason = text.reason;
    rule.administrator = text.administrator;
    rule.where = "permissions[" + std::to_string(index) + "] (" + text.at.Format() + ")";
    policy_.permissions.push_back(std::move(rule));
  }
  for (std::size_t i = 0; i < policy_.permissions.size(); ++i) {
    TryExamples(policy_.permissions[i], merged_.permissions->value[i].examples);
  }
}

// What an example of this rule asks: a path as of a file beneath the first root.
RuleQuestion Compiler::Question(const Rule& rule, const std::string& example) const {
  if (!rule.command.empty()) return {.tool = "bash", .command = example};
  if (rule.path.empty()) return {.tool = rule.tool == "*" ? "make" : rule.tool, .target = example};
  const std::string root = policy_.roots.empty() ? "" : policy_.roots.front();
  const std::string absolute = example.starts_with('/') ? example : root + "/" + example;
  return {.tool = rule.tool == "*" ? "read" : rule.tool,
          .path = RelativeTo(root, absolute),
          .absolute = absolute};
}

void Compiler::TryExamples(const Rule& rule, const Strings& examples) {
  for (const Located<std::string>& example : examples) {
    const bool not_this = example.value.starts_with('!');
    const RuleQuestion question = Question(rule, example.value.substr(not_this ? 1 : 0));
    const Rule* decides = FirstRule(policy_.permissions, question, rule.administrator);
    if ((decides == &rule) != not_this) continue;
    const std::string by = decides == nullptr ? "no rule" : decides->where;
    diagnostics_.emplace_back(example.at, "the example '" + example.value + "' is decided by " +
                                              by + (not_this ? "" : ", not by " + rule.where));
  }
}

void Compiler::Grant(const std::optional<Located<Strings>>& paths, sandbox::Access access,
                     const std::string& key) {
  int index = 0;
  for (const Located<std::string>& path : paths->value) {
    const std::string reason =
        "policy " + key + "[" + std::to_string(index++) + "] (" + path.at.Format() + ")";
    policy_.filesystem.push_back({path.value, access, reason, sandbox::Symlinks::kRefuse});
  }
}

void Compiler::CompileFilesystem() {
  policy_.system = SystemPaths();
  policy_.system_network = NetworkPaths();
  policy_.names = SystemNames();
  Grant(merged_.filesystem_read, sandbox::kReadExecute, "filesystem.read");
  Grant(merged_.filesystem_write, sandbox::kReadWriteExecute, "filesystem.write");
  for (const Located<std::string>& place : merged_.filesystem_protect->value) {
    std::string path = std::filesystem::path(place.value).lexically_normal().string();
    if (path.ends_with('/')) path.pop_back();
    policy_.protect.push_back(
        {std::move(path), "policy filesystem.protect (" + place.at.Format() + ")"});
  }
  for (const Located<std::string>& path : merged_.filesystem_unprotect->value) {
    policy_.unprotect.push_back(path.value);
  }
  policy_.filesystem_sync = merged_.filesystem_sync->value == "true";
  if (merged_.filesystem_toolchains->value != "auto") return;
  const Toolchains toolchains = FindToolchains(
      sources_.home, sources_.variables,
      [&](const std::string& path) { return WhereCommandsLead(policy_, path).has_value(); });
  policy_.filesystem.insert(policy_.filesystem.end(), toolchains.grants.begin(),
                            toolchains.grants.end());
  policy_.environment_pass = toolchains.variables;
  CompileCaches(toolchains.places);
}

// "" where there is none: a home that is not there is not made.
std::string Compiler::StateHome() const {
  const std::string& configured = Variable("XDG_STATE_HOME");
  if (configured.starts_with('/')) return configured;
  return IsDirectory(sources_.home) ? sources_.home + "/.local/state" : "";
}

void Compiler::CompileAuditDaemon(const std::string& to) {
  const bool journal = to == "journal";
  policy_.audit.daemon = journal ? AuditPolicy::Daemon::kJournal : AuditPolicy::Daemon::kSyslog;
  policy_.audit.socket = journal ? "/run/systemd/journal/socket" : "/dev/log";
  if (!merged_.audit_path->value.empty()) {
    diagnostics_.emplace_back(merged_.audit_path->at, "'audit.path' is for audit: {to: file}");
  }
  if (policy_.audit.sync) {
    diagnostics_.emplace_back(merged_.audit_sync->at, "'audit.sync' is for audit: {to: file}");
  }
}

// Whatever commands may write is no place for what is said of them.
void Compiler::CompileAudit() {
  const Located<std::string>& path = *merged_.audit_path;
  policy_.audit.sync = merged_.audit_sync->value == "true";
  const std::string& to = merged_.audit_to->value;
  if (to == "none") return;
  if (to == "journal" || to == "syslog") return CompileAuditDaemon(to);
  policy_.audit.path = path.value;
  if (path.value.empty()) {
    const std::string state_home = StateHome();
    if (state_home.empty()) {
      diagnostics_.emplace_back(path.at,
                                "there is no home and no state directory for the audit log: name a "
                                "file with audit: {path: ...}, or write audit: {to: none}");
      return;
    }
    const std::string written = state_home + "/project-actions/audit/audit.jsonl";
    anchors_.push_back({TrustAnchor::Kind::kAudit, written, path.at});
    policy_.audit.path = ResolvePath(written);
  }
  for (const Located<std::string>& writable : merged_.filesystem_write->value) {
    if (!IsBeneath(policy_.audit.path, writable.value)) continue;
    diagnostics_.emplace_back(writable.at, "commands could write the audit log " +
                                               policy_.audit.path + ": choose another audit.path");
  }
}

void Compiler::CompileCaches(Variables values) {
  const std::string state_home = StateHome();
  if (state_home.empty()) return;
  const std::string place = state_home + "/project-actions/caches";
  if (const auto writable = WhereCommandsLead(policy_, place)) {
    // What they lead it to, they could write.
    policy_.caches.why_none = "commands can exchange a symlink on the way to it, in " + *writable;
    return;
  }
  values["HOME"] = sources_.home;
  // The user may have moved any part of it elsewhere and left a symlink.
  policy_.caches =
      pa::policy::CompileCaches(ResolvePath(place), values, policy_.filesystem, diagnostics_);
}

void Compiler::CompileEnvironment() {
  for (const Located<std::string>& name : merged_.environment_pass->value) {
    policy_.environment_pass.push_back(name.value);
  }
  for (const pa::policy::Variable& variable : merged_.environment_set->value) {
    policy_.environment_set[variable.name.value] = variable.value;
  }
}

void Compiler::CompileLimits() {
  for (const Key& key : PolicyKeys()) {
    if (!key.IsNumber()) continue;
    const std::uint64_t value = merged_.limits.find(key.name)->second.value;
    if (const auto* size = std::get_if<std::uint64_t Limits::*>(&key.field)) {
      policy_.limits.** size = value;
    } else if (const auto* time = std::get_if<std::chrono::milliseconds Limits::*>(&key.field)) {
      policy_.limits.** time = std::chrono::milliseconds(static_cast<std::int64_t>(value));
    }
  }
}

// What `policy show` shows is what these came to be.
void ShowPaths(const Policy& policy, PolicyFragment& merged) {
  if (!policy.audit.path.empty()) merged.audit_path->value = policy.audit.path;
  merged.roots->value.clear();
  for (const std::string& root : policy.roots) {
    merged.roots->value.push_back({root, merged.roots->at});
  }
}

// Once, here: building a program takes a thousand times what loading it does.
Result<Programs> CompilePrograms(sandbox::Network network, sandbox::Sight sight) {
  const int abi = sandbox::DetectLandlock().abi;
  using enum sandbox::SeccompProfile;
  const auto compile = [&](sandbox::Network which, sandbox::SeccompProfile profile = kBuild) {
    return sandbox::CompileSeccomp(profile, which, abi, sight);
  };
  Programs programs;
  PA_TRY(programs.inspect, compile(sandbox::Network::kNone, kInspect));
  PA_TRY(programs.search, compile(sandbox::Network::kNone, kSearch));
  PA_TRY(programs.files, compile(sandbox::Network::kNone, kFiles));
  PA_TRY(programs.changes, compile(sandbox::Network::kNone, kFileChanges));
  PA_TRY(programs.no_network, compile(sandbox::Network::kNone));
  programs.build = programs.no_network;
  if (network != sandbox::Network::kNone) {
    PA_TRY(programs.build, compile(network));
  }
  return programs;
}

Result<void> CompilePrograms(Policy& policy) {
  PA_TRY(policy.programs, CompilePrograms(policy.network, sandbox::Sight::kHost));
  if (policy.namespaces == sandbox::Namespaces::kOff) return {};
  PA_TRY(policy.view_programs, CompilePrograms(policy.network, sandbox::Sight::kOwnView));
  return {};
}

// The one check of what commands must not write (policy/trust_anchors.h).
void TakeAllAnchors(const PolicySources& sources, const std::vector<std::string>& files,
                    std::vector<TrustAnchor> anchors, Policy& policy, LoadedPolicy& loaded) {
  anchors.insert(anchors.end(), sources.anchors.begin(), sources.anchors.end());
  for (const std::string& file : files) {
    anchors.emplace_back(TrustAnchor::Kind::kPolicyFile, std::filesystem::absolute(file).string());
  }
  const std::string& future = sources.default_user_file;
  if (future.starts_with('/') && std::ranges::find(files, future) == files.end()) {
    anchors.emplace_back(TrustAnchor::Kind::kFuturePolicy, future);
  }
  const JudgedAnchors judged = TakeAnchors(policy, anchors);
  std::vector<Diagnostic>& refused = sources.elsewhere ? loaded.warnings : loaded.diagnostics;
  refused.insert(refused.end(), judged.refused.begin(), judged.refused.end());
  loaded.warnings.insert(loaded.warnings.end(), judged.warned.begin(), judged.warned.end());
  if (!policy.audit.path.empty()) policy.unwritable.push_back(policy.audit.path);
}

}  // namespace

LoadedPolicy LoadPolicy(const PolicySources& sources) {
  LoadedPolicy loaded;
  std::vector<std::string> files;
  std::vector<Located<std::string>> written;
  const Layers layers = ReadLayers(sources, files, written, loaded.diagnostics);
  if (!loaded.diagnostics.empty()) return loaded;
  auto merged = std::make_shared<PolicyFragment>(MergeLayers(layers, loaded.diagnostics));
  if (!loaded.diagnostics.empty()) return loaded;
  std::vector<TrustAnchor> anchors;
  for (const Located<std::string>& path : written) {
    anchors.push_back({TrustAnchor::Kind::kPolicyPath, path.value, path.at});
  }
  Policy policy = Compiler(sources, *merged, anchors, loaded.diagnostics).Compile();
  if (!loaded.diagnostics.empty()) return loaded;
  if (const Result<void> compiled = CompilePrograms(policy); !compiled) {
    loaded.diagnostics.emplace_back(SourceLocation{"seccomp"}, compiled.error().Message());
    return loaded;
  }
  loaded.warnings = FindWarnings(policy);
  for (const std::string& root : policy.roots) {
    const std::optional<std::string> file =
        sources.opens_nothing ? std::nullopt : FindSharedFile(root);
    if (file) loaded.warnings.push_back(SharedFileWarning(*file));
  }
  TakeAllAnchors(sources, files, std::move(anchors), policy, loaded);
  if (!loaded.diagnostics.empty()) return loaded;
  ShowPaths(policy, *merged);
  policy.sources = std::move(files);
  policy.effective = std::move(merged);
  loaded.policy = std::make_shared<const Policy>(std::move(policy));
  return loaded;
}

}  // namespace pa::policy
