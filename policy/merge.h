// MergeLayers: combines the layers of a policy, key by key.
//
// The strongest layer that sets a key decides its value. A value of the administrator is a ceiling:
// the value of each other layer must be as tight or tighter, or it is an error that names both
// places. If no other layer sets the key, the administrator's value is in force.
//
//    limits                lower is tighter
//    choices               none before full, skip before run: the order of policy/keys.cc
//    roots, filesystem.read and filesystem.write
//                          beneath a path of the administrator's
//    filesystem.protect    no ceiling: the paths of all layers are protected
//    filesystem.unprotect  a subset
//    tools.enable          a subset. Each layer adds: --enable names further tools, removes none
//    pipeline.tools        a subset; if no layer sets it, the tools that tools.enable names one by
//                          one
//    environment.pass      a subset
//    environment.set       the administrator's values stay; further names may be added
//    permissions           both must allow: a user's rule can refuse what the administrator's rules
//                          allow, and cannot allow what they refuse
//    audit                 nobody may change what the administrator sets
#pragma once

#include <optional>
#include <vector>

#include "policy/fragment.h"

namespace pa::policy {

// Paths are already expanded and resolved (policy/path.h). `others`: strongest first.
struct Layers {
  std::optional<PolicyFragment> administrator;
  std::vector<PolicyFragment> others;
  PolicyFragment defaults;
};

// In the result every key has a value, except roots that nobody names.
PolicyFragment MergeLayers(const Layers& layers, std::vector<Diagnostic>& diagnostics);

}  // namespace pa::policy
