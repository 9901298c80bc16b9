// Decide: may this call run? A Permission says yes, and makes an Allow for each command of the
// call: inside what that command runs.
//
//   Decision d = Decide(policy, {.tool = "make", .target = "test", .directory = &dir});
//   if (auto* deny = std::get_if<Deny>(&d)) return Refused(*deny);
//   if (auto* ask = std::get_if<Ask>(&d)) ...      // the user; then again, with `approved`
//   const auto& permission = std::get<Permission>(d);
//   permission.For({.purpose = Purpose::kInspect});   // for the first command
//   permission.For({.purpose = Purpose::kBuild});     // for the second
//
// A worker is started from an Allow and from nothing less; only Decide makes a Permission.
#pragma once

#include <chrono>
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
  std::string path = {};     // absolute, by where symlinks lead: what a file tool works on
  std::string command = {};  // of bash
  const WorkingDirectory* directory = nullptr;  // borrowed; null only for Purpose::kGitIdentity
  bool read_only = false;     // the tool's annotation: such tools are always enabled
  std::string approved = {};  // the rule that asked for it (Ask::rule); "" = nobody has been asked
};

// What one command of a permitted call needs.
struct Needs {
  Purpose purpose = Purpose::kBuild;
  std::vector<sandbox::PathGrant> extra = {};  // of the repository, the private git configuration
  std::optional<std::chrono::milliseconds> timeout = {};  // may only shorten wall_time
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
  friend class Permission;
  Allow() = default;
  Purpose purpose_ = Purpose::kBuild;
  sandbox::Confinement confinement_;
  sandbox::ResourceLimits limits_;
  sandbox::SeccompProgram seccomp_;
  sandbox::SeccompProgram view_seccomp_;
  std::string rule_;
  std::vector<Relaxation> relaxations_;
};

// The policy, and the user where the policy asks, let this call run. Good for the whole call:
// whoever needs another command for it asks nobody again.
class Permission {
 public:
  const std::string& rule() const { return rule_; }  // as in Allow
  Allow For(const Needs& needs) const;

 private:
  friend struct PermissionMaker;
  Permission() = default;
  const Policy* policy_ = nullptr;  // borrowed
  std::string directory_;           // absolute; "" if there is none
  std::string rule_;
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

using Decision = std::variant<Permission, Deny, Ask>;

// `policy` outlives the permission.
Decision Decide(const Policy& policy, const ActionRequest& request);

// The environment of every command: PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TERM from
// `ambient` where set, then environment.pass (and CARGO_HOME and the like where toolchains are
// granted there), then environment.set; sorted, nothing else. TMPDIR is added by whoever runs the
// command. `ambient` is our own environment as NAME -> value.
std::map<std::string, std::string> CommandEnvironment(
    const Policy& policy, const std::map<std::string, std::string>& ambient);

}  // namespace pa::policy
