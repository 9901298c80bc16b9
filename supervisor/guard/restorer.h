// Restorer: restores protected paths to what they were before a command ran, and reports the
// changes that it found.
//
//    const std::vector<ProtectedChange> changes = Restorer(baseline, quarantine).Run();
//
// It is for the case that stamps differ: it reads and compares content, so a file that was
// rewritten with the same content is no change. The tree of the command is dead, but other commands
// may be at work in the same place. So everything is done by descriptor, beneath the writable tree,
// and no symlink is followed.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "policy/protected_paths.h"
#include "supervisor/guard/file_image.h"
#include "supervisor/guard/protected_change.h"
#include "supervisor/guard/quarantine.h"

namespace pa {

// A protected path, and what was there.
struct GuardedPath {
  policy::ProtectedPath path;
  std::shared_ptr<const FileImage> image;
  std::shared_ptr<const UniqueFd> pin;  // null, or the directory itself, wherever it is moved
  // The file that the user has put in its place meanwhile (supervisor/guard/mount_watch.h). If it
  // is certain that no command had a part in it, it takes the place of `image`; if not, it is
  // quarantined.
  std::shared_ptr<const FileImage> saved = nullptr;
  bool saved_is_certain = false;
};

class Restorer {
 public:
  // `quarantine`: the base of a Quarantine (supervisor/guard/quarantine.h).
  Restorer(const std::vector<GuardedPath>& baseline, const std::string& quarantine)
      : baseline_(baseline), quarantine_(quarantine) {}

  std::vector<ProtectedChange> Run();
  // After Run: the paths of the baseline that could not be compared or restored. A later attempt
  // may succeed.
  std::vector<GuardedPath> TakeOwed() { return std::move(owed_); }

 private:
  // Where a path is: its name in an open directory, within an open tree.
  struct Spot {
    int parent;
    std::string name;
    std::string path;
    int area_fd;
    const std::string& area;
  };

  void Check(const GuardedPath& guarded);
  bool Unseen(const std::string& path, int error);
  void CheckUnreachable(const GuardedPath& guarded, int area_fd, const std::string& gone);
  void CheckPinned(const Spot& spot, const GuardedPath& guarded);
  void CheckReplaced(const Spot& spot, const GuardedPath& guarded);
  void CheckState(const Spot& spot, const FileImage& image);
  void CheckNames(const Spot& spot, const FileImage& image);
  void TakeFlood(const Spot& spot, const FileImage& image);
  void CheckSaved(const Spot& spot, const GuardedPath& guarded);
  void CheckImage(const Spot& spot, const FileImage& image);
  void CheckChildren(const Spot& spot, const FileImage& image);
  bool CheckMetadata(const Spot& spot, const PathStamp& stamp, std::uint32_t which);
  bool MoveBack(const Spot& spot, const UniqueFd& pin);
  bool Take(const Spot& spot, ChangeKind kind);
  void Put(const Spot& spot, const FileImage& image, ChangeKind kind);
  void Report(const std::string& path, ChangeKind kind, const Result<std::string>& kept);
  bool IsLost(const std::string& path) const;

  const std::vector<GuardedPath>& baseline_;
  Quarantine quarantine_;
  std::set<std::string> lost_;  // repositories that are gone: nothing is restored beneath them
  std::vector<ProtectedChange> changes_;
  std::vector<GuardedPath> owed_;
};

}  // namespace pa
