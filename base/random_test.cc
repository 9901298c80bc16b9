#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace pa {
namespace {

TEST(Random, AsManyAsAskedForAndNeverTheSame) {
  EXPECT_EQ(RandomHex(0), "");
  const std::string much = RandomHex(100'000);
  EXPECT_EQ(much.size(), 200'000u);
  EXPECT_EQ(much.find_first_not_of("0123456789abcdef"), std::string::npos);
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(RandomHex(16));
  EXPECT_EQ(seen.size(), 100u);
}

}  // namespace
}  // namespace pa
