// main of a test program of many sources: runs the tests of the source that PA_TEST_FILE names
// (`make_test.cc`), all of them without it. A --gtest_filter picks by itself.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

std::string TestsOf(const std::string& file) {
  std::string filter;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).filename() != file) continue;
      filter.append(filter.empty() ? "" : ":").append(suite.name()).append(".").append(test.name());
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const char* file = std::getenv("PA_TEST_FILE");
  if (file != nullptr && GTEST_FLAG_GET(filter) == "*") {
    const std::string filter = TestsOf(file);
    if (filter.empty()) {
      std::cerr << "PA_TEST_FILE: no test is in " << file << "\n";
      return 1;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
