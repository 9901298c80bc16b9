#include "supervisor/tools/git_settings.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

std::string Line(const std::string& scope, const std::string& setting) {
  return scope + std::string(1, '\0') + setting + std::string(1, '\0');
}

TEST(ParseUserSettingsTest, TheUsersOwn) {
  const UserSettings user = ParseUserSettings(Line("global", "user.name\nAnn B") +
                                              Line("global", "user.email\nann@example.com"));
  EXPECT_EQ(user.settings,
            (std::vector<GitSetting>{{"user.name", "Ann B"}, {"user.email", "ann@example.com"}}));
  EXPECT_TRUE(user.set_by_repository.empty());
}

TEST(ParseUserSettingsTest, TheLastOfAKeyCounts) {
  const UserSettings user =
      ParseUserSettings(Line("global", "user.name\nAnn") + Line("global", "user.name\nIncluded"));
  EXPECT_EQ(user.settings, (std::vector<GitSetting>{{"user.name", "Included"}}));
}

TEST(ParseUserSettingsTest, TheRepositorysOwnIsLeftToIt) {
  const UserSettings user =
      ParseUserSettings(Line("global", "user.name\nAnn") + Line("global", "user.email\na@b") +
                        Line("local", "user.email\nwork@b") + Line("worktree", "core.eol\nlf"));
  EXPECT_EQ(user.settings, (std::vector<GitSetting>{{"user.name", "Ann"}}));
  EXPECT_EQ(user.set_by_repository, (std::set<std::string>{"user.email", "core.eol"}));
}

TEST(ParseUserSettingsTest, ValuesAsTheyAre) {
  const UserSettings user =
      ParseUserSettings(Line("global", "user.name\nA\nB\n") + Line("global", "core.autocrlf") +
                        Line("global", "user.email\n"));
  EXPECT_EQ(user.settings,
            (std::vector<GitSetting>{
                {"user.name", "A\nB\n"}, {"core.autocrlf", "true"}, {"user.email", ""}}));
}

TEST(ParseUserSettingsTest, CutOutputNamesNobody) {
  EXPECT_TRUE(ParseUserSettings("").settings.empty());
  EXPECT_TRUE(ParseUserSettings("global").settings.empty());
  EXPECT_TRUE(ParseUserSettings(std::string("global\0user.name\nAn", 19)).settings.empty());
}

}  // namespace
}  // namespace pa
