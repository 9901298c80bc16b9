// Decide: may this call run, and inside what? The only maker of Allow.
//
//   Decision d = Decide(policy, {.tool = "make", .target = "test", .directory = &dir, .purpose =
//   Purpose::kBuild});
//   if (auto* deny = std::get_if<Deny>(&d)) return Refused(*deny);
//   if (auto* ask = std::get_if<Ask>(&d)) ...      // the user; then again, with `approved`
//
// A worker is started from an Allow and from nothing less.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/policy.h"
#include "policy/working_directory.h"
#include "sandbox/confinement.h"

namespace pa::policy {

// What the command is for; decides which paths are writable and executable.
enum class Purpose {
  kInspect,  // project read-only, no network: make's database, `make -n`
  kSearch,   // project read-only, nothing of it is executed, no network: ripgrep
  kBuild,    // project read-write: make TARGET
  kGit,      // project and repository read-write, no network; EXECUTE only for git when hooks: skip
  kGitIdentity,  // reads the user's git configuration files, nothing of the project
  kReadFile,     // project read-only; nothing is executed
  kWriteFile,    // project read-write; nothing is executed
};

struct ActionRequest {
  std::string tool;          // as the client named it
  std::string target = {};   // make target or operation; "" otherwise
  std::string path = {};     // absolute, by where symlinks lead: what a file tool works on
  std::string command = {};  // of bash
  const WorkingDirectory* directory = nullptr;  // borrowed
  Purpose purpose = Purpose::kBuild;
  std::vector<sandbox::PathGrant> extra;  // of the repository, the private git configuration
  std::optional<std::chrono::milliseconds> timeout;  // may only shorten wall_time
  bool read_only = false;     // the tool's annotation: such tools are always enabled
  std::string approved = {};  // the rule that asked for it (Ask::rule); "" = nobody has been asked
};

class Allow {
 public:
  const sandbox::Confinement& confinement() const { return confinement_; }
  const sandbox::ResourceLimits& limits() const { return limits_; }
  const sandbox::SeccompProgram& seccomp() const { return seccomp_; }
  // The same for a command with namespaces; null when the policy wants none.
  const sandbox::SeccompProgram& view_seccomp() const { return view_seccomp_; }
  Purpose purpose() const { return purpose_; }
  const std::string& rule() const { return rule_; }  // "" = the default; else Rule::where
  // What the policy gives this command beyond the built-in default.
  const std::vector<Relaxation>& relaxations() const { return relaxations_; }

 private:
  friend struct AllowMaker;
  Allow() = default;
  Purpose purpose_ = Purpose::kBuild;
  sandbox::Confinement confinement_;
  sandbox::ResourceLimits limits_;
  sandbox::SeccompProgram seccomp_;
  sandbox::SeccompProgram view_seccomp_;
  std::string rule_;
  std::vector<Relaxation> relaxations_;
};

struct Deny {
  std::string message;         // names the rule
  std::string ai_message;      // how to change it, or what to do instead
  bool tool_disabled = false;  // the tool is not enabled; else a rule refuses this call of it
};

// The user decides.
struct Ask {
  std::string rule;    // Rule::where
  std::string reason;  // Rule::reason; may be ""
  std::string call;    // what is asked about: `make deploy`, `write /home/ann/src/a`
};

// What Decide says of a tool that is not enabled, for whoever must refuse before there is
// a request.
Deny ToolDisabled(const std::string& tool);

using Decision = std::variant<Allow, Deny, Ask>;

Decision Decide(const Policy& policy, const ActionRequest& request);

// The environment of every command: PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TERM from
// `ambient` where set, then environment.pass (and CARGO_HOME and the like where toolchains are
// granted there), then environment.set; sorted, nothing else. TMPDIR is added by whoever runs the
// command. `ambient` is our own environment as NAME -> value.
std::map<std::string, std::string> CommandEnvironment(
    const Policy& policy, const std::map<std::string, std::string>& ambient);

}  // namespace pa::policy
