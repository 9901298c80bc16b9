// Explain: why a path or a tool is open or shut to commands, and the line of policy that would
// change it.
//
//   Explanation e = ExplainPath(policy, "/home/ann/.ssh/id_ed25519");
//   std::cout << e.text;   // or e.json, on one line
//
// Answers come from GrantsFor and the rules themselves, the same that Decide uses.
#pragma once

#include <string>

#include "policy/policy.h"
#include "sandbox/view_plan.h"

namespace pa::policy {

struct Explanation {
  std::string text;  // lines, for a terminal
  std::string json;
};

// A relative `path` is one in the first root. `view`: what commands see when they have namespaces,
// null when they have none.
Explanation ExplainPath(const Policy& policy, const std::string& path,
                        const sandbox::View* view = nullptr);
// `read_only`: the tool's annotation.
Explanation ExplainTool(const Policy& policy, const std::string& tool, bool read_only);

}  // namespace pa::policy
