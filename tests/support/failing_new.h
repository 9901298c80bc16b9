// FailingNew: makes the nth allocation fail, as if memory were used up, until the end of its scope.
// Allocations of less than `least` bytes are not counted and do not fail.
//
//    for (std::size_t nth = 1;; ++nth) {
//      FailingNew failing(nth);
//      ... what must survive it ...
//      if (!failing.failed()) break;      // there are fewer than nth: each has failed once
//    }
//
// Allocations on all threads count. A program that uses this has its own operator new
// (tests/support/failing_new.cc).
#pragma once

#include <cstddef>

namespace pa::testing {

class FailingNew {
 public:
  explicit FailingNew(std::size_t nth, std::size_t least = 0);
  ~FailingNew() { Stop(); }
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  void Stop();  // from here on all allocations succeed
  bool failed() const;
};

}  // namespace pa::testing
