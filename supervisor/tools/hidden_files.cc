#include "supervisor/tools/hidden_files.h"

#include <algorithm>

#include "policy/path.h"
#include "policy/rules.h"

namespace pa {

HiddenFiles::HiddenFiles(const Work& work, const CallContext& call)
    : policy_(call.policy),
      approvals_(call.approvals),
      tool_(work.tool->name),
      root_(work.directory.path()) {
  any_ = std::ranges::any_of(policy_->permissions, [&](const policy::Rule& rule) {
    return !rule.path.empty() && (rule.tool == "*" || rule.tool == tool_);
  });
}

bool HiddenFiles::Hides(const std::string& name) {
  if (!any_) return false;
  const std::string absolute = name.starts_with('/') ? name : policy_->roots.front() + "/" + name;
  const policy::Ruling ruling = policy::Judge(
      policy_->permissions,
      {.tool = tool_, .path = policy::RelativeTo(root_, absolute), .absolute = absolute});
  if (ruling.verdict == policy::Verdict::kAllow) return false;
  if (ruling.verdict == policy::Verdict::kAsk && IsApproved(*ruling.rule, absolute)) return false;
  rule_ = ruling.rule;
  ++hidden_;
  return true;
}

// By a word about it, or about a directory that holds it.
bool HiddenFiles::IsApproved(const policy::Rule& rule, const std::string& absolute) const {
  for (std::string path = absolute; policy::IsBeneath(path, root_);
       path.resize(path.find_last_of('/'))) {
    if (approvals_.Has({.rule = rule.where, .reason = rule.reason, .call = tool_ + " " + path})) {
      return true;
    }
  }
  return false;
}

}  // namespace pa
