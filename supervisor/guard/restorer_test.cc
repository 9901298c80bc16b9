// Each way to change what is protected, and that it is undone; with the user's data in place.
#include "supervisor/guard/restorer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <ranges>
#include <set>

#include "tests/support/few_descriptors.h"
#include "tests/support/stopped_at.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class RestorerTest : public ::testing::Test {
 protected:
  RestorerTest() {
    Write(".git/HEAD", "ref: refs/heads/main\n");
    Write(".git/objects/data", "the user's\n");
    Write(".git/config", "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared\n");
    Write(".git/hooks/pre-commit", "original\n");
    Write(".git/modules/lib/HEAD", "ref: refs/heads/main\n");
    Write(".git/modules/lib/config", "[core]\n");
    Write(".git/modules/lib/hooks/post-checkout", "original\n");
    Write("tools/hooks/pre-push", "original\n");
    Write("tools/other", "the project's\n");
    Write("shared", "[alias]\n");
    chmod((root_ / ".git/hooks/pre-commit").c_str(), 0755);
    Watch();
  }

  void Write(const std::string& name, std::string_view text) {
    testing::WriteText(root_ / name, text);
  }
  std::string Read(const std::string& name) const { return testing::ReadText(root_ / name); }

  void Watch(const std::vector<std::string>& below = {}) {
    baseline_.clear();
    std::vector<policy::RepositoryBelow> repositories;
    for (const std::string& path : below) {
      repositories.push_back({.path = path, .kind = policy::RepositoryBelow::Kind::kDirectory});
    }
    auto found = policy::FindProtectedPaths(
        {.directory = root_, .writable = {root_}, .repositories = repositories});
    ASSERT_TRUE(found.has_value()) << found.error().Message();
    for (const policy::ProtectedPath& path : found->paths) {
      const fs::path at = path.path;
      const UniqueFd parent = OpenDirectory(at.parent_path());
      ImageBudget budget;
      const ImageDepth depth = path.kind == policy::ProtectedPath::Kind::kTree ? ImageDepth::kTree
                               : path.kind == policy::ProtectedPath::Kind::kNames
                                   ? ImageDepth::kNames
                                   : ImageDepth::kSelf;
      FileImage image;
      if (parent) image = ReadImage(parent.get(), at.filename(), depth, budget).value();
      baseline_.push_back(
          {path, std::make_shared<FileImage>(std::move(image)),
           std::make_shared<UniqueFd>(open(at.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))});
    }
  }

  // What it tells: `what path` a line, `!` before what is not restored.
  std::string Restore() {
    std::string told;
    kept_.clear();
    for (const ProtectedChange& change : Restorer(baseline_, base_ / "state").Run()) {
      const std::string name = fs::path(change.path).lexically_relative(root_);
      told +=
          (change.restored ? "" : "!") + std::string(ChangeText(change.kind)) + " " + name + "\n";
      kept_[name] = change.kept;
    }
    return told;
  }
  // All is as it was, and nothing of ours lies about.
  void ExpectAsBefore() {
    EXPECT_EQ(Read(".git/config").substr(0, 6), "[core]");
    EXPECT_EQ(Read(".git/hooks/pre-commit"), "original\n");
    EXPECT_EQ(LookAt(root_ / ".git/hooks/pre-commit").mode & 07777u, 0755u);
    EXPECT_EQ(Read(".git/modules/lib/hooks/post-checkout"), "original\n");
    EXPECT_EQ(Read("tools/hooks/pre-push"), "original\n");
    EXPECT_EQ(Read("shared"), "[alias]\n");
    EXPECT_EQ(Read(".git/objects/data"), "the user's\n");
    EXPECT_EQ(Read("tools/other"), "the project's\n");
    EXPECT_EQ(fs::read_symlink(root_ / "nothing", error_), "");
    EXPECT_EQ(Restore(), "") << "restored is restored";
  }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const fs::path root_ = base_ / "root";
  std::vector<GuardedPath> baseline_;
  std::map<std::string, std::string> kept_;
  std::error_code error_;
};

TEST_F(RestorerTest, NothingChangedNothingTold) {
  Write("made", "free");
  Write(".git/index", "free");
  ExpectAsBefore();
  EXPECT_FALSE(fs::exists(base_ / "state"));
}

// What cannot be opened is not gone: whoever takes it for that takes the user's repository away.
TEST_F(RestorerTest, WithoutDescriptorsNothingIsTouchedAndThatIsTold) {
  const PathStamp repository = LookAt(root_ / ".git");
  std::vector<UniqueFd> taken;  // with those that are free below the others
  while (taken.empty() || taken.back().get() < 200) {
    taken.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  for (const bool changed : {false, true}) {
    if (changed) Write(".git/config", "evil");
    for (rlim_t room = 0; room < 8; ++room) {
      std::string told;
      {
        const testing::FewDescriptors few(static_cast<rlim_t>(taken.back().get()) + 1 + room);
        told = Restore();
      }
      for (const auto part : std::views::split(told, '\n')) {
        const std::string_view line(part);
        const bool unseen =
            line.starts_with("!not compared ") || line.starts_with("!out of reach ");
        EXPECT_TRUE(line.empty() || unseen || (changed && line.ends_with(" .git/config")))
            << room << ": " << line;
      }
      EXPECT_TRUE(LookAt(root_ / ".git").SameFile(repository)) << room;
      EXPECT_TRUE(!told.empty() || Read(".git/config") != "evil") << room;
    }
  }
  Restore();
  ExpectAsBefore();
}

TEST_F(RestorerTest, Files) {
  Write(".git/config", "evil");
  Write(".git/hooks/pre-commit", "evil");
  Write("shared", "evil");
  EXPECT_EQ(Restore(), "changed .git/config\nchanged .git/hooks/pre-commit\nchanged shared\n");
  EXPECT_EQ(testing::ReadText(kept_[".git/config"]), "evil");
  ExpectAsBefore();
}

TEST_F(RestorerTest, WhatWasAddedIsTakenAway) {
  Write(".git/hooks/post-commit", "evil");
  Write(".git/commondir", "evil");
  Write(".git/config.worktree", "evil");
  Write(".git/modules/new/config", "evil");
  Write("tools/hooks/sub/deep", "evil");
  EXPECT_EQ(Restore(),
            "added .git/commondir\nadded .git/config.worktree\nadded .git/hooks/post-commit\n"
            "added .git/modules/new\nadded tools/hooks/sub\n");
  EXPECT_EQ(testing::ReadText(fs::path(kept_[".git/modules/new"]) / "config"), "evil");
  ExpectAsBefore();
}

TEST_F(RestorerTest, WhatWasRemovedComesBack) {
  fs::remove(root_ / ".git/config");
  fs::remove_all(root_ / ".git/hooks");
  fs::remove_all(root_ / "tools/hooks");
  fs::remove(root_ / "shared");
  EXPECT_EQ(Restore(),
            "removed .git/config\nremoved .git/hooks\nremoved shared\nremoved tools/hooks\n");
  ExpectAsBefore();
}

TEST_F(RestorerTest, PermissionsAndOtherNames) {
  chmod((root_ / ".git/hooks/pre-commit").c_str(), 0);
  chmod((root_ / ".git/hooks").c_str(), 0500);
  link((root_ / ".git/config").c_str(), (root_ / "alias").c_str());
  EXPECT_EQ(Restore(),
            "linked .git/config\nchanged its permissions .git/hooks\n"
            "changed its permissions .git/hooks/pre-commit\n");
  Write("alias", "evil");
  ExpectAsBefore();
}

// A set-id program of the user's that a command has written to, which takes the bits away: what the
// command left there must not get them again, not even on its way to where it is kept.
TEST_F(RestorerTest, WhatACommandWroteNeverBecomesSetId) {
  const fs::path hook = root_ / ".git/hooks/pre-commit";
  for (const mode_t mode : {04755U, 02755U, 06711U}) {
    ASSERT_EQ(chmod(hook.c_str(), mode), 0);
    Watch();
    Write(".git/hooks/pre-commit", "evil\n");
    ASSERT_EQ(chmod(hook.c_str(), mode & 0777), 0);
    EXPECT_EQ(Restore(), "changed .git/hooks/pre-commit\n");
    const std::string kept = kept_[".git/hooks/pre-commit"];
    EXPECT_EQ(testing::ReadText(kept), "evil\n");
    EXPECT_EQ(LookAt(kept).mode & 07000U, 0U);
    EXPECT_EQ(Read(".git/hooks/pre-commit"), "original\n");
    EXPECT_EQ(LookAt(hook).mode & 07777U, mode);
    // With the user's own content they come back.
    ASSERT_EQ(chmod(hook.c_str(), 0755), 0);
    EXPECT_EQ(Restore(), "changed its permissions .git/hooks/pre-commit\n");
    EXPECT_EQ(LookAt(hook).mode & 07777U, mode);
  }
}

TEST_F(RestorerTest, ClosedDirectoriesOpenAgain) {
  Write(".git/hooks/evil", "evil");
  chmod((root_ / ".git/hooks").c_str(), 0);
  chmod((root_ / ".git").c_str(), 0);
  chmod(root_.c_str(), 0500);
  EXPECT_NE(Restore().find("added .git/hooks/evil"), std::string::npos);
  chmod((root_ / ".git/hooks").c_str(), 0755);
  ExpectAsBefore();
}

TEST_F(RestorerTest, AnotherTypeIsReplacedAgain) {
  fs::remove(root_ / ".git/config");
  fs::create_symlink("../evil", root_ / ".git/config");
  fs::rename(root_ / ".git/hooks", root_ / "moved");
  fs::create_directory_symlink("../evil-hooks", root_ / ".git/hooks");
  fs::remove(root_ / "shared");
  ASSERT_EQ(mkfifo((root_ / "shared").c_str(), 0600), 0);
  EXPECT_EQ(Restore(), "replaced .git/config\nreplaced .git/hooks\nreplaced shared\n");
  EXPECT_EQ(fs::read_symlink(kept_[".git/hooks"]), "../evil-hooks");
  fs::remove_all(root_ / "moved");
  ExpectAsBefore();
}

TEST_F(RestorerTest, ARepositoryThatWasMovedIsMovedBack) {
  for (const char* instead : {"", "directory", "file", "symlink"}) {
    fs::create_directories(root_ / "deep/er");
    fs::rename(root_ / ".git", root_ / "deep/er/.git2");
    if (*instead == 'd') Write(".git/config", "evil");
    if (*instead == 'f') Write(".git", "gitdir: evil\n");
    if (*instead == 's') fs::create_directory_symlink("evil", root_ / ".git");
    const std::string told = Restore();
    EXPECT_NE(told.find("moved .git\n"), std::string::npos) << told;
    EXPECT_EQ(told.find('!'), std::string::npos) << told;
    EXPECT_FALSE(fs::exists(root_ / "deep/er/.git2"));
    ExpectAsBefore();
  }
}

TEST_F(RestorerTest, AlsoFromWithinWhatTookItsPlace) {
  fs::create_directories(root_ / "new");
  fs::rename(root_ / ".git", root_ / "new/.git");
  fs::rename(root_ / "new", root_ / ".git");
  EXPECT_EQ(Restore(), "replaced .git\nmoved .git\n");
  ExpectAsBefore();
}

TEST_F(RestorerTest, MovedAndChangedIsBoth) {
  Write(".git/config", "evil");
  fs::rename(root_ / ".git", root_ / "away");
  EXPECT_EQ(Restore(), "moved .git\nchanged .git/config\n");
  ExpectAsBefore();
}

TEST_F(RestorerTest, ARepositoryThatIsGoneLeavesNoStub) {
  fs::remove_all(root_ / ".git");
  EXPECT_EQ(Restore(), "!removed .git\n");
  EXPECT_FALSE(fs::exists(fs::symlink_status(root_ / ".git")));
  EXPECT_EQ(Restore(), "!removed .git\n");
}

// There are more than can be held open: what was moved away with its directory cannot be found
// again.
TEST_F(RestorerTest, NorDoesOneThatWasMovedWithItsDirectoryAndIsNotHeld) {
  Write("below/.git/HEAD", "ref: refs/heads/main\n");
  Write("below/.git/config", "[core]\n");
  fs::create_directories(root_ / "below/.git/hooks");
  Watch({root_ / "below/.git"});
  for (GuardedPath& one : baseline_) one.pin = nullptr;
  fs::rename(root_ / "below", root_ / "lib");
  EXPECT_EQ(Restore(), "!removed below/.git\n");
  EXPECT_FALSE(fs::exists(root_ / "below"));
  EXPECT_TRUE(fs::exists(root_ / "lib/.git/HEAD"));
}

TEST_F(RestorerTest, OneMadeInItsPlaceExecutesWhatTheOldOneDid) {
  fs::remove_all(root_ / ".git");
  Write(".git/HEAD", "ref: refs/heads/new\n");
  Write(".git/config", "evil");
  Write(".git/hooks/post-checkout", "evil");
  const std::string told = Restore();
  EXPECT_NE(told.find("!replaced .git\n"), std::string::npos) << told;
  EXPECT_EQ(Read(".git/config").substr(0, 6), "[core]");
  EXPECT_FALSE(fs::exists(root_ / ".git/hooks/post-checkout"));
  EXPECT_EQ(Read(".git/hooks/pre-commit"), "original\n");
}

TEST_F(RestorerTest, DirectoriesOnTheWayArePinned) {
  fs::rename(root_ / "tools", root_ / "away");
  Write("tools/hooks/pre-push", "evil");
  EXPECT_EQ(Restore(), "replaced tools\nmoved tools\n");
  ExpectAsBefore();
  fs::rename(root_ / ".git/modules", root_ / "away");
  fs::create_directory_symlink("../away2", root_ / ".git/modules");
  EXPECT_EQ(Restore(), "replaced .git/modules\nmoved .git/modules\n");
  ExpectAsBefore();
}

TEST_F(RestorerTest, WhatLayOnTheWayAndIsGoneIsMadeInOneStep) {
  fs::remove_all(root_ / "tools");
  EXPECT_EQ(Restore(), "removed tools/hooks\n");
  EXPECT_EQ(Read("tools/hooks/pre-push"), "original\n");
  fs::remove_all(root_ / "tools");
  fs::create_directory_symlink(base_, root_ / "tools");
  EXPECT_NE(Restore().find("removed tools/hooks\n"), std::string::npos);
  EXPECT_EQ(Read("tools/hooks/pre-push"), "original\n");
  EXPECT_FALSE(fs::exists(base_ / "hooks"));
}

TEST_F(RestorerTest, NothingMayComeToExistThroughASymlink) {
  Write(".git/config", "[core]\nhooksPath = later/hooks\n");
  Watch();
  Write("evil/hooks/pre-commit", "evil");
  fs::create_directory_symlink("evil", root_ / "later");
  EXPECT_EQ(Restore(), "added later\n");
  EXPECT_FALSE(fs::exists(fs::symlink_status(root_ / "later")));
  fs::create_directories(root_ / "later");
  EXPECT_EQ(Restore(), "") << "the way is free";
}

TEST_F(RestorerTest, MillionsOfFilesAreOneMove) {
  for (int i = 0; i < 300; ++i) {
    Write(".git/hooks/x" + std::to_string(i), "");
    fs::create_directories(root_ / ".git/modules" / std::to_string(i));
  }
  Write(".git/modules/lib/config", "evil");
  EXPECT_EQ(Restore(), "filled .git/hooks\nfilled .git/modules\nchanged .git/modules/lib/config\n");
  EXPECT_EQ(Read(".git/modules/lib/HEAD"), "ref: refs/heads/main\n");
  Watch();
  ExpectAsBefore();
}

TEST_F(RestorerTest, WhatLiesElsewhereIsNotBroughtBack) {
  fs::rename(root_ / ".git", base_ / "elsewhere");
  EXPECT_EQ(Restore(), "!removed .git\n");
  EXPECT_FALSE(fs::exists(root_ / ".git"));
}

TEST_F(RestorerTest, WhereNoneWasNoRepositoryAppears) {
  fs::remove_all(root_ / ".git");
  Watch();
  Write(".git/config", "evil");
  Write("HEAD", "ref: x\n");
  EXPECT_EQ(Restore(), "added .git\nadded HEAD\n");
  EXPECT_EQ(testing::ReadText(fs::path(kept_[".git"]) / "config"), "evil");
}

TEST_F(RestorerTest, KilledAtAnyMomentItLeavesNothingOfItsOwn) {
  const std::string config = Read(".git/config");
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      found.insert(entry.path().lexically_relative(root_));
    }
    return found;
  };
  const std::set<std::string> before = names();
  std::set<std::string> allowed = before;
  allowed.insert({".git/hooks/evil", "tools/hooks/evil", "evil"});
  // Another part of all moments in each run: there are hundreds, and the later ones take longest.
  constexpr int kStride = 7;
  int step = 1 + static_cast<int>(std::random_device()() % kStride);
  for (bool killed = true; killed; step += kStride) {
    Write(".git/config", "evil");
    Write(".git/hooks/evil", "evil");
    fs::remove(root_ / "shared");
    fs::rename(root_ / "tools/hooks", root_ / "evil");
    fs::create_directory_symlink("../evil", root_ / "tools/hooks");
    killed = testing::StoppedAt(
        step, [&] { Restorer(baseline_, base_ / "state").Run(); },
        [](pid_t child) { kill(child, SIGKILL); });
    for (const std::string& name : names()) {
      const bool known = allowed.contains(name) || name.starts_with("evil/");
      EXPECT_TRUE(known) << name << " after " << step << " stops";
    }
    const std::string now = Read(".git/config");
    EXPECT_TRUE(now == "evil" || now == config) << now << " after " << step;
    // What the next one makes of it.
    Restorer(baseline_, base_ / "state").Run();
    fs::remove_all(root_ / "evil");
    EXPECT_EQ(names(), before) << step;
    ExpectAsBefore();
  }
  EXPECT_GT(step, 50) << "it was killed now and then";
}

}  // namespace
}  // namespace pa
