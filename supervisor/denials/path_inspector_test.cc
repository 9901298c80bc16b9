#include "supervisor/denials/path_inspector.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using Kind = FoundPath::Kind;

class PathInspectorTest : public ::testing::Test {
 protected:
  PathInspectorTest() {
    fs::create_directories(base() + "/project/sub");
    testing::WriteText(base() + "/file", "x");
    fs::create_symlink(base() + "/file", base() + "/project/link");
    fs::create_directory_symlink("../..", base() + "/project/sub/up");
    fs::create_symlink("loop", base() + "/loop");
  }
  std::string base() const { return fs::canonical(dir_.path()).string(); }
  // What is mounted on what, beside the root.
  FilePathInspector With(std::vector<Mount> mounts) const {
    mounts.insert(mounts.begin(), Mount{"/", "ext4"});
    return FilePathInspector(base() + "/project", {}, std::move(mounts));
  }

  testing::TempDir dir_;
};

TEST_F(PathInspectorTest, WhatThereIs) {
  FilePathInspector inspector = With({});
  const FoundPath file = inspector.Look(base() + "/file", true);
  EXPECT_EQ(file.kind, Kind::kFile);
  EXPECT_EQ(file.path, base() + "/file");
  EXPECT_EQ(file.directory, base());
  const FoundPath directory = inspector.Look(base() + "/project/", true);
  EXPECT_EQ(directory.kind, Kind::kDirectory);
  EXPECT_EQ(directory.path, base() + "/project");
  EXPECT_EQ(inspector.Look("/dev/null", true).kind, Kind::kOther);
  EXPECT_EQ(inspector.Look("/", true).path, "/");
  EXPECT_EQ(inspector.Look("/..//./", true).path, "/");
  EXPECT_EQ(inspector.Look("/tmp", true).directory, "/");
}

TEST_F(PathInspectorTest, WhatMayBeDoneToIt) {
  FilePathInspector inspector = With({{base() + "/project/sub", "ext4"}});
  EXPECT_TRUE(inspector.Owns(base() + "/file"));
  EXPECT_FALSE(inspector.Owns(base() + "/none"));
  EXPECT_EQ(inspector.Owns("/usr"), geteuid() == 0);
  EXPECT_TRUE(inspector.IsMountPoint(base() + "/project/sub"));
  EXPECT_FALSE(inspector.IsMountPoint(base() + "/project"));
  fs::create_directories(base() + "/project/empty");
  fs::create_directories(base() + "/empty");
  EXPECT_FALSE(inspector.IsEmpty(base() + "/project/empty")) << "nobody may open it";
}

TEST_F(PathInspectorTest, WhatHasToBeOpenedIsAskedFor) {
  fs::create_directories(base() + "/project/empty");
  fs::create_directories(base() + "/empty");
  Inside inside;
  FilePathInspector asking(base() + "/project", {}, &inside);
  EXPECT_FALSE(inside.IsAsked());
  EXPECT_FALSE(asking.IsEmpty(base() + "/project/empty"));
  EXPECT_FALSE(asking.IsEmpty(base() + "/project"));
  EXPECT_FALSE(asking.IsEmpty(base() + "/empty")) << "not in the project, so it is not opened";
  EXPECT_EQ(asking.FindFull(5, {}), "");
  EXPECT_TRUE(inside.IsAsked());
  EXPECT_EQ(inside.question.empty.size(), 2u);
  inside.answer = LookInside(inside.question);
  EXPECT_FALSE(inside.IsAsked());
  FilePathInspector knowing(base() + "/project", {}, &inside);
  EXPECT_TRUE(knowing.IsEmpty(base() + "/project/empty"));
  EXPECT_FALSE(knowing.IsEmpty(base() + "/project"));
  EXPECT_FALSE(knowing.IsEmpty(base() + "/empty"));
  EXPECT_EQ(knowing.FindFull(5, {}), "");
}

TEST_F(PathInspectorTest, WhatThereIsNot) {
  FilePathInspector inspector = With({});
  const FoundPath missing = inspector.Look(base() + "/none", true);
  EXPECT_EQ(missing.kind, Kind::kMissing);
  EXPECT_EQ(missing.path, base() + "/none");
  EXPECT_EQ(missing.directory, base());
  EXPECT_FALSE(missing.beneath_missing);
  const FoundPath deep = inspector.Look(base() + "/none/./a/b", true);
  EXPECT_EQ(deep.path, base() + "/none/a/b");
  EXPECT_EQ(deep.directory, base());
  EXPECT_TRUE(deep.beneath_missing);
  for (const std::string& path :
       {base() + "/none/../file", base() + "/file/x", base() + "/loop", std::string("relative"),
        std::string(), "/" + std::string(5000, 'x'), "/" + std::string(300, 'x')}) {
    EXPECT_EQ(inspector.Look(path, true).kind, Kind::kUnknown) << path;
  }
}

TEST_F(PathInspectorTest, SymlinksAreFollowedAsTheKernelWould) {
  FilePathInspector inspector = With({});
  EXPECT_EQ(inspector.Look(base() + "/project/link", true).path, base() + "/file");
  const FoundPath link = inspector.Look(base() + "/project/link", false);
  EXPECT_EQ(link.kind, Kind::kOther);
  EXPECT_EQ(link.directory, base() + "/project");
  EXPECT_EQ(inspector.Look(base() + "/project/sub/up/file", false).path, base() + "/file");
  EXPECT_EQ(inspector.Look(base() + "/project/sub/up/project/../file", true).path,
            base() + "/file");
  EXPECT_EQ(inspector.Look(base() + "/project/sub/up/new", true).path, base() + "/new");
}

// A stat there would wait for a server, or mount something.
TEST_F(PathInspectorTest, OnlyWhatTheKernelAnswersForIsLookedAt) {
  for (const char* type : {"nfs4", "cifs", "fuse.sshfs", "autofs", "proc", "invented"}) {
    FilePathInspector inspector = With({{base() + "/mnt", type}, {base() + "/file", type}});
    EXPECT_EQ(inspector.Look(base() + "/mnt/host/x", true).kind, Kind::kUnknown) << type;
    EXPECT_EQ(inspector.Look(base() + "/mnt", true).kind, Kind::kUnknown) << type;
    EXPECT_EQ(inspector.Look(base() + "/project/link", true).kind, Kind::kUnknown)
        << "through a link";
    EXPECT_EQ(inspector.Look(base() + "/project/sub", true).kind, Kind::kDirectory);
  }
  FilePathInspector nothing(base() + "/project", {}, std::vector<Mount>());
  EXPECT_EQ(nothing.Look(base() + "/file", true).kind, Kind::kUnknown) << "no table, no look";
  FilePathInspector present(base() + "/project");
  EXPECT_EQ(present.Look(base() + "/file", true).kind, Kind::kFile);
}

// Homes on a server: every call uses what the project lies on.
TEST_F(PathInspectorTest, TheFileSystemOfTheProjectIsInUseAnyway) {
  FilePathInspector server = With({{base(), "nfs4"}});
  EXPECT_EQ(server.Look(base() + "/file", true).kind, Kind::kFile);
  FilePathInspector automounted = With({{base(), "autofs"}, {base() + "/project", "nfs4"}});
  EXPECT_EQ(automounted.Look(base() + "/file", true).kind, Kind::kUnknown);
  EXPECT_EQ(automounted.Look(base() + "/project/sub", true).kind, Kind::kDirectory);
}

TEST_F(PathInspectorTest, WhatMayNotBeSeenIsNotLookedAt) {
  std::vector<std::string> asked;
  FilePathInspector inspector(base() + "/project",
                              [&](const std::string& path) {
                                asked.push_back(path);
                                return path != base() + "/file";
                              },
                              {{"/", "ext4"}});
  EXPECT_EQ(inspector.Look(base() + "/project/link", true).kind, Kind::kUnknown);
  EXPECT_EQ(asked.back(), base() + "/file");
}

TEST_F(PathInspectorTest, WhatWeMayDo) {
  FilePathInspector inspector = With({});
  EXPECT_TRUE(inspector.May(base() + "/file", R_OK | W_OK));
  EXPECT_FALSE(inspector.May(base() + "/file", X_OK));
  EXPECT_TRUE(inspector.May(base(), W_OK | X_OK));
  EXPECT_FALSE(inspector.May(base() + "/none", R_OK));
  fs::permissions(base() + "/file", fs::perms::none);
  EXPECT_EQ(inspector.May(base() + "/file", R_OK), geteuid() == 0) << "root reads it all the same";
}

TEST_F(PathInspectorTest, LooksAreCounted) {
  FilePathInspector inspector = With({});
  std::string around = base();
  for (int i = 0; i < 100; ++i) around += "/project/..";
  int found = 0;
  while (found < 1000 && inspector.Look(around, true).kind == Kind::kDirectory) ++found;
  EXPECT_GT(found, 5);
  EXPECT_LT(found, 50);
}

TEST_F(PathInspectorTest, TableOfMounts) {
  EXPECT_EQ(ReadMounts("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
                       "42 27 0:39 /a /mnt/a\\040b rw shared:1 master:2 - fuse.sshfs x:/ rw\n"
                       "broken\n1 2 3:4 / /x\n"),
            (std::vector<Mount>{{"/", "ext4"}, {"/mnt/a b", "fuse.sshfs"}}));
}

}  // namespace
}  // namespace pa
