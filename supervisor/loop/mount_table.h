// MountTable: tells when something was mounted or unmounted where this process lives.
//
//   MountTable mounts(loop, [&] { runner.Renew(); });
//
// A launcher's mount namespace was copied once. Where mounts do not propagate (containers), it goes
// on to hold what was unmounted outside, and does not see what was mounted. Never keeps the loop
// running.
#pragma once

#include <uv.h>

#include <functional>

#include "base/unique_fd.h"

namespace pa {

class MountTable {
 public:
  // Where there is no /proc, it never tells.
  MountTable(uv_loop_t* loop, std::function<void()> on_changed);
  ~MountTable();  // the loop must run once more
  MountTable(const MountTable&) = delete;
  MountTable& operator=(const MountTable&) = delete;

 private:
  struct Handle;
  Handle* handle_ = nullptr;  // frees itself when closed
};

}  // namespace pa
