// FailingNew: to the end of its scope one allocation fails, as where there is no more memory.
// Whatever asks for less than `least` bytes gets it.
//
//   for (std::size_t nth = 1;; ++nth) {
//     FailingNew failing(nth);
//     ... what must survive it ...
//     if (!failing.failed()) break;      // there are not as many: each has failed once
//   }
//
// On whatever thread it is. A program that uses this has its own operator new
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

  void Stop();  // from here on all succeed
  bool failed() const;
};

}  // namespace pa::testing
