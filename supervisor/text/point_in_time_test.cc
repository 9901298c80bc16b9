#include "supervisor/text/point_in_time.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>
#include <optional>

namespace pa {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kNow = 1'800'000'000;  // 2027-01-15T08:00:00Z

// Seconds since the epoch.
std::optional<std::int64_t> Read(std::string_view text) {
  const auto point = ParsePointInTime(text, PointInTime(seconds(kNow)));
  if (!point) return std::nullopt;
  return std::chrono::duration_cast<seconds>(point->time_since_epoch()).count();
}

TEST(PointInTime, IsSoLongAgo) {
  EXPECT_EQ(Read("45s"), kNow - 45);
  EXPECT_EQ(Read("30m"), kNow - 1800);
  EXPECT_EQ(Read("2h"), kNow - 7200);
  EXPECT_EQ(Read("3d"), kNow - 259200);
  EXPECT_EQ(Read("2w"), kNow - 1209600);
  EXPECT_EQ(Read("0s"), kNow);
  EXPECT_TRUE(Read("99999w"));
}

TEST(PointInTime, IsADateWithItsZone) {
  EXPECT_EQ(Read("2027-01-15T08:00Z"), kNow);
  EXPECT_EQ(Read("2027-01-15 08:00:07Z"), kNow + 7);
  EXPECT_EQ(Read("2027-01-15T09:30:00+01:30"), kNow);
  EXPECT_EQ(Read("2027-01-15T03:00:00-05:00"), kNow);
}

TEST(PointInTime, IsOfTheLocalZoneOtherwise) {
  const char* set = getenv("TZ");
  const std::optional<std::string> old = set == nullptr ? std::nullopt : std::optional(set);
  setenv("TZ", "XYZ-02:00", 1);  // two hours east of Greenwich
  tzset();
  EXPECT_EQ(Read("2027-01-15 10:00"), kNow);
  EXPECT_EQ(Read("2027-01-15"), kNow - 36000);
  old ? setenv("TZ", old->c_str(), 1) : unsetenv("TZ");
  tzset();
}

TEST(PointInTime, IsNothingElse) {
  for (const char* text : {"",
                           "h",
                           "2",
                           "-2h",
                           "2H",
                           "1.5h",
                           "2h ",
                           "100000s",
                           "2027",
                           "2027-1-15",
                           "2027-02-30",
                           "2027-13-01",
                           "2027-01-15T",
                           "2027-01-15T8:00",
                           "2027-01-15T24:00",
                           "2027-01-15T08:60",
                           "2027-01-15T08:00:60",
                           "2027-01-15T08:00:00.5",
                           "2027-01-15T08:00ZZ",
                           "2027-01-15T08:00+1",
                           "2027-01-15Z+",
                           "yesterday",
                           "26.11.2026"}) {
    EXPECT_FALSE(Read(text)) << text;
  }
  const auto wrong = ParsePointInTime("soon", PointInTime());
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().find("found 'soon'"), std::string::npos) << wrong.error();
}

}  // namespace
}  // namespace pa
