#include "supervisor/trash.h"

#include <utility>

#include "supervisor/remove_tree.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStep{2};
constexpr milliseconds kPause{4};  // two thirds of the time are for the others

}  // namespace

void Trash::Add(std::string path, UniqueFd lock) {
  items_.push_back({std::move(path), std::move(lock)});
  if (items_.size() == 1) Step();
}

void Trash::Step() {
  while (!items_.empty()) {
    const Result<bool> removed = RemoveTree(items_.front().path, kStep);
    if (removed && !*removed) return timer_.Start(kPause, [this] { Step(); });
    items_.pop_front();
  }
}

}  // namespace pa
