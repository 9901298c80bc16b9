// TreeRemover: trees to be removed a little at a time, between all else that the loop does. A
// command can leave millions of files, and nobody shall wait for those.
//
//   TreeRemover remover(loop);
//   remover.Add({instance_directory, "3"});
//
// What is left when it goes lies in a directory that the next instance sweeps (instance_dir.h).
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

  // `lock` is held until `tree` is gone. What cannot be removed, or not in ten minutes, is left.
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
