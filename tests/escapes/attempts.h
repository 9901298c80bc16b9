// The attempts to escape from the sandbox, as a table: what is tried, its allowed twin, and the
// check that shows whether it worked.
//
// To add an attempt: a verb in attempt.cc if no program does it, a line in attempts.cc, its name in
// protections.cc.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/escapes/world.h"

namespace pa::testing {

struct Attempt {
  std::string name;
  std::string_view escape;  // shell command, with the names of world.h in braces
  std::string_view twin;    // the same, or its nearest relative, where it is allowed: must succeed
  std::function<bool(const World&, const Trial&)> escaped;

  Setting setting = {};                // of the escape, with and without the sandbox
  std::string_view twin_policy = {};   // if only another policy allows the twin
  Sandbox off = Sandbox::kUnconfined;  // where it must succeed, to prove something
  bool root_only = false;              // an ordinary user cannot do it anyway
  // Tier 0 does not stop it, and `doctor` must say so. Then the escape must succeed.
  bool open_in_tier0 = false;
  bool open_in_tier1 = false;  // nor does tier 1
  // In tier 0 Landlock stops it from this ABI on. Below this ABI nothing does, and the escape must
  // succeed.
  int open_below_abi = 0;
  // Below this ABI the protection in Landlock's place refuses the twin as well.
  int twin_from_abi = 1;
  bool closed_to_root = false;  // if open: not to root, which has dropped its capabilities
  // The kernel may have been built without the feature; then the attempt proves nothing, and the
  // test is skipped.
  bool kernel_may_lack = false;
  std::string_view before = {};  // shell commands that run before either
  // Checks the effect of the twin, where it could succeed and be undone.
  std::function<bool(const World&, const Trial&)> allowed = {};
};

void PrintTo(const Attempt& attempt, std::ostream* out);

std::vector<Attempt> AllAttempts();

}  // namespace pa::testing
