// TreeRemover: removes trees a little at a time, in turns with everything else on the loop. A
// command can leave millions of files, and no call should wait for their removal.
//
//    TreeRemover remover(loop);
//    remover.Add({instance_directory, "3"});
//
// Trees that are left when it is destroyed are in a directory that the next instance removes
// (instance_dir.h).
#pragma once

#include <uv.h>

#include <list>

#include "base/unique_fd.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/state/remove_tree.h"

namespace pa {

class TreeRemover {
 public:
  explicit TreeRemover(uv_loop_t* loop) : timer_(loop) {}
  TreeRemover(const TreeRemover&) = delete;
  TreeRemover& operator=(const TreeRemover&) = delete;

  // Holds `lock` until `tree` is gone. A tree that cannot be removed within ten minutes is left.
  void Add(HeldTree tree, UniqueFd lock = UniqueFd());
  bool empty() const { return items_.empty(); }

 private:
  struct Item {
    HeldTree tree;
    UniqueFd lock;
    int steps = 0;
  };

  void Step();

  std::list<Item> items_;
  TimerHandle timer_;
};

}  // namespace pa
