#include "policy/keys.h"

#include <algorithm>

#include "base/units.h"

namespace pa::policy {
namespace {

using F = PolicyFragment;
using L = Limits;

constexpr std::uint64_t kWeek = 7ull * 24 * 3'600'000;
constexpr std::uint64_t kPebibyte = 1ull << 50;

constexpr Choice kToolchains[] = {
    {"none", "nothing of the home except the paths of filesystem.read"},
    {"auto", "compilers and package caches in their usual places, without the files of secrets"},
};
constexpr Choice kNetwork[] = {
    {"none", "no internet sockets at all"},
    {"loopback", "a network of the command's own with only 127.0.0.1 and ::1; needs namespaces"},
    {"full", "TCP and UDP over IPv4 and IPv6"},
};
constexpr Choice kPorts[] = {
    {"none", "nobody outside a job reaches its ports"},
    {"loopback",
     "ports that a call names are served on 127.0.0.1 of this machine, to this user's processes; "
     "needs network: loopback"},
};
constexpr Choice kKeep[] = {
    {"session",
     "a job ends with the session of the client that started it; MCP 2026-07-28 by HTTP has no "
     "sessions, so there it ends with the server"},
    {"server", "a job goes on until the server ends, for the next session to find it"},
};
constexpr Choice kNamespaces[] = {
    {"require", "no command runs without them"},
    {"auto", "where the system grants them; `project-actions doctor` says whether it does"},
    {"off", "none"},
};
constexpr Choice kIdentity[] = {
    {"none", "commits have the identity that the repository's own settings give, or fail"},
    {"inherit", "commits are made in the name that the user's git configuration gives"},
};
constexpr Choice kHooks[] = {
    {"skip", "the repository cannot make git run anything: no hook, filter or helper"},
    {"run", "the project's hooks run, inside the sandbox"},
};
constexpr Choice kGitCommands[] = {
    {"read", "with namespaces, `.git` is read-only to them"},
    {"ask", "as read, but a call that says git_write may write once the user has approved it"},
    {"write", "they commit, check out and stash; what git executes is protected"},
};
constexpr Choice kSigning[] = {
    {"off", "commits are not signed"},
    {"inherit", "", "signing commits is not built yet; only `off` can be asked for"},
    {"on", "", "signing commits is not built yet; only `off` can be asked for"},
};
constexpr Choice kAuditTo[] = {
    {"journal", "the systemd journal, by /run/systemd/journal/socket"},
    {"syslog", "a syslog daemon, by /dev/log, facility authpriv"},
    {"file", "the file audit.path"},
    {"none", "nowhere"},
};
constexpr Choice kAuditSync[] = {
    {"true", "each line is on the disk before the call goes on"},
    {"false", "faster, but a power failure can lose the last lines"},
};

constexpr Choice kFileSync[] = {
    {"true", "each write is on the disk before the tool answers"},
    {"false", "faster, but a power failure can lose the write, and the old file with it"},
};

constexpr Key kKeys[] = {
    {"version", Type::kVersion, "The version of this format: 1."},
    {"roots", Type::kPaths,
     "Directories beneath which calls may work. Default: the current directory.", &F::roots},
    {"tools.enable", Type::kTools,
     "Tools to switch on beyond the read-only ones, by name; `all` for every one.",
     &F::tools_enable},
    {"pipeline.tools", Type::kToolNames,
     "Tools that a pipeline or batch may call besides the read-only ones, by name. Default: the "
     "tools that tools.enable names one by one.",
     &F::pipeline_tools},
    {"permissions", Type::kRules,
     "Rules about single calls: the first that matches decides; without one, enabled tools may "
     "run.",
     &F::permissions},
    {"filesystem.read", Type::kPaths,
     "Paths that commands may read and execute beyond the system's own.", &F::filesystem_read},
    {"filesystem.write", Type::kPaths,
     "Paths that commands may read, write and execute beyond the working directory.",
     &F::filesystem_write},
    {"filesystem.protect", Type::kPlaces,
     "Files and directories in writable places that commands cannot change for good, beside those "
     "that git executes, which are always protected. Relative to the working directory, to its "
     "root and to the tops of the repositories that hold it. Each source adds to the others'.",
     &F::filesystem_protect},
    {"filesystem.unprotect", Type::kHostFiles,
     "Files that agents, editors and shells execute by themselves and that commands and file tools "
     "may change nevertheless.",
     &F::filesystem_unprotect},
    {"filesystem.toolchains", Type::kChoice, "Whether toolchains in the home may be used.",
     &F::filesystem_toolchains, kToolchains},
    {"filesystem.sync", Type::kSwitch,
     "Whether the writes of tools are on the disk before the tools answer.", &F::filesystem_sync,
     kFileSync},
    {"network", Type::kChoice, "The network of commands.", &F::network, kNetwork},
    {"environment.pass", Type::kNames,
     "Variables of our own environment that commands receive, beyond PATH, HOME, LANG and the "
     "like.",
     &F::environment_pass},
    {"environment.set", Type::kVariables, "Variables that commands receive with these values.",
     &F::environment_set},
    {"namespaces", Type::kChoice,
     "Whether commands get user, mount, pid, ipc, uts and network namespaces of their own, on top "
     "of Landlock, seccomp and limits.",
     &F::namespaces, kNamespaces},
    {"limits.wall_time",
     Type::kDuration,
     "How long a command may take.",
     &L::wall_time,
     {},
     1,
     kWeek},
    {"limits.cpu_time",
     Type::kDuration,
     "Processor time of each process of a command.",
     &L::cpu_time,
     {},
     1,
     kWeek},
    {"limits.memory",
     Type::kByteSize,
     "Memory of all processes of a command together.",
     &L::memory,
     {},
     1 << 20,
     kPebibyte},
    {"limits.processes",
     Type::kCount,
     "Processes of a command. Threads count in the backstop (RLIMIT_NPROC) and in a cgroup.",
     &L::processes,
     {},
     1,
     4'194'304},
    {"limits.cpus",
     Type::kCount,
     "Processors that all processes of a command use together. Only a cgroup with the controller "
     "cpu withholds processors; where the server has none, a policy that sets this runs nothing.",
     &L::cpus,
     {},
     1,
     kAllCpus},
    {"limits.open_files",
     Type::kCount,
     "Open files of each process.",
     &L::open_files,
     {},
     16,
     1'048'576},
    {"limits.file_size",
     Type::kByteSize,
     "Size of each file that a command writes.",
     &L::file_size,
     {},
     1,
     kPebibyte},
    {"limits.output_inline",
     Type::kByteSize,
     "Bytes of standard output and standard error together within a result.",
     &L::output_inline,
     {},
     256,
     64ull << 20},
    {"limits.output_total",
     Type::kByteSize,
     "Bytes of standard output, and of standard error, that are kept to be read afterwards.",
     &L::output_total,
     {},
     256,
     1ull << 40},
    {"limits.commit_message",
     Type::kByteSize,
     "Size of a commit message.",
     &L::commit_message,
     {},
     1,
     64ull << 20},
    {"limits.concurrent",
     Type::kCount,
     "Commands that change something and run at the same time; calls that only look have places of "
     "their own.",
     &L::concurrent,
     {},
     1,
     1024},
    {"limits.queue", Type::kCount, "Commands that wait for their turn.", &L::queue, {}, 0, 100'000},
    {"limits.calls_per_minute",
     Type::kCount,
     "Calls of tools that begin in a minute, also within pipelines and batches; further ones are "
     "refused.",
     &L::calls_per_minute,
     {},
     1,
     kAllCalls},
    {"jobs.detach_after",
     Type::kDuration,
     "When a call becomes a task, so that nobody waits for its reply: for clients that declare the "
     "tasks of MCP.",
     &L::detach_after,
     {},
     0,
     kWeek},
    {"jobs.keep", Type::kChoice, "How long a job goes on, within its limits.", &F::jobs_keep,
     kKeep},
    {"jobs.ports", Type::kChoice, "Who reaches the ports on which a job listens.", &F::jobs_ports,
     kPorts},
    {"git.identity", Type::kChoice, "In whose name commits are made.", &F::git_identity, kIdentity},
    {"git.hooks", Type::kChoice, "Whether the repository may make git run programs.", &F::git_hooks,
     kHooks},
    {"git.commands", Type::kChoice, "What commands of make and bash may do to the repository.",
     &F::git_commands, kGitCommands},
    {"git.signing", Type::kChoice, "Whether commits are signed.", &F::git_signing, kSigning},
    {"audit.to", Type::kChoice,
     "Where every call is recorded; a call that cannot be recorded does not run.", &F::audit_to,
     kAuditTo},
    {"audit.path", Type::kPath,
     "The file of the audit log, in a directory of its own; \"\" for the state directory.",
     &F::audit_path},
    {"audit.sync", Type::kSwitch, "Whether each line is on the disk before the call goes on.",
     &F::audit_sync, kAuditSync},
    {"http.public_url", Type::kUrl,
     "The URL by which clients know a server that listens, if a proxy stands in front of it. Its "
     "host is then one of the server's names.",
     &F::http_public_url},
    {"http.origins", Type::kOrigins,
     "Origins of web pages whose scripts may call a server that listens, with a token.",
     &F::http_origins},
    {"http.issuer", Type::kUrl,
     "The issuer of access tokens (OAuth 2.1), exactly as they name it (`iss`). \"\": none are "
     "taken.",
     &F::http_issuer},
    {"http.audience", Type::kText,
     "The name of this server in access tokens (`aud`); \"\" for http.public_url.",
     &F::http_audience},
    {"http.jwks", Type::kFile,
     "The file with the issuer's public keys (JWK Set). It is read again when it has changed.",
     &F::http_jwks},
    {"http.scopes", Type::kScopes, "Scopes that an access token must have, each of them.",
     &F::http_scopes},
    {"http.subjects", Type::kSubjects,
     "Who may call by an access token: subjects (`sub`) with the users of this machine that they "
     "are. A server serves those of the user who runs it.",
     &F::http_subjects},
    {"tenants",
     Type::kNotBuilt,
     "",
     {},
     {},
     1,
     0,
     "a list of tenants is not built yet; each tenant has a policy of its own: project-actions "
     "tenant add"},
};

constexpr RuleKey kRuleKeys[] = {
    {"tool", "The tool's name, or * for any."},
    {"target",
     "For make and project_actions: the target or operation; * matches any text, ? one character."},
    {"decision", "allow, deny, or ask: the user decides, each time, where the client can ask."},
    {"reason", "Why; shown to the model, and to the user who is asked. Required for deny."},
    {"path",
     "For read, write, edit, delete, glob and grep: files or directories, as in .gitignore."},
    {"command", "For bash: the first words of the command."},
    {"examples",
     "Targets, paths or commands that this rule must decide, with ! before it one that it must "
     "not; tried when the policy is loaded."},
};

}  // namespace

std::span<const Key> PolicyKeys() { return kKeys; }
std::span<const RuleKey> RuleKeys() { return kRuleKeys; }

const Key* FindKey(std::string_view name) {
  const auto* key = std::ranges::find(kKeys, name, &Key::name);
  return key == std::end(kKeys) ? nullptr : key;
}

PolicyFragment DefaultFragment() {
  const SourceLocation at{"default"};
  PolicyFragment defaults{.source = "default"};
  defaults.tools_enable = {{}, at};
  defaults.permissions = {{}, at};
  defaults.filesystem_read = {{}, at};
  defaults.filesystem_write = {{}, at};
  defaults.filesystem_protect = {{}, at};
  defaults.filesystem_unprotect = {{}, at};
  defaults.filesystem_toolchains = {"auto", at};
  defaults.filesystem_sync = {"true", at};
  defaults.network = {"none", at};
  defaults.namespaces = {"auto", at};
  defaults.environment_pass = {{}, at};
  defaults.environment_set = {{}, at};
  defaults.jobs_keep = {"session", at};
  defaults.jobs_ports = {"none", at};
  defaults.git_identity = {"inherit", at};
  defaults.git_hooks = {"run", at};
  defaults.git_commands = {"read", at};
  defaults.git_signing = {"off", at};
  defaults.audit_to = {"file", at};
  defaults.audit_path = {"", at};
  defaults.audit_sync = {"false", at};
  defaults.http_public_url = {"", at};
  defaults.http_origins = {{}, at};
  defaults.http_issuer = {"", at};
  defaults.http_audience = {"", at};
  defaults.http_jwks = {"", at};
  defaults.http_scopes = {{}, at};
  defaults.http_subjects = {{}, at};
  const Limits limits;
  for (const Key& key : kKeys) {
    std::uint64_t value = 0;
    if (const auto* size = std::get_if<std::uint64_t Limits::*>(&key.field)) {
      value = limits.**size;
    } else if (const auto* time = std::get_if<std::chrono::milliseconds Limits::*>(&key.field)) {
      value = static_cast<std::uint64_t>((limits.**time).count());
    } else {
      continue;
    }
    defaults.limits[std::string(key.name)] = {value, at};
  }
  return defaults;
}

std::string FormatLimit(const Key& key, std::uint64_t value) {
  if (key.CanBeOff() && value == 0) return "off";
  if (key.type == Type::kDuration) {
    return FormatDuration(std::chrono::milliseconds(static_cast<std::int64_t>(value)));
  }
  if (key.type == Type::kByteSize) return FormatByteSize(value);
  return std::to_string(value);
}

std::string FormatRange(const Key& key) {
  const std::uint64_t least = key.CanBeOff() ? 1 : key.minimum;
  return FormatLimit(key, least) + " to " + FormatLimit(key, key.maximum) +
         (key.CanBeOff() ? ", or off" : "");
}

}  // namespace pa::policy
