#include "policy/keys.h"

#include <gtest/gtest.h>

#include <set>

namespace pa::policy {
namespace {

// Each section's keys must stand together in the table: schema and `policy show` write them in one
// go.
TEST(Keys, SectionsAreNotTorn) {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const Key& key : PolicyKeys()) {
    if (key.Section() == last) continue;
    last = key.Section();
    if (!last.empty()) {
      EXPECT_TRUE(seen.insert(last).second) << key.name;
    }
  }
}

TEST(Keys, ValuesAreWithinTheirBounds) {
  const PolicyFragment defaults = DefaultFragment();
  for (const Key& key : PolicyKeys()) {
    if (!key.IsNumber()) continue;
    const std::uint64_t value = defaults.limits.find(key.name)->second.value;
    EXPECT_GE(value, key.minimum) << key.name;
    EXPECT_LE(value, key.maximum) << key.name;
  }
}

TEST(Keys, AreFoundByTheirFullName) {
  ASSERT_NE(FindKey("limits.memory"), nullptr);
  EXPECT_EQ(FindKey("limits.memory")->Section(), "limits");
  EXPECT_EQ(FindKey("limits.memory")->Word(), "memory");
  EXPECT_EQ(FindKey("network")->Section(), "");
  EXPECT_EQ(FindKey("network")->Word(), "network");
  EXPECT_EQ(FindKey("memory"), nullptr);
}

TEST(Keys, ListsOfStringsAreLists) {
  EXPECT_TRUE(FindKey("filesystem.read")->IsList());
  EXPECT_TRUE(FindKey("pipeline.tools")->IsList());
  EXPECT_FALSE(FindKey("permissions")->IsList());
  EXPECT_FALSE(FindKey("network")->IsList());
}

TEST(Keys, DefaultsAreThoseOfLimits) {
  const PolicyFragment defaults = DefaultFragment();
  const Limits limits;
  EXPECT_EQ(defaults.limits.at("limits.memory").value, limits.memory);
  EXPECT_EQ(defaults.limits.at("limits.wall_time").value, 600'000u);
  EXPECT_EQ(defaults.limits.at("jobs.detach_after").value, 10'000u);
  EXPECT_EQ(defaults.limits.at("limits.calls_per_minute").value, kAllCalls);
  EXPECT_EQ(defaults.limits.size(), 14u);
}

TEST(Keys, LimitsAreWrittenAsTheyAreRead) {
  EXPECT_EQ(FormatLimit(*FindKey("limits.wall_time"), 90'000), "90s");
  EXPECT_EQ(FormatLimit(*FindKey("limits.memory"), 4ull << 30), "4GiB");
  EXPECT_EQ(FormatLimit(*FindKey("limits.queue"), 0), "0");
  EXPECT_EQ(FormatLimit(*FindKey("jobs.detach_after"), 0), "off");
}

}  // namespace
}  // namespace pa::policy
