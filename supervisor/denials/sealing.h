// Sealing: whether a refusal in a command's output comes from a mount that seals a protected path
// (supervisor/guard/protected_mounts.h, docs/adr/0014).
//
//    Sealing sealing(run.sealed, inspector);
//    if (const auto sealed = sealing.Of(refusal.reason, refusal.uses, paths)) ...   // sealed->path
//
// Such a mount returns EROFS for a write in it, and EBUSY when it is moved, removed or replaced. A
// read-only file system, or a mount that is not ours, does the same. So a path is reported only if
// nothing would have stopped us outside the sandbox, whichever of the accesses the command tried.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "supervisor/denials/path_inspector.h"
#include "supervisor/denials/refusals.h"
#include "supervisor/run/execution.h"

namespace pa {

class Sealing {
 public:
  Sealing(std::span<const SealedPath> sealed, PathInspector& inspector)
      : sealed_(sealed), inspector_(inspector) {}

  struct Found {
    std::string path;  // resolved: the path to be changed
    const SealedPath* by;
  };
  // `paths`: the names in the line, as absolute paths.
  std::optional<Found> Of(Reason reason, Uses uses, std::span<const std::string> paths);

 private:
  std::optional<Found> OfReadOnly(Uses uses, const std::string& path);
  bool OnlyTheSealStopped(Uses uses, const FoundPath& place, const SealedPath& by);
  std::optional<Found> OfBusy(std::span<const std::string> paths);
  bool WouldMoveOutside(std::span<const std::string> paths, std::size_t which,
                        const FoundPath& place);
  std::optional<Found> OfReplaced(const std::string& directory);
  const SealedPath* Exactly(const std::string& path) const;

  std::span<const SealedPath> sealed_;
  PathInspector& inspector_;
};

}  // namespace pa
