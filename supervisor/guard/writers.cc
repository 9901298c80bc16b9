#include "supervisor/guard/writers.h"

#include <algorithm>

#include "base/finally.h"

namespace pa {

Writers::Writer::Writer(Writers& writers) : writers_(writers), number_(++writers.last_) {
  writers_.at_work_.insert(number_);
}

Writers::Writer::~Writer() { writers_.End(number_); }

Task<bool> Writers::Settled() {
  if (at_work_.empty()) co_return true;
  const auto mine = waiting_.emplace(waiting_.end(), last_);
  const Finally done([&] { waiting_.erase(mine); });
  Completion<bool>& settled = mine->settled;
  const bool all = co_await settled;
  co_return all;
}

// Who is told goes on at once, and takes itself off the list.
void Writers::End(std::uint64_t number) {
  at_work_.erase(number);
  const auto ready = [this](const Waiting& one) {
    return !one.told && (at_work_.empty() || *at_work_.begin() > one.last);
  };
  for (;;) {
    const auto it = std::ranges::find_if(waiting_, ready);
    if (it == waiting_.end()) return;
    it->told = true;
    it->settled.Set(true);
  }
}

}  // namespace pa
