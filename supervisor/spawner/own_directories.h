// OwnDirectories: the directories in which a server writes, of which some are not there when it
// starts. It can reach only what is there when it confines itself, so they are made before; those
// that are still empty when it has ended are removed.
//
//    OwnDirectories own;
//    own.Make("/home/ann/.local/state/project-actions");
//    ...
//    own.RemoveEmpty("/home/ann/.local/state/project-actions");
//
// Each is locked by flock(2), shared, so that no server removes one that another one reaches.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace pa {

class OwnDirectories {
 public:
  // With its parents, mode 0700. What cannot be made is not there: whoever needs it says why.
  void Make(const std::string& path);
  bool IsEmpty() const { return held_.empty(); }  // nothing was asked for
  // Waits until the names of those that were made here survive a crash of the machine.
  void Sync() const;
  // Of those that were made here. What is beneath `state` stays if that directory was there before:
  // its user has used this program, and each name costs a write to the disk (Sync).
  void RemoveEmpty(const std::string& state);

 private:
  struct Held {
    std::vector<std::string> made;  // from the outermost on; empty: it was there
    UniqueFd lock;
  };
  std::vector<Held> held_;
};

}  // namespace pa
