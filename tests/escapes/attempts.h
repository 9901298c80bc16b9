// All attempts to get out, as a table: what is tried, its allowed twin, how one sees that it
// worked.
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

  Setting setting = {};                // of the escape, also without the sandbox
  std::string_view twin_policy = {};   // where only another policy allows the twin
  Sandbox off = Sandbox::kUnconfined;  // what shows that the attempt is a real one
  bool root_only = false;              // an ordinary user cannot do it anyway
  // Tier 0 does not stop it, and `doctor` says so. Then the escape must succeed.
  bool open_in_tier0 = false;
  bool open_in_tier1 = false;  // nor do namespaces
  // In tier 0 Landlock stops it from this ABI on, and until then nothing does. Then the escape must
  // succeed.
  int open_below_abi = 0;
  int open_below_abi_in_tier1 = 0;  // the same in tier 1
  // Before it, what is in Landlock's place refuses the twin as well.
  int twin_from_abi = 1;
  bool closed_to_root = false;  // but not to root, which has given its capabilities away
  // The kernel may have been built without it; then nothing is shown, and the test is skipped.
  bool kernel_may_lack = false;
  std::string_view before = {};  // shell commands that make ready for either
  // What the twin brings about, where it could succeed and be undone.
  std::function<bool(const World&, const Trial&)> allowed = {};
};

void PrintTo(const Attempt& attempt, std::ostream* out);

std::vector<Attempt> AllAttempts();

}  // namespace pa::testing
