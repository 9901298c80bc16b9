#include "supervisor/state/tree_remover.h"

#include <utility>

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStep{2};
constexpr milliseconds kPause{4};  // two thirds of the time are for the others
constexpr int kMaxSteps = 100'000;

}  // namespace

void TreeRemover::Add(HeldTree tree, UniqueFd lock) {
  items_.push_back({.tree = std::move(tree), .lock = std::move(lock)});
  if (items_.size() == 1) Step();
}

void TreeRemover::Step() {
  while (!items_.empty()) {
    Item& item = items_.front();
    const Result<bool> removed = RemoveTree(item.tree.parent->get(), item.tree.name, kStep);
    const bool more = removed && !*removed && ++item.steps < kMaxSteps;
    if (more) return timer_.Start(kPause, [this] { Step(); });
    items_.pop_front();
  }
}

}  // namespace pa
