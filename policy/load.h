// LoadPolicy: makes one Policy from the files, the environment and the command line, or reports
// what is wrong with them.
//
//    LoadedPolicy loaded = LoadPolicy({.default_user_file = file, .home = home, ...});
//    if (!loaded.policy) for (const Diagnostic& error : loaded.diagnostics) Show(error.Format());
//
// The sources of a setting, strongest first: command line, environment, the user's file, the
// built-in default. The administrator's file sets a ceiling: a weaker value from anybody else is an
// error that names both places, and is never silently clamped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"
#include "policy/trust_anchors.h"

namespace pa::policy {

inline constexpr char kAdministratorPolicy[] = "/etc/project-actions/policy.yaml";

struct PolicySources {
  std::string administrator_file = kAdministratorPolicy;  // read if it exists
  std::optional<std::string> user_file;   // --policy or PROJECT_ACTIONS_POLICY: must exist
  std::string default_user_file;          // $XDG_CONFIG_HOME/project-actions/policy.yaml: may exist
  std::optional<std::string> user_text;   // what the user's file shall hold; it is not read then
  std::vector<std::string> roots;         // --root
  std::vector<std::string> enable;        // --enable
  std::optional<std::string> env_enable;  // ENABLE_ADDITIONAL_TOOLS
  std::optional<std::string> env_commit_size;  // PROJECT_ACTIONS_MAX_COMMIT_SIZE
  std::string home;
  std::string current_directory;                 // the root if nobody names one
  std::map<std::string, std::string> variables;  // our environment: ${VAR}, PATH, CARGO_HOME
  std::vector<std::string> known_tools;          // names that a policy may hold
  std::vector<std::string> read_only_tools;      // those of them that are always on
  std::vector<TrustAnchor> anchors = {};         // without the files of the policy
  // The policy will be used from another directory than this one: an anchor that commands can write
  // is then only a warning.
  bool elsewhere = false;
  // Not to read what commands wrote: without the warnings that take it (SharedFileWarning).
  bool opens_nothing = false;
};

struct LoadedPolicy {
  PolicyPtr policy;                     // null if there are errors
  std::vector<Diagnostic> diagnostics;  // errors; empty on success
  std::vector<Diagnostic> warnings;  // allowed but dangerous: a granted ~/.ssh, the home as a root
};

LoadedPolicy LoadPolicy(const PolicySources& sources);

// JSON Schema 2020-12 of a policy file, from the key table that the parser uses.
std::string PolicySchema();
// The effective policy, every key with its value and its source: as YAML, or as JSON on one line.
std::string ShowPolicy(const Policy& policy, bool json);

}  // namespace pa::policy
