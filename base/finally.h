// Finally: work at the end of its scope, however that ends: where there is no memory, by an
// exception.
//
//   const Finally done([&] { queue.Leave(ticket); });
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
