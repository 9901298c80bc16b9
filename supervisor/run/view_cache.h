// ViewCache: what the commands of a policy have in sight when they have namespaces. Planned at the
// first of them, and anew when something that it shows was replaced (a package was installed).
//
//   std::shared_ptr<const sandbox::View> view = views.For(policy);
#pragma once

#include <chrono>
#include <memory>

#include "policy/policy.h"
#include "sandbox/view_plan.h"

namespace pa {

class ViewCache {
 public:
  // The same pointer as long as it is the same view.
  std::shared_ptr<const sandbox::View> For(const policy::PolicyPtr& policy);

 private:
  policy::PolicyPtr policy_;
  std::shared_ptr<const sandbox::View> view_;
  std::chrono::steady_clock::time_point looked_at_;
};

}  // namespace pa
