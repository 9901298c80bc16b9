// ViewCache: the view of the commands of a policy that have namespaces. It is planned for the first
// of these commands, and again if something that it shows was replaced (a package was installed).
//
//    std::shared_ptr<const sandbox::View> view = views.For(policy);
#pragma once

#include <chrono>
#include <memory>

#include "policy/policy.h"
#include "sandbox/view_plan.h"

namespace pa {

// In a view alone: the controlling terminal of a command can only be one that the command has made
// itself. Outside a view it could be the user's.
sandbox::PathGrant ControllingTerminal();

class ViewCache {
 public:
  // Returns the same pointer as long as the view is the same.
  std::shared_ptr<const sandbox::View> For(const policy::PolicyPtr& policy);

 private:
  policy::PolicyPtr policy_;
  std::shared_ptr<const sandbox::View> view_;
  std::chrono::steady_clock::time_point looked_at_;
};

}  // namespace pa
