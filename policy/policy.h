// Policy: the combined settings of the administrator, the user and the command line; compiled and
// immutable.
//
//    PolicySources sources = ...;                       // who says what, strongest first
//    LoadedPolicy loaded = LoadPolicy(sources);         // policy/load.h
//    Decision d = Decide(*loaded.policy, request);      // policy/decide.h
//
// There are three stages, as in clangd: PolicyFragment (as written, with line and column) -> Policy
// (compiled) -> Decision. To add a key: see the top of policy/fragment.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/relaxations.h"
#include "policy/verdict.h"
#include "sandbox/confinement.h"
#include "sandbox/prepared.h"

namespace pa::policy {

// More than any machine has: means no limit.
inline constexpr std::uint64_t kAllCpus = 65'536;
// Of limits.calls_per_minute: means no limit.
inline constexpr std::uint64_t kAllCalls = 1'000'000;

struct Limits {
  std::chrono::milliseconds wall_time{600'000};
  std::chrono::milliseconds cpu_time{600'000};
  std::uint64_t memory = 4ull << 30;
  std::uint64_t processes = 512;
  std::uint64_t cpus = kAllCpus;
  std::uint64_t open_files = 4096;
  std::uint64_t file_size = 4ull << 30;
  std::uint64_t output_inline = 24u << 10;    // bytes of one stream in a result
  std::uint64_t output_total = 256ull << 20;  // bytes of one stream in the result store
  std::uint64_t commit_message = 16u << 10;
  std::uint64_t concurrent = 4;
  std::uint64_t queue = 64;
  std::uint64_t calls_per_minute = kAllCalls;
  std::chrono::milliseconds detach_after{10'000};  // 0 = never
  bool operator==(const Limits&) const = default;
};

enum class Hooks { kRun, kSkip };
// What make and bash may do to the repository; without namespaces everything (docs/adr/0015).
enum class GitCommands { kRead, kAsk, kWrite };

struct GitPolicy {
  bool inherit_identity = true;
  Hooks hooks = Hooks::kRun;
  GitCommands commands = GitCommands::kRead;
};

// One line of `permissions`; the first that matches decides.
struct Rule {
  std::string tool;         // a tool's name or `*`
  std::string target = {};  // glob for the make target or the project_actions operation; "" = any
  std::string path = {};    // for tools that work with files (policy/rules.h); "" = any
  // `path` as a path of this machine with symlinks resolved, if it begins with a slash or ~/;
  // otherwise "".
  std::string whole_path = {};
  std::string command = {};  // for bash, the first words of the command; "" = any
  Verdict verdict = Verdict::kDeny;
  std::string reason = {};
  std::string where = {};      // `permissions[2] (/etc/project-actions/policy.yaml:14:5)`
  bool administrator = false;  // the stricter verdict of these rules and of the others counts
};

// The system call filters, by the use of a command.
struct Programs {
  sandbox::SeccompProgram build;       // for the policy's `network`
  sandbox::SeccompProgram inspect;     // for commands that only read
  sandbox::SeccompProgram search;      // for ripgrep
  sandbox::SeccompProgram no_network;  // for commands that never need a network
  sandbox::SeccompProgram files;       // for workers that read files themselves
  sandbox::SeccompProgram changes;     // for workers that change files themselves
};

// A directory under another name (policy/aliases.h).
struct Alias {
  std::string name;
  std::string path;  // resolved
};

// A path that commands must leave as it is: relative to wherever they work, or absolute
// (`anchors`).
struct ConfiguredPath {
  std::string path;
  std::string reason;  // `policy filesystem.protect (policy.yaml:3:12)`
};

// What `toolchains: auto` gives to builds besides readable paths (policy/caches.h).
struct Caches {
  std::string base;      // holds one directory per project; "" = no caches
  std::string why_none;  // why there are no caches although the policy wants some
  std::map<std::string, std::string> variables;  // ${PROJECT_CACHE} stands for that directory
  std::vector<std::string> profiles;             // the profiles that use the caches
};

// Where calls are recorded: in a file, or by a daemon, or nowhere.
struct AuditPolicy {
  enum class Daemon : std::uint8_t { kNone, kJournal, kSyslog };
  std::string path;  // "" = not in a file
  bool sync = false;
  Daemon daemon = Daemon::kNone;
  std::string socket = {};  // of the daemon
  bool IsKept() const { return !path.empty() || daemon != Daemon::kNone; }
  // The directory of the log file, in which only this server may write; "" = there is no file.
  std::string Directory() const { return path.substr(0, path.empty() ? 0 : path.rfind('/')); }
};

// A path that no command may reach, though a grant may hold it.
struct CoveredPath {
  std::string path;       // absolute, resolved
  std::string title;      // `a socket of this server`
  bool granted = false;   // a grant of the policy holds it
  bool writable = false;  // commands could write it, once it is there
  bool operator==(const CoveredPath&) const = default;
};

// Which access tokens are taken (OAuth 2.1).
struct OAuthPolicy {
  std::string issuer;  // "" = none are
  std::string audience;
  std::string resource;  // http.public_url
  std::string jwks;      // absolute
  std::vector<std::string> scopes;
  std::map<std::string, std::string, std::less<>> subjects;  // to users of this machine
  bool IsOn() const { return !issuer.empty(); }
};

// Of a server that listens.
struct HttpPolicy {
  std::string public_host;           // of http.public_url, with its port if it names one; "" = none
  std::vector<std::string> origins;  // in lower case
  OAuthPolicy oauth;
};

// Whether a tool does nothing but call others. What it calls is asked about call by call.
constexpr bool MakesCalls(std::string_view tool) { return tool == "pipeline" || tool == "batch"; }

struct PolicyFragment;  // policy/fragment.h

struct Policy {
  std::vector<std::string> roots;  // absolute, resolved; never empty
  std::vector<Alias> aliases;
  std::set<std::string> enabled_tools;  // beyond the read-only ones
  bool enable_all = false;
  std::set<std::string> inner_tools;           // for calls within calls, beyond the read-only ones
  std::vector<Rule> permissions;               // the administrator's first
  std::vector<sandbox::PathGrant> filesystem;  // read, write and toolchains, expanded
  std::vector<ConfiguredPath> protect;         // beyond git's own places
  std::vector<std::string> unprotect;          // paths of policy/host_files.h
  std::vector<ConfiguredPath> anchors;         // absolute; see policy/trust_anchors.h
  // Absolute. A policy that lets commands write one of these does not load.
  std::vector<std::string> unwritable = {};
  // A command with namespaces finds something empty in place of each that is granted.
  std::vector<CoveredPath> covered = {};
  bool filesystem_sync = true;                     // for files that tools write themselves
  std::vector<sandbox::PathGrant> system;          // built in, those that exist here
  std::vector<sandbox::PathGrant> system_network;  // built in, for commands with network: full
  std::vector<sandbox::PathGrant> git_programs;    // what git itself must execute, for hooks: skip
  // The system paths as programs know them, symlinks included.
  std::vector<std::string> names;
  sandbox::Network network = sandbox::Network::kNone;
  bool keep_jobs = false;  // a job goes on when its session ends
  bool job_ports = false;  // jobs can have ports served on 127.0.0.1 of this machine
  // Includes the variables that lead to granted toolchains.
  std::vector<std::string> environment_pass;
  std::map<std::string, std::string> environment_set;
  Caches caches;
  Limits limits;
  GitPolicy git;
  AuditPolicy audit;
  HttpPolicy http;
  std::string home;                  // of the user that runs the server
  std::string config_home;           // $XDG_CONFIG_HOME or ~/.config
  std::vector<std::string> sources;  // files that were read, strongest first
  sandbox::Namespaces namespaces = sandbox::Namespaces::kAuto;
  Programs programs;       // compiled when the policy loaded
  Programs view_programs;  // for commands with namespaces; empty with namespaces: off
  // Each key's value and place, for `policy show`; null in a server.
  std::shared_ptr<const PolicyFragment> effective;
  std::vector<Relaxation> relaxations;  // everything that it grants beyond the built-in default

  // Whether there is a call about which the user is asked.
  bool EverAsks() const;
  bool ToolEnabled(const std::string& tool, bool read_only) const;
  // Whether `pipeline` and `batch` may call the tool. Says nothing of whether the tool is on.
  bool InnerCallAllowed(const std::string& tool, bool read_only) const;
};

using PolicyPtr = std::shared_ptr<const Policy>;

}  // namespace pa::policy
