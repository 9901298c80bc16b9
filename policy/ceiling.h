// CeilingOf: the most that a policy can give, whatever is asked for, as plain values. The spawner
// keeps commands and the janitor's processes within it, so that whoever controls the supervisor
// gets no more (docs/adr/0061).
//
//    const Ceiling ceiling = CeilingOf(policy, state_directory);
//
// It is a union: what a rule, the user or a working directory would still refuse is within it. The
// test of each Purpose asks whether GrantsFor fits.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"
#include "sandbox/confinement.h"
#include "sandbox/prepared.h"

namespace pa::policy {

struct Ceiling {
  std::vector<sandbox::PathGrant> commands;
  // Of the janitor, which executes nothing: where commands can write, and what decides about that.
  std::vector<sandbox::PathGrant> chores;
  sandbox::Network network = sandbox::Network::kNone;
  sandbox::ResourceLimits limits;
  // For commands without namespaces, and with; no two are equal.
  std::vector<std::string> programs;
  std::vector<std::string> view_programs;
  // Where the user's own configuration of git lies: GitConfigurationGrants. Its files come and go.
  std::string home;
  std::string config_home;
};

// `state`: the server's own directory; "": there is none.
Ceiling CeilingOf(const Policy& policy, const std::string& state);

// Whether a grant is within one of `most`, by name.
bool IsWithin(const sandbox::PathGrant& grant, const std::vector<sandbox::PathGrant>& most);

}  // namespace pa::policy
