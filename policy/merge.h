// MergeLayers: who says what, put together key by key.
//
// The strongest layer that sets a key decides it. What the administrator sets is a ceiling: each
// other layer's value must be as tight or tighter, or it is an error that names both places. Nobody
// else sets it: the administrator's value is in force.
//
//   limits            lower is tighter
//   choices           none before full, skip before run: the order of policy/keys.cc
//   roots, filesystem beneath a path of the administrator's
//   tools.enable      a subset. Each layer adds: --enable names further tools, it takes none away
//   environment.pass  a subset
//   environment.set   the administrator's values stay; further names may be added
//   permissions       both must allow: a user's rule can refuse what the administrator's allows,
//   and
//                     cannot allow what the administrator's refuses
#pragma once

#include <optional>
#include <vector>

#include "policy/fragment.h"

namespace pa::policy {

// Paths are expanded and resolved already (policy/path.h). `others` come strongest first.
struct Layers {
  std::optional<PolicyFragment> administrator;
  std::vector<PolicyFragment> others;
  PolicyFragment defaults;
};

// Every key has a value in the result, but for roots that nobody names.
PolicyFragment MergeLayers(const Layers& layers, std::vector<Diagnostic>& diagnostics);

}  // namespace pa::policy
