#include "supervisor/cli/written_switches.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

using Switches = std::vector<std::string>;

TEST(WrittenSwitches, AreKeptForEachFile) {
  const testing::TempDir directory;
  const std::string record = directory.path() / "state/clients/switches.json";
  EXPECT_EQ(ReadWrittenSwitches(record, "/a"), Switches{});
  ASSERT_TRUE(KeepWrittenSwitches(record, "/a", {"Bash", "Edit"}));
  ASSERT_TRUE(KeepWrittenSwitches(record, "/b", {"x"}));
  EXPECT_EQ(ReadWrittenSwitches(record, "/a"), (Switches{"Bash", "Edit"}));
  EXPECT_EQ(ReadWrittenSwitches(record, "/b"), Switches{"x"});
  ASSERT_TRUE(KeepWrittenSwitches(record, "/a", {}));
  EXPECT_EQ(ReadWrittenSwitches(record, "/a"), Switches{});
  EXPECT_EQ(ReadWrittenSwitches(record, "/b"), Switches{"x"});
  struct stat status{};
  ASSERT_EQ(stat((directory.path() / "state/clients").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700u);
}

TEST(WrittenSwitches, WhatCannotBeReadIsAnError) {
  const testing::TempDir directory;
  const std::string record = directory.path() / "switches.json";
  for (const char* text : {"[", "[]", R"({"/a": "Bash"})", R"({"/a": [1]})"}) {
    testing::WriteText(record, text);
    const auto read = ReadWrittenSwitches(record, "/a");
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().Message().contains(record)) << read.error().Message();
    EXPECT_FALSE(KeepWrittenSwitches(record, "/a", {"x"})) << text;
    EXPECT_EQ(testing::ReadText(record), text);
  }
  testing::WriteText(record, "");
  EXPECT_EQ(ReadWrittenSwitches(record, "/a"), Switches{});
  EXPECT_TRUE(KeepWrittenSwitches(record, "/a", {"x"}));
  EXPECT_EQ(ReadWrittenSwitches(record, "/a"), Switches{"x"});
  EXPECT_FALSE(KeepWrittenSwitches("/proc/none/switches.json", "/a", {"x"}));
}

}  // namespace
}  // namespace pa
