#include <memory>
#include <span>

#include "worker/spec.h"
#include "worker/spec_view.h"

namespace pa::worker {
namespace {

std::vector<std::string> Owned(const TextList& list) {
  return {list.items, list.items + list.count};
}

std::vector<sandbox::PathGrant> Owned(std::span<const GrantView> grants) {
  std::vector<sandbox::PathGrant> owned;
  owned.reserve(grants.size());
  for (const GrantView& grant : grants) {
    owned.push_back({grant.path, grant.access, grant.reason});
  }
  return owned;
}

}  // namespace

Result<WorkerSpec> DecodeSpec(std::string_view bytes) {
  const std::size_t arena_bytes = SpecArenaBytes(bytes.size());
  const auto arena = std::make_unique_for_overwrite<char[]>(arena_bytes);
  const auto view = ParseSpec(bytes, {arena.get(), arena_bytes});
  if (!view) return std::unexpected(Error(view.error()));
  return WorkerSpec{.action = view->action,
                    .executable = view->executable,
                    .argv = Owned(view->argv),
                    .env = Owned(view->env),
                    .working_directory = view->working_directory,
                    .tmp_dir = view->tmp_dir,
                    .create_path = view->create_path,
                    .paths = Owned(view->paths),
                    .network = view->network,
                    .limits = view->limits,
                    .umask = view->umask,
                    .seccomp_program = std::string(view->seccomp_program),
                    .has_ruleset_fd = view->has_ruleset_fd};
}

}  // namespace pa::worker
