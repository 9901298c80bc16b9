#include "sandbox/view_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

namespace pa::sandbox {
namespace {

namespace fs = std::filesystem;

class ViewPlanTest : public ::testing::Test {
 protected:
  ViewPlanTest() {
    std::string name = fs::temp_directory_path() / "pa-view-plan-XXXXXX";
    root_ = fs::canonical(mkdtemp(name.data()));
    for (const char* directory : {"sys/lib", "home/tools", "home/src/one", "home/src/two"}) {
      fs::create_directories(root_ / directory);
    }
    fs::create_directory_symlink("sys/lib", root_ / "lib");
    std::ofstream(root_ / "home/dotfile") << "x";
  }
  ~ViewPlanTest() override { fs::remove_all(root_); }

  std::string At(const std::string& path) const { return root_ / path; }
  static PathGrant Grant(const std::string& path, Access access = kReadExecute) {
    return {.path = path, .access = access};
  }
  static bool Holds(const std::vector<Mount>& mounts, const Mount& wanted) {
    return std::ranges::find(mounts, wanted) != mounts.end();
  }

  fs::path root_;
};

TEST_F(ViewPlanTest, AGrantIsMountedUnderItsNameWithTheSymlinksOnTheWay) {
  const View view = PlanView({.grants = {Grant(At("lib"))}});
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kReadOnly, At("sys/lib"), At("sys/lib")}));
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kSymlink, "sys/lib", At("lib")}));
  EXPECT_EQ(view.mounts.size(), 2u);
}

TEST_F(ViewPlanTest, WhatLiesInAGrantIsMountedOnlyWhereItGivesMore) {
  const View view =
      PlanView({.grants = {Grant(At("home/src"), kReadWrite), Grant(At("home/src/one")),
                           Grant(At("sys")), Grant(At("sys/lib"), kReadWrite)}});
  const std::vector<Mount> wanted = {
      {MountKind::kWritable, At("home/src"), At("home/src")},
      {MountKind::kReadOnly, At("sys"), At("sys")},
      {MountKind::kWritable, At("sys/lib"), At("sys/lib")},
  };
  EXPECT_EQ(view.mounts, wanted);
}

TEST_F(ViewPlanTest, DevicesCanBeOpened) {
  const std::vector<PathGrant> grants = {Grant("/dev/null", kReadWrite | Access::kDevice),
                                         Grant("/dev/zero"), Grant("/dev/full", kReadWrite)};
  const View view = PlanView({.grants = grants});
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kDevice, "/dev/null", "/dev/null"}));
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kReadOnly, "/dev/zero", "/dev/zero"}));
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kWritable, "/dev/full", "/dev/full"}));
  EXPECT_TRUE(PlanOwnMounts(view, grants).empty());
  EXPECT_EQ(PlanOwnMounts({}, grants), view.mounts);
}

TEST_F(ViewPlanTest, AReplacedSourceMakesItInvalid) {
  const View view = PlanView({.grants = {Grant(At("home/dotfile")), Grant(At("absent"))}});
  EXPECT_TRUE(StillValid(view));
  fs::rename(At("home/dotfile"), At("home/old"));
  std::ofstream(At("home/dotfile")) << "y";
  EXPECT_FALSE(StillValid(view));
  fs::rename(At("home/old"), At("home/dotfile"));
  EXPECT_TRUE(StillValid(view));
  std::ofstream(At("absent")) << "now it is there";
  EXPECT_FALSE(StillValid(view));
}

TEST_F(ViewPlanTest, ACommandsOwnNamesAreMadeForItAlone) {
  const View view = PlanView({.grants = {}, .names = {}, .places = {At("home/src")}});
  const std::vector<Mount> wanted = {
      {MountKind::kTmpfs, "", At("home/src")},
      {MountKind::kWritable, At("home/src/one"), At("home/src/one")},
  };
  EXPECT_EQ(PlanOwnMounts(view, {Grant(At("home/src/one"), kReadWriteExecute)}), wanted);
}

TEST_F(ViewPlanTest, APlaceThatIsMountedItselfNeedsNoNames) {
  const View view = PlanView({.grants = {}, .names = {}, .places = {At("home/src")}});
  const std::vector<Mount> wanted = {{MountKind::kWritable, At("home/src"), At("home/src")}};
  EXPECT_EQ(PlanOwnMounts(view, {Grant(At("home/src"), kReadWriteExecute)}), wanted);
}

TEST_F(ViewPlanTest, APlaceAboveTheViewsOwnMountsHidesNone) {
  const View view =
      PlanView({.grants = {Grant(At("home/tools"))}, .names = {}, .places = {At("home")}});
  const std::vector<Mount> wanted = {
      {MountKind::kReadOnly, At("home/dotfile"), At("home/dotfile")}};
  EXPECT_EQ(PlanOwnMounts(view, {Grant(At("home/dotfile"), Access::kRead)}), wanted);
}

TEST_F(ViewPlanTest, APlaceThatIsMountedHidesNothingOfItself) {
  const View view = PlanView({.grants = {}, .names = {}, .places = {At("home/src")}});
  const std::vector<Mount> wanted = {
      {MountKind::kReadOnly, At("home/src"), At("home/src")},
      {MountKind::kWritable, At("home/src/one"), At("home/src/one")},
  };
  EXPECT_EQ(PlanOwnMounts(view, {Grant(At("home/src")), Grant(At("home/src/one"), kReadWrite)}),
            wanted);
}

TEST_F(ViewPlanTest, ATmpfsKeepsTheSymlinksOfItsPlace) {
  fs::create_symlink(At("sys/lib"), At("home/bin"));
  const View view =
      PlanView({.grants = {Grant(At("sys"))}, .names = {At("home/bin")}, .places = {At("home")}});
  const std::vector<Mount> own = PlanOwnMounts(view, {Grant(At("home/src"), kReadWrite)});
  EXPECT_TRUE(Holds(own, {MountKind::kTmpfs, "", At("home")}));
  EXPECT_TRUE(Holds(own, {MountKind::kSymlink, At("sys/lib"), At("home/bin")}));
}

// Whatever is granted, in whatever order: the mount that is made last above a path decides what is
// seen there.
TEST_F(ViewPlanTest, NoMountHidesWhatAnotherShows) {
  const std::vector<std::string> paths = {"home",         "home/src", "home/src/one",
                                          "home/src/two", "sys",      "sys/lib"};
  std::minstd_rand random(1);
  const auto some = [&](std::vector<PathGrant>& grants, std::vector<std::string>& places) {
    for (const std::string& path : paths) {
      const auto what = random() % 6;
      if (what == 0) grants.push_back(Grant(At(path)));
      if (what == 1) grants.push_back(Grant(At(path), kReadWrite));
      if (what == 2) places.push_back(At(path));
    }
  };
  std::size_t hiding = 0;  // a tmpfs beside other mounts: what this test is about
  for (int i = 0; i < 2000; ++i) {
    ViewOrder order;
    some(order.grants, order.places);
    const View view = PlanView(order);
    std::vector<PathGrant> grants = order.grants;
    std::vector<std::string> none;
    some(grants, none);
    std::vector<Mount> mounts = view.mounts;
    const std::vector<Mount> own = PlanOwnMounts(view, grants);
    mounts.insert(mounts.end(), own.begin(), own.end());
    for (const PathGrant& grant : grants) {
      const auto seen = std::find_if(mounts.rbegin(), mounts.rend(), [&](const Mount& mount) {
        return mount.kind != MountKind::kDirectory &&
               (grant.path + "/").starts_with(mount.target + "/");
      });
      ASSERT_NE(seen, mounts.rend()) << grant.path;
      ASSERT_NE(seen->kind, MountKind::kTmpfs) << grant.path;
      if (Has(grant.access, Access::kWrite)) {
        ASSERT_EQ(seen->kind, MountKind::kWritable) << grant.path;
      }
    }
    if (std::ranges::find(own, MountKind::kTmpfs, &Mount::kind) != own.end()) ++hiding;
  }
  EXPECT_GT(hiding, 100u);
}

TEST_F(ViewPlanTest, NoPlaceIsMadeInWhatIsMounted) {
  const View view = PlanView(
      {.grants = {Grant(At("sys"))}, .names = {}, .places = {At("sys/absent/x"), At("home")}});
  EXPECT_FALSE(Holds(view.mounts, {MountKind::kDirectory, "", At("sys/absent/x")}));
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kDirectory, "", At("home")}));
}

TEST_F(ViewPlanTest, WhatTheViewShowsIsNotMountedAgain) {
  const View view = PlanView({.grants = {Grant(At("home"))}});
  EXPECT_TRUE(PlanOwnMounts(view, {Grant(At("home/tools"))}).empty());
  const std::vector<Mount> wanted = {
      {MountKind::kWritable, At("home/src/one"), At("home/src/one")}};
  EXPECT_EQ(PlanOwnMounts(view, {Grant(At("home/src/one"), kReadWrite)}), wanted);
}

TEST_F(ViewPlanTest, OnlyWhatMayBeFollowedIsFollowed) {
  const View view = PlanView({});
  fs::create_symlink("src/two", At("home/link"));
  const std::vector<Mount> followed = {
      {MountKind::kReadOnly, At("home/src/two"), At("home/src/two")},
      {MountKind::kSymlink, "src/two", At("home/link")}};
  EXPECT_EQ(PlanOwnMounts(view, {Grant(At("home/link"))}), followed);
  PathGrant refused = Grant(At("home/link"));
  refused.symlinks = Symlinks::kRefuse;
  const std::vector<Mount> as_it_is = {{MountKind::kReadOnly, At("home/link"), At("home/link")}};
  EXPECT_EQ(PlanOwnMounts(view, {refused}), as_it_is);
}

TEST_F(ViewPlanTest, WhatIsEachCommandsOwnIsNotTakenFromOutside) {
  const View view = PlanView({.grants = {Grant("/proc"), Grant("/proc/sys"), Grant("/tmp"),
                                         Grant("/dev/shm", kReadWrite)}});
  EXPECT_TRUE(view.mounts.empty());
  EXPECT_TRUE(PlanOwnMounts(view, {Grant("/proc"), Grant("/tmp"), Grant("/dev/shm")}).empty());
}

TEST_F(ViewPlanTest, EverythingIsEachThingInTheRoot) {
  const View view = PlanView({.grants = {Grant("/")}});
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kReadOnly, "/usr", "/usr"}));
  EXPECT_TRUE(Holds(view.mounts, {MountKind::kReadOnly, "/etc", "/etc"}));
  EXPECT_FALSE(Holds(view.mounts, {MountKind::kReadOnly, "/proc", "/proc"}));
  EXPECT_FALSE(Holds(view.mounts, {MountKind::kReadOnly, "/", "/"}));
}

TEST_F(ViewPlanTest, WhatCanBeNamed) {
  fs::create_symlink(At("sys/lib"), At("home/src/to_lib"));
  fs::create_symlink(At("sys/lib"), At("home/to_lib"));
  std::vector<Mount> mounts = PlanView({.grants = {Grant(At("lib"))}}).mounts;
  const std::vector<Mount> own =
      PlanOwnMounts({.mounts = mounts, .found = {}}, {Grant(At("home/src"))});
  mounts.insert(mounts.end(), own.begin(), own.end());
  for (const char* seen : {"sys/lib", "lib", "lib/x/y", "home/src/one", "home/src/to_lib/x", "sys",
                           "home", "home/src/../../lib"}) {
    EXPECT_TRUE(CanBeNamed(mounts, At(seen))) << seen;
  }
  for (const char* hidden :
       {"home/to_lib", "home/to_lib/x", "home/dotfile", "home/tools", "sys/x"}) {
    EXPECT_FALSE(CanBeNamed(mounts, At(hidden))) << hidden;
  }
  EXPECT_TRUE(CanBeNamed(mounts, "/proc/self/status"));
  EXPECT_FALSE(CanBeNamed(mounts, "/tmp/" + root_.filename().string() + "-not"));
}

TEST_F(ViewPlanTest, ALoopOfSymlinksEnds) {
  fs::create_symlink("loop", At("loop"));
  EXPECT_LE(PlanView({.grants = {Grant(At("loop"))}}).mounts.size(), 2u);
}

}  // namespace
}  // namespace pa::sandbox
