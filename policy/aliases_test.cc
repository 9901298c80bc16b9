#include "policy/aliases.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

TEST(Aliases, AreNamesThatAreNotWhatTheyResolveTo) {
  const testing::TempDir dir;
  const std::string top = fs::canonical(dir.path());
  fs::create_directories(top + "/data/ann/src");
  fs::create_directory_symlink(top + "/data", top + "/home");
  fs::create_directory_symlink("ann", top + "/data/bob");
  const std::vector<Alias> aliases =
      FindAliases({top + "/home/ann", top + "/data/ann", top + "//home/bob/", "home/ann",
                   top + "/home/../data"});
  ASSERT_EQ(aliases.size(), 2u);
  for (const Alias& alias : aliases) EXPECT_EQ(alias.path, top + "/data/ann") << alias.name;
  EXPECT_EQ(ByAlias(aliases, top + "/home/ann/src/a"), top + "/data/ann/src/a");
  EXPECT_EQ(ByAlias(aliases, top + "/home/bob"), top + "/data/ann");
}

TEST(Aliases, TheLongestCounts) {
  const std::vector<Alias> aliases = {{"/home/ann/work", "/srv/work"}, {"/home/ann", "/data/ann"}};
  EXPECT_EQ(ByAlias(aliases, "/home/ann/work/a"), "/srv/work/a");
  EXPECT_EQ(ByAlias(aliases, "/home/ann/works"), "/data/ann/works");
  EXPECT_EQ(ByAlias(aliases, "/home/anna/a"), "/home/anna/a");
}

TEST(Aliases, WhatIsRelativeStaysAndSlashesCountOnce) {
  const std::vector<Alias> aliases = {{"/a", "/b"}};
  EXPECT_EQ(ByAlias(aliases, "a//b"), "a//b");
  EXPECT_EQ(ByAlias(aliases, "//a///x//"), "/b/x/");
  EXPECT_EQ(ByAlias({}, "/x//y"), "/x/y");
  EXPECT_EQ(ByAlias(aliases, ""), "");
}

}  // namespace
}  // namespace pa::policy
