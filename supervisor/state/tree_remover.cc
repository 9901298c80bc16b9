#include "supervisor/state/tree_remover.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <utility>

#include "base/proc_path.h"
#include "supervisor/janitor/file_chores.h"

namespace pa {
namespace {

constexpr std::chrono::minutes kTime{10};

// Where the tree is now; "" if that is too long to be said.
std::string PathOf(const HeldTree& tree) {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink(ProcPath(tree.parent->get()).c_str(), path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size()) return "";
  return std::string(path.data(), static_cast<std::size_t>(length)) + "/" + tree.name;
}

}  // namespace

void TreeRemover::Add(HeldTree tree, UniqueFd lock) {
  items_.push_back({.tree = std::move(tree), .lock = std::move(lock)});
  if (items_.size() == 1) Detach(Work(), [](bool) {});
}

Task<bool> TreeRemover::Work() {
  while (!items_.empty()) {
    const HeldTree tree = items_.front().tree;
    // Most are empty already.
    if (unlinkat(tree.parent->get(), tree.name.c_str(), AT_REMOVEDIR) != 0) {
      Task<Result<bool>> task = EmptyTree(janitor_, PathOf(tree), kTime);
      [[maybe_unused]] const Result<bool> emptied = co_await task;
      unlinkat(tree.parent->get(), tree.name.c_str(), AT_REMOVEDIR);
    }
    items_.pop_front();
  }
  co_return true;
}

}  // namespace pa
