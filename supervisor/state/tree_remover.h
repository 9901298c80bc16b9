// TreeRemover: removes trees, one after the other, by the janitor. A command can leave millions of
// files, and no call should wait for their removal.
//
//    TreeRemover remover(janitor);
//    remover.Add({instance_directory, "3"});
//
// Trees that are left when it is destroyed are in a directory that the next instance removes
// (instance_dir.h). Close the janitor before that.
#pragma once

#include <list>

#include "base/unique_fd.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/task.h"
#include "supervisor/state/remove_tree.h"

namespace pa {

class TreeRemover {
 public:
  explicit TreeRemover(Janitor& janitor) : janitor_(janitor) {}
  TreeRemover(const TreeRemover&) = delete;
  TreeRemover& operator=(const TreeRemover&) = delete;

  // Holds `lock` until `tree` is gone. A tree that cannot be removed within ten minutes is left.
  void Add(HeldTree tree, UniqueFd lock = UniqueFd());
  bool empty() const { return items_.empty(); }

 private:
  struct Item {
    HeldTree tree;
    UniqueFd lock;
  };

  Task<bool> Work();

  Janitor& janitor_;
  std::list<Item> items_;
};

}  // namespace pa
