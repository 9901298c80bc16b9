#include "base/units.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using std::chrono::milliseconds;

TEST(Duration, Units) {
  EXPECT_EQ(*ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(*ParseDuration("30s"), milliseconds(30'000));
  EXPECT_EQ(*ParseDuration("10m"), milliseconds(600'000));
  EXPECT_EQ(*ParseDuration("2h"), milliseconds(7'200'000));
  EXPECT_EQ(*ParseDuration("0s"), milliseconds(0));
}

TEST(Duration, NothingElse) {
  for (const char* text : {"", "10", "ms", "m10", "10 m", " 10m", "10m ", "1.5h", "-1s", "+1s",
                           "10M", "1d", "1h30m", "10sec", "0x10s"}) {
    const auto value = ParseDuration(text);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().subject.find("such as 500ms or 10m"), std::string::npos);
    EXPECT_TRUE(value.error().subject.starts_with("'" + std::string(text) + "'"));
  }
}

TEST(Duration, Overflow) {
  EXPECT_EQ(*ParseDuration("9223372036854775807ms"), milliseconds::max());
  for (const char* text :
       {"9223372036854775808ms", "99999999999999999999s", "9223372036854775807h"}) {
    const auto value = ParseDuration(text);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().subject.find("too large"), std::string::npos);
  }
}

TEST(Duration, FormatIsTheShortestExactSpelling) {
  EXPECT_EQ(FormatDuration(milliseconds(0)), "0s");
  EXPECT_EQ(FormatDuration(milliseconds(1)), "1ms");
  EXPECT_EQ(FormatDuration(milliseconds(1500)), "1500ms");
  EXPECT_EQ(FormatDuration(milliseconds(90'000)), "90s");
  EXPECT_EQ(FormatDuration(milliseconds(5'400'000)), "90m");
  EXPECT_EQ(FormatDuration(milliseconds(7'200'000)), "2h");
  EXPECT_EQ(FormatDuration(milliseconds(-1000)), "-1s");
}

TEST(Duration, RoundTrip) {
  for (std::int64_t value : {0ll, 1ll, 999ll, 60'000ll, 86'400'000ll, 9223372036854775807ll}) {
    EXPECT_EQ(ParseDuration(FormatDuration(milliseconds(value))), milliseconds(value));
  }
}

TEST(ByteSize, Units) {
  EXPECT_EQ(*ParseByteSize("512B"), 512u);
  EXPECT_EQ(*ParseByteSize("24KiB"), 24u << 10);
  EXPECT_EQ(*ParseByteSize("256MiB"), 256u << 20);
  EXPECT_EQ(*ParseByteSize("4GiB"), 4ull << 30);
  EXPECT_EQ(*ParseByteSize("1TiB"), 1ull << 40);
  EXPECT_EQ(*ParseByteSize("0B"), 0u);
}

TEST(ByteSize, DecimalUnitsAreRefusedWithTheBinaryOneNamed) {
  const auto value = ParseByteSize("24KB");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().subject, "'24KB': write 24KiB; KB is ambiguous");
  EXPECT_NE(ParseByteSize("1GB").error().subject.find("write 1GiB"), std::string::npos);
}

TEST(ByteSize, NothingElse) {
  for (const char* text :
       {"", "10", "KiB", "KB", "1.5GiB", "-1B", "4 GiB", "4gib", "4G", "4GiBs"}) {
    const auto value = ParseByteSize(text);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().subject.find("such as 24KiB"), std::string::npos) << text;
  }
}

TEST(ByteSize, Overflow) {
  EXPECT_EQ(*ParseByteSize("18446744073709551615B"), UINT64_MAX);
  EXPECT_FALSE(ParseByteSize("18446744073709551616B"));
  EXPECT_FALSE(ParseByteSize("16777216TiB"));
  EXPECT_TRUE(ParseByteSize("16777215TiB"));
}

TEST(ByteSize, FormatIsTheShortestExactSpelling) {
  EXPECT_EQ(FormatByteSize(0), "0B");
  EXPECT_EQ(FormatByteSize(1023), "1023B");
  EXPECT_EQ(FormatByteSize(1536), "1536B");
  EXPECT_EQ(FormatByteSize(24u << 10), "24KiB");
  EXPECT_EQ(FormatByteSize(1ull << 40), "1TiB");
  for (std::uint64_t value : {std::uint64_t{1}, std::uint64_t{3} << 30, UINT64_MAX}) {
    EXPECT_EQ(ParseByteSize(FormatByteSize(value)), value);
  }
}

}  // namespace
}  // namespace pa
