// MountTable: calls back when something was mounted or unmounted in the mount namespace of this
// process.
//
//    MountTable mounts(loop, [&] { runner.Renew(); });
//
// A launcher's mount namespace is a copy. If mounts do not propagate to it (containers), it still
// holds file systems that were unmounted outside, and does not see new mounts. A MountTable does
// not keep the loop running.
#pragma once

#include <uv.h>

#include <functional>

#include "base/unique_fd.h"

namespace pa {

class MountTable {
 public:
  // Without /proc it never calls back.
  MountTable(uv_loop_t* loop, std::function<void()> on_changed);
  ~MountTable();  // the loop must run once more
  MountTable(const MountTable&) = delete;
  MountTable& operator=(const MountTable&) = delete;

 private:
  struct Handle;
  Handle* handle_ = nullptr;  // frees itself when closed
};

}  // namespace pa
