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

std::vector<sandbox::Mount> Owned(std::span<const sandbox::MountView> mounts) {
  std::vector<sandbox::Mount> owned;
  owned.reserve(mounts.size());
  for (const sandbox::MountView& mount : mounts) {
    owned.push_back({mount.kind, mount.source, mount.target});
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
                    .shm_dir = view->shm_dir,
                    .file = view->file,
                    .file_digest = std::string(view->file_digest),
                    .read_bytes = view->read_bytes,
                    .paths = Owned(view->paths),
                    .network = view->network,
                    .limits = view->limits,
                    .umask = view->umask,
                    .seccomp_program = std::string(view->seccomp_program),
                    .has_ruleset_fd = view->has_ruleset_fd,
                    .mounts = Owned(view->mounts)};
}

Result<LaunchSpec> DecodeLaunch(std::string_view bytes) {
  const std::size_t arena_bytes = SpecArenaBytes(bytes.size());
  const auto arena = std::make_unique_for_overwrite<char[]>(arena_bytes);
  const auto view = ParseLaunch(bytes, {arena.get(), arena_bytes});
  if (!view) return std::unexpected(Error(view.error()));
  return LaunchSpec{.seccomp_program = std::string(view->seccomp_program),
                    .cgroups = view->cgroups,
                    .namespaces = view->namespaces,
                    .network = view->network,
                    .view = Owned(view->view)};
}

Result<CeilingSpec> DecodeCeiling(std::string_view bytes) {
  const std::size_t arena_bytes = SpecArenaBytes(bytes.size());
  const auto arena = std::make_unique_for_overwrite<char[]>(arena_bytes);
  const auto view = ParseCeiling(bytes, {arena.get(), arena_bytes});
  if (!view) return std::unexpected(Error(view.error()));
  return CeilingSpec{.views = view->views,
                     .paths = Owned(view->paths),
                     .network = view->network,
                     .limits = view->limits,
                     .programs = {view->programs.begin(), view->programs.end()}};
}

}  // namespace pa::worker
