// Sealing: which refusal in a command's output is that of a mount that kept a protected path as it
// is (supervisor/guard/protected_mounts.h, docs/adr/0014).
//
//   Sealing sealing(run.sealed, probe);
//   if (const auto sealed = sealing.Of(refusal.reason, refusal.uses, paths)) ...   // sealed->path
//
// Such a mount answers EROFS to whoever writes in it, and EBUSY to whoever moves, removes or
// replaces it. Others answer so, too: a file system that is read-only, a mount that is none of
// ours. So it is said only where outside, to us, nothing stands in the way, of all that the command
// may have tried.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "supervisor/denials/path_probe.h"
#include "supervisor/denials/refusals.h"
#include "supervisor/run/execution.h"

namespace pa {

class Sealing {
 public:
  Sealing(std::span<const SealedPath> sealed, PathProbe& probe) : sealed_(sealed), probe_(probe) {}

  struct Found {
    std::string path;  // resolved: what was to be changed
    const SealedPath* by;
  };
  // `paths`: those that the line names, absolute.
  std::optional<Found> Of(Reason reason, Uses uses, std::span<const std::string> paths);

 private:
  std::optional<Found> OfReadOnly(Uses uses, const std::string& path);
  bool OnlyTheSealStopped(Uses uses, const Place& place, const SealedPath& by);
  std::optional<Found> OfBusy(std::span<const std::string> paths);
  bool WouldMoveOutside(std::span<const std::string> paths, std::size_t which, const Place& place);
  std::optional<Found> OfReplaced(const std::string& directory);
  const SealedPath* Exactly(const std::string& path) const;

  std::span<const SealedPath> sealed_;
  PathProbe& probe_;
};

}  // namespace pa
