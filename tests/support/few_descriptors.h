// FewDescriptors: limits the number of this process's descriptors until the end of its scope, as
// `ulimit -n` does.
//
//    const FewDescriptors few(64);
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace pa::testing {

class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t most) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few{most, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace pa::testing
