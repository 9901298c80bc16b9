#include "supervisor/tools/hidden_files.h"

#include <algorithm>

#include "policy/path.h"
#include "policy/rules.h"

namespace pa {

HiddenFiles::HiddenFiles(const Work& work, const CallContext& call)
    : policy_(call.policy), tool_(work.tool->name), root_(work.directory.path()) {
  any_ = std::ranges::any_of(policy_->permissions, [&](const policy::Rule& rule) {
    return !rule.path.empty() && (rule.tool == "*" || rule.tool == tool_);
  });
}

bool HiddenFiles::Hides(const std::string& name) {
  if (!any_) return false;
  const std::string absolute = name.starts_with('/') ? name : policy_->roots.front() + "/" + name;
  const bool hidden =
      policy::RefusingRule(policy_->permissions, {.tool = tool_,
                                                  .path = policy::RelativeTo(root_, absolute),
                                                  .absolute = absolute}) != nullptr;
  hidden_ += hidden ? 1 : 0;
  return hidden;
}

}  // namespace pa
