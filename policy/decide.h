// Decide: decides whether a call may run. A Permission says yes; it makes an Allow for each command
// of the call, which says what that command may do.
//
//    Decision d = Decide(policy, {.tool = "make", .target = "test", .directory = &dir});
//    if (auto* deny = std::get_if<Deny>(&d)) return Refused(*deny);
//    if (auto* ask = std::get_if<Ask>(&d)) ...      // the user; then again, with `approved`
//    const auto& permission = std::get<Permission>(d);
//    permission.For({.purpose = Purpose::kInspect});   // for the first command
//    permission.For({.purpose = Purpose::kBuild});     // for the second
//
// A worker is started only from an Allow, and only Decide makes a Permission.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/policy.h"
#include "policy/purpose.h"
#include "policy/working_directory.h"
#include "sandbox/confinement.h"

namespace pa::policy {

struct ActionRequest {
  std::string tool;          // as the client named it
  std::string target = {};   // make target or operation; "" otherwise
  std::string path = {};     // absolute, symlinks resolved: the file that a file tool works on
  std::string command = {};  // of bash
  const WorkingDirectory* directory = nullptr;  // borrowed; null only for Purpose::kGitIdentity
  bool read_only = false;     // the tool's annotation: such tools are always enabled
  bool writes_git = false;    // the call wants a command of make or bash to change the repository
  std::string approved = {};  // the rule for which the user said yes (Ask::rule); "" = not asked
};

// The needs of one command of a permitted call.
struct Needs {
  Purpose purpose = Purpose::kBuild;
  std::vector<sandbox::PathGrant> extra = {};  // for the repository, the private git configuration
  // What Purpose::kGitAlone may execute besides git: programs that are no part of the project.
  std::vector<sandbox::PathGrant> programs = {};
  std::optional<std::chrono::milliseconds> timeout = {};  // may only shorten wall_time
};

class Allow {
 public:
  const sandbox::Confinement& confinement() const { return *confinement_; }
  // For those who need it longer than this object lives.
  std::shared_ptr<const sandbox::Confinement> SharedConfinement() const { return confinement_; }
  const sandbox::ResourceLimits& limits() const { return limits_; }
  const sandbox::SeccompProgram& seccomp() const { return seccomp_; }
  // The same for a command with namespaces; null if the policy wants none.
  const sandbox::SeccompProgram& view_seccomp() const { return view_seccomp_; }
  Purpose purpose() const { return purpose_; }
  // Whether it may change the repository, as far as git.commands decides that.
  bool writes_git() const { return writes_git_; }
  const std::string& rule() const { return rule_; }  // "" = the default; otherwise Rule::where
  // What the policy gives this command beyond the built-in default.
  const std::vector<Relaxation>& relaxations() const { return relaxations_; }

 private:
  friend class Permission;
  Allow() = default;
  Purpose purpose_ = Purpose::kBuild;
  std::shared_ptr<const sandbox::Confinement> confinement_;
  sandbox::ResourceLimits limits_;
  sandbox::SeccompProgram seccomp_;
  sandbox::SeccompProgram view_seccomp_;
  bool writes_git_ = true;
  std::string rule_;
  std::vector<Relaxation> relaxations_;
};

// Means that the policy, and the user where the policy asks, let this call run. It is valid for the
// whole call: nobody is asked again for further commands of the call.
class Permission {
 public:
  const std::string& rule() const { return rule_; }  // as in Allow
  // Whether its commands of make and bash may change the repository.
  bool writes_git() const { return writes_git_; }
  Allow For(const Needs& needs) const;

 private:
  friend struct PermissionMaker;
  Permission() = default;
  const Policy* policy_ = nullptr;  // borrowed
  std::string directory_;           // absolute; "" = none
  bool writes_git_ = false;
  std::string rule_;
};

struct Deny {
  std::string message;         // names the rule
  std::string ai_message;      // how to change it, or what to do instead
  bool tool_disabled = false;  // the tool is not enabled; otherwise this call is refused
};

// The user has to decide.
struct Ask {
  std::string rule;    // Rule::where
  std::string reason;  // Rule::reason; may be ""
  std::string call;    // the subject of the question: `make deploy`, `write /home/ann/src/a`
};

// What no command of the policy exceeds, whatever it asks for.
sandbox::ResourceLimits MostLimits(const Policy& policy);

// The answer of Decide for a tool that is not enabled, for callers that have to refuse before there
// is a request.
Deny ToolDisabled(const std::string& tool);

// The answer to a call that wants ports of its job to be served; nothing: they may be.
std::optional<Deny> WhyNoPorts(const Policy& policy);

// The answer to a pipeline or batch with a call that Policy::InnerCallAllowed refuses.
Deny NotFromWithin(const Policy& policy, const std::string& tool);

using Decision = std::variant<Permission, Deny, Ask>;

// `policy` must outlive the permission.
Decision Decide(const Policy& policy, const ActionRequest& request);

// Makes package managers give up early where a build reaches no other host: npm took 77 s before it
// failed, cargo 12 s, pip 15 s. What `environment` has already stays.
void LimitRetries(const Policy& policy, std::map<std::string, std::string>& environment);

// What PATH is where nobody set it, or to nothing. Without it each shell has a default of its own,
// bash one with the current directory in it.
inline constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

// The environment of every command: PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TERM from
// `ambient` if they are set there, PATH in any case; then environment.pass (and CARGO_HOME and the
// like, if they lead to granted toolchains); then environment.set. Nothing else; sorted. The code
// that runs the command adds TMPDIR. `ambient` is our own environment as NAME -> value.
std::map<std::string, std::string> CommandEnvironment(
    const Policy& policy, const std::map<std::string, std::string>& ambient);

}  // namespace pa::policy
