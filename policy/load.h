// LoadPolicy: from the files, the environment and the command line to one Policy, or to what is
// wrong.
//
// A setting comes from, strongest first: command line, environment, the user's file, the built-in
// default. What the administrator's file sets is a ceiling: a weaker value from anybody else is an
// error that names both places, never silently clamped.
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
  std::vector<std::string> roots;         // --root
  std::vector<std::string> enable;        // --enable
  std::optional<std::string> env_enable;  // ENABLE_ADDITIONAL_TOOLS
  std::optional<std::string> env_commit_size;  // PROJECT_ACTIONS_MAX_COMMIT_SIZE
  std::string home;
  std::string current_directory;                 // the root when nobody names one
  std::map<std::string, std::string> variables;  // our environment: ${VAR}, PATH, CARGO_HOME
  std::vector<std::string> known_tools;          // names that tools.enable may hold
  std::vector<TrustAnchor> anchors = {};         // but for the policy's files
  bool elsewhere = false;  // will be used from another place: what commands can write is a warning
};

struct LoadedPolicy {
  PolicyPtr policy;                     // null when there are errors
  std::vector<Diagnostic> diagnostics;  // errors; empty on success
  std::vector<Diagnostic> warnings;     // lawful but perilous: a granted ~/.ssh, the home as root
};

LoadedPolicy LoadPolicy(const PolicySources& sources);

// JSON Schema 2020-12 of one policy file, from the same key table that the parser uses.
std::string PolicySchema();
// The effective policy, every key with its value and where it comes from: YAML, or JSON on one
// line.
std::string ShowPolicy(const Policy& policy, bool json);

}  // namespace pa::policy
