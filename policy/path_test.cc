#include "policy/path.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;

class PathTest : public ::testing::Test {
 protected:
  PathTest() : base_(fs::canonical(directory_.path())) {
    fs::create_directories(base_ / "home/src");
    fs::create_directory_symlink(base_ / "home", base_ / "link");
    variables_ = {{"SRC", base_ / "home/src"}, {"EMPTY", ""}, {"WORD", "src"}, {"TILDE", "~/src"}};
  }

  std::string Expanded(std::string_view written) {
    std::expected<std::string, std::string> path =
        ExpandPath(written, {base_ / "home", variables_});
    return path ? *path : "refused: " + path.error();
  }

  pa::testing::TempDir directory_;
  fs::path base_;
  std::map<std::string, std::string> variables_;
};

TEST_F(PathTest, HomeAndVariablesExpand) {
  EXPECT_EQ(Expanded("~"), base_ / "home");
  EXPECT_EQ(Expanded("~/src"), base_ / "home/src");
  EXPECT_EQ(Expanded("${SRC}/x"), base_ / "home/src/x");
  EXPECT_EQ(Expanded("~/${WORD}"), base_ / "home/src");
  EXPECT_EQ(Expanded("/opt/~/x"), "/opt/~/x");
}

TEST_F(PathTest, SymlinksAreResolvedAsFarAsTheyExist) {
  EXPECT_EQ(Expanded((base_ / "link/src").string()), base_ / "home/src");
  EXPECT_EQ(Expanded((base_ / "link/none/such/").string()), base_ / "home/none/such");
  EXPECT_EQ(Expanded(base_.string() + "//home/./src/"), base_ / "home/src");
}

TEST_F(PathTest, RefusesWhatCouldMeanAnotherPlace) {
  EXPECT_EQ(Expanded("src"), "refused: must be an absolute path, or begin with ~/");
  EXPECT_EQ(Expanded("~/../x"), "refused: must not contain '..'");
  EXPECT_EQ(Expanded("~ann/x"),
            "refused: '~' stands for your own home only; write other homes out");
  EXPECT_EQ(Expanded("${NONE}/x"), "refused: the variable ${NONE} is not set");
  EXPECT_EQ(Expanded("${EMPTY}/x"), "refused: the variable ${EMPTY} is not set");
  EXPECT_EQ(Expanded("$SRC/x"), "refused: '$' is only understood in ${NAME}");
  EXPECT_EQ(Expanded("/x/${SRC"), "refused: '$' is only understood in ${NAME}");
  EXPECT_EQ(Expanded("${TILDE}"), "refused: must be an absolute path, or begin with ~/");
  // The kernel would read as far as the NUL.
  EXPECT_EQ(Expanded(std::string_view("/etc\0/x", 7)),
            "refused: a path cannot hold a NUL character");
}

TEST_F(PathTest, UnknownHomeIsNoRoot) {
  EXPECT_EQ(ExpandPath("~/src", {"", variables_}).error(), "the home that '~' means is unknown");
}

TEST(IsBeneath, ComparesWholeComponents) {
  EXPECT_TRUE(IsBeneath("/a/b", "/a"));
  EXPECT_TRUE(IsBeneath("/a", "/a"));
  EXPECT_FALSE(IsBeneath("/ab", "/a"));
  EXPECT_FALSE(IsBeneath("/a", "/a/b"));
  EXPECT_TRUE(IsBeneath("/a", "/"));
}

}  // namespace
}  // namespace pa::policy
