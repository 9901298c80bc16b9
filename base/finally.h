// Finally: runs a function at the end of a scope, also when the scope ends by an exception
// (std::bad_alloc).
//
//    const Finally done([&] { queue.Leave(ticket); });
#pragma once

#include <utility>

namespace pa {

template <typename Work>
class Finally {
 public:
  explicit Finally(Work work) : work_(std::move(work)) {}
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;
  ~Finally() { work_(); }

 private:
  Work work_;
};

}  // namespace pa
