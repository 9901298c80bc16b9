#include "supervisor/run/view_cache.h"

#include <utility>

namespace pa {
namespace {

using std::chrono::steady_clock;

// A look at all sources is some dozens of system calls. Until then a command does not get at the
// new file, which is the safe side.
constexpr std::chrono::seconds kBetweenLooks{1};

sandbox::ViewOrder OrderOf(const policy::Policy& policy) {
  sandbox::ViewOrder order;
  const auto add = [&](const std::vector<sandbox::PathGrant>& grants) {
    order.grants.insert(order.grants.end(), grants.begin(), grants.end());
  };
  add(policy.system);
  if (policy.network == sandbox::Network::kFull) add(policy.system_network);
  add(policy.filesystem);
  order.grants.push_back(ControllingTerminal());
  order.names = policy.names;
  order.places = policy.roots;
  for (const char* place : {"/tmp", "/dev/shm"}) order.places.emplace_back(place);
  if (policy.home.starts_with('/')) order.places.push_back(policy.home);
  if (!policy.caches.base.empty()) order.places.push_back(policy.caches.base);
  return order;
}

}  // namespace

sandbox::PathGrant ControllingTerminal() {
  using sandbox::Access;
  return {.path = "/dev/tty",
          .access = Access::kRead | Access::kWrite | Access::kDevice,
          .reason = "controlling terminal",
          .replaced = sandbox::Replaced::kRarely};
}

std::shared_ptr<const sandbox::View> ViewCache::For(const policy::PolicyPtr& policy) {
  const auto now = steady_clock::now();
  const bool same = policy == policy_;
  if (same && now - looked_at_ < kBetweenLooks) return view_;
  looked_at_ = now;
  if (same && sandbox::StillValid(*view_)) return view_;
  policy_ = policy;
  view_ = std::make_shared<const sandbox::View>(sandbox::PlanView(OrderOf(*policy)));
  return view_;
}

}  // namespace pa
