#include "supervisor/run/order.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "policy/caches.h"

namespace pa {
namespace {

// `NAME=value` of each. Values that name the private /tmp, for programs that know only /tmp: where
// that is their own, they need not be told.
std::vector<std::string> Environment(const std::map<std::string, std::string>& env,
                                     const std::string& tmp) {
  constexpr std::array<std::string_view, 3> kNames = {"TEMP", "TMP", "TMPDIR"};
  const auto names_tmp = [&](const std::string& name) {
    return !tmp.empty() && std::ranges::find(kNames, name) != kNames.end();
  };
  std::vector<std::string> list;
  list.reserve(env.size() + kNames.size());
  for (const auto& [name, value] : env) {
    if (names_tmp(name)) continue;
    list.push_back(name + "=" + value);
    const std::size_t at = value.find(policy::kPrivateTmp);
    if (at == std::string::npos) continue;
    list.back().replace(name.size() + 1 + at, policy::kPrivateTmp.size(), tmp);
    if (tmp.empty() || tmp == "/tmp") list.pop_back();
  }
  if (tmp.empty()) return list;
  for (const std::string_view name : kNames) list.push_back(std::string(name) + "=" + tmp);
  return list;
}

}  // namespace

worker::WorkerSpec MakeSpec(const CommandPlan& plan, const policy::Allow& allow, const Slot* slot,
                            const std::vector<sandbox::Mount>& sealed) {
  const bool namespaces = slot != nullptr && slot->view.base != nullptr;
  worker::WorkerSpec spec;
  spec.action = plan.action;
  spec.executable = plan.executable;
  spec.argv = plan.argv;
  spec.tmp_dir = slot != nullptr ? slot->tmp_dir : "";
  spec.env = Environment(plan.env, namespaces ? slot->view.tmp_name : spec.tmp_dir);
  // Every mount of a view is a file system of its own to git, which would look for a repository no
  // further (git(1)).
  constexpr const char* kCross = "GIT_DISCOVERY_ACROSS_FILESYSTEM";
  if (namespaces && !plan.env.contains(kCross)) spec.env.push_back(std::string(kCross) + "=1");
  spec.working_directory = plan.directory.path();
  spec.file = plan.file;
  spec.file_digest = plan.file_digest;
  spec.read_bytes = plan.read_bytes;
  spec.network = allow.confinement().network;
  spec.limits = allow.limits();
  if (plan.umask) spec.umask = *plan.umask;
  // The launcher has it, unless it could not live with it; who reads the order, or runs it by hand,
  // has no launcher.
  const bool in_launcher = slot != nullptr && !worker::IsAlone(plan.action);
  if (!in_launcher && allow.seccomp()) spec.seccomp_program = *allow.seccomp();
  if (namespaces) {
    spec.seccomp_program = *allow.view_seccomp();
    spec.shm_dir = slot->view.shm_dir;
    spec.mounts = slot->view.mounts;
    spec.mounts.insert(spec.mounts.end(), sealed.begin(), sealed.end());
  }
  spec.has_ruleset_fd = slot != nullptr && slot->prepared.landlock_ruleset;
  // Without a ruleset the worker makes its own, or fails where the kernel has none.
  if (!spec.has_ruleset_fd) {
    spec.paths = slot != nullptr ? slot->prepared.confinement.paths : allow.confinement().paths;
  }
  return spec;
}

SpawnOrder MakeOrder(const CommandPlan& plan, const policy::Allow& allow, const Slot& slot) {
  SpawnOrder order;
  if (slot.view.base != nullptr) {
    order.launch.view = slot.view.base;
    order.launch.network = allow.confinement().network;
  } else if (worker::IsAlone(plan.action)) {
    order.launch.alone = true;
  } else {
    order.launch.program = allow.seccomp();
  }
  order.cwd = plan.directory.fd();
  order.ruleset = slot.prepared.landlock_ruleset.get();
  if (plan.stdin_data) order.stdin_data = *plan.stdin_data;
  if (plan.stdin_file) order.stdin_file = plan.stdin_file->get();
  order.limits = allow.limits();
  return order;
}

}  // namespace pa
