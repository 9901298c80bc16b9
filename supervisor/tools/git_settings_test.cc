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

// Of the repository alone: those of the user's own configuration do not reach git.
TEST(ParseUserSettingsTest, ProgramsOfTheRepositoryAreSeen) {
  UserSettings user = ParseUserSettings(Line("global", "core.hookspath\n/h") +
                                        Line("global", "filter.x.clean\nevil") +
                                        Line("global", "hook.x.command\nevil"));
  EXPECT_TRUE(user.settings.empty());
  EXPECT_FALSE(user.hooks_path || user.has_hooks || user.foreign_filters);
  EXPECT_TRUE(user.filters.empty());
  user = ParseUserSettings(Line("local", "core.hookspath\n.husky/_") +
                           Line("worktree", "hook.x.command\nevil") +
                           Line("local", "filter.a.b.clean\nevil"));
  EXPECT_EQ(user.hooks_path, ".husky/_");
  EXPECT_TRUE(user.has_hooks && user.foreign_filters);
  EXPECT_EQ(user.filters, (std::set<std::string>{"a.b"}));
}

TEST(ParseUserSettingsTest, GitLfsIsNoProgramOfTheProject) {
  const std::string lfs = Line("local", "filter.lfs.clean\ngit-lfs clean -- %f") +
                          Line("local", "filter.lfs.smudge\ngit-lfs smudge -- %f") +
                          Line("local", "filter.lfs.process\ngit-lfs filter-process") +
                          Line("local", "filter.lfs.required\ntrue");
  EXPECT_EQ(ParseUserSettings(lfs).filters, (std::set<std::string>{"lfs"}));
  EXPECT_FALSE(ParseUserSettings(lfs).foreign_filters);
  for (const char* value : {"git-lfs clean -- %f; ./evil", "./git-lfs clean -- %f", "", "evil"}) {
    EXPECT_TRUE(ParseUserSettings(lfs + Line("local", std::string("filter.lfs.clean\n") + value))
                    .foreign_filters)
        << value;
  }
}

TEST(ParseUserSettingsTest, SharingIsSeenWhoeverAsksForIt) {
  EXPECT_EQ(ParseUserSettings(Line("local", "core.sharedrepository\n1")).shared_repository, "1");
  EXPECT_EQ(ParseUserSettings(Line("global", "core.sharedrepository\ngroup") +
                              Line("local", "core.sharedrepository\n0660"))
                .shared_repository,
            "0660");
  EXPECT_EQ(ParseUserSettings(Line("local", "user.name\n1")).shared_repository, "");
}

TEST(ParseUserSettingsTest, SignaturesAreSeenAndNotPassedOn) {
  const auto wants = [](const std::string& output) {
    const UserSettings user = ParseUserSettings(output);
    EXPECT_TRUE(user.settings.empty());
    EXPECT_TRUE(user.set_by_repository.empty());
    return user.wants_signatures;
  };
  EXPECT_FALSE(wants(""));
  for (const char* value : {"", "\ntrue", "\nYES", "\non", "\n1"}) {
    EXPECT_TRUE(wants(Line("global", std::string("commit.gpgsign") + value))) << value;
  }
  for (const char* value : {"\nfalse", "\nno", "\n0", "\n"}) {
    EXPECT_FALSE(wants(Line("global", std::string("commit.gpgsign") + value))) << value;
  }
  EXPECT_FALSE(
      wants(Line("global", "commit.gpgsign\ntrue") + Line("local", "commit.gpgsign\nfalse")));
}

TEST(UmaskForSharingTest, LetsThroughWhatGitWouldAdd) {
  for (const char* value : {"group", "1", "true", "GROUP"}) {
    EXPECT_EQ(UmaskForSharing(value, 0077), mode_t{0007}) << value;
    EXPECT_EQ(UmaskForSharing(value, 0022), mode_t{0002}) << value;
  }
  for (const char* value : {"all", "world", "everybody", "2"}) {
    EXPECT_EQ(UmaskForSharing(value, 0077), mode_t{0002}) << value;
  }
  EXPECT_EQ(UmaskForSharing("0660", 0022), mode_t{0007});
  EXPECT_EQ(UmaskForSharing("0640", 0022), mode_t{0027});
  EXPECT_EQ(UmaskForSharing("0664", 0077), mode_t{0002});
  for (const char* value : {"", "umask", "false", "0", "3", "0060", "01660", "0660x", "no"}) {
    EXPECT_EQ(UmaskForSharing(value, 0022), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace pa
