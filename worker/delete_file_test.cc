#include "worker/delete_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "worker/file_header.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

struct How {
  bool recursive = false;
  bool looks = false;
  const char* beneath = nullptr;  // where it goes in the working directory, else `trash`
};

// Into `trash` of the scratch.
Finished Delete(const Scratch& scratch, const std::string& path, const How& how = {},
                sandbox::Access trash_access = sandbox::kReadWrite,
                const char* worker = "project-actions-worker") {
  const std::string trash =
      how.beneath != nullptr ? how.beneath : fs::canonical(scratch.path("trash")).string();
  const std::string info = how.beneath != nullptr ? "{}" : "";
  WorkerSpec spec = FileOrder(scratch, Action::kDeleteFile, path);
  if (!spec.paths.empty()) spec.paths[0].access = sandbox::kReadWrite;
  if (how.beneath == nullptr) spec.paths.push_back({trash, trash_access, "trash"});
  const DeleteHeader header{.recursive = how.recursive,
                            .looks = how.looks,
                            .syncs = true,
                            .path_size = static_cast<std::uint32_t>(trash.size()),
                            .info_size = static_cast<std::uint32_t>(info.size())};
  const std::string given(reinterpret_cast<const char*>(&header), sizeof header);
  return WorkerRun(spec, Alone(Action::kDeleteFile, given + trash + info, worker)).Wait();
}

class DeleteFileTest : public ::testing::Test {
 protected:
  DeleteFileTest() {
    fs::create_directories(scratch_.path("trash"));
    fs::create_directories(scratch_.path("work/dir/sub"));
    for (const char* name : {"work/file", "work/dir/a", "work/dir/sub/b"}) {
      std::ofstream(scratch_.path(name)) << name;
    }
  }
  bool Exists(const char* name) const {
    return fs::exists(fs::symlink_status(scratch_.path(name)));
  }

  // Sorted.
  static std::vector<std::string> Names(const Finished& done) {
    std::vector<std::string> names;
    std::string text = done.out.substr(0, done.out.size() - sizeof(DeleteReply));
    for (std::size_t end = 0; (end = text.find('\0')) != text.npos; text.erase(0, end + 1)) {
      names.push_back(text.substr(0, end));
    }
    std::ranges::sort(names);
    return names;
  }
  static DeleteReply Reply(const Finished& done) {
    DeleteReply reply{};
    if (done.out.size() < sizeof reply) {
      ADD_FAILURE() << "no reply: " << done.Last().subject;
      return reply;
    }
    std::memcpy(&reply, done.out.data() + done.out.size() - sizeof reply, sizeof reply);
    EXPECT_EQ(reply.magic, kDeleteMagic);
    return reply;
  }
  static void ExpectRefused(const Finished& done, int code) {
    EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
    EXPECT_EQ(done.Last().step, Step::kDeleteFile);
    EXPECT_EQ(done.Last().sys_errno, code) << done.Last().subject;
  }

  const Scratch scratch_;
};

TEST_F(DeleteFileTest, AFileGoesElsewhere) {
  const Finished done = Delete(scratch_, "file");
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded) << done.Last().subject;
  EXPECT_TRUE(S_ISREG(Reply(done).mode));
  EXPECT_FALSE(Exists("work/file"));
  EXPECT_TRUE(Exists("trash/content"));
  ExpectRefused(Delete(scratch_, "dir/a"), EEXIST);
  EXPECT_TRUE(Exists("work/dir/a")) << "nothing is replaced";
}

TEST_F(DeleteFileTest, ADirectoryOnlyWithAllThatIsInIt) {
  ExpectRefused(Delete(scratch_, "dir"), ENOTEMPTY);
  EXPECT_TRUE(Exists("work/dir/sub/b"));
  const Finished done = Delete(scratch_, "dir", {.recursive = true});
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded) << done.Last().subject;
  EXPECT_EQ(done.out, "") << "who wants to know has looked";
  EXPECT_FALSE(Exists("work/dir"));
  EXPECT_TRUE(Exists("trash/content/sub/b"));
}

TEST_F(DeleteFileTest, AnEmptyOneWithout) {
  fs::create_directory(scratch_.path("work/empty"));
  EXPECT_EQ(Delete(scratch_, "empty").Last().kind, StatusKind::kEnded);
  EXPECT_FALSE(Exists("work/empty"));
}

TEST_F(DeleteFileTest, ToLookChangesNothing) {
  const Finished done = Delete(scratch_, "dir", {.recursive = true, .looks = true});
  EXPECT_EQ(Names(done), (std::vector<std::string>{"a", "sub", "sub/b"}));
  EXPECT_EQ(Reply(done).files, 2u);
  EXPECT_EQ(Reply(done).directories, 1u);
  EXPECT_EQ(Reply(done).more, 0u);
  EXPECT_TRUE(Exists("work/dir/sub/b"));
  EXPECT_FALSE(Exists("trash/content"));
}

TEST_F(DeleteFileTest, AnotherPlaceInTheSameTree) {
  const Finished done = Delete(scratch_, "dir/a", {.beneath = ".trash/1"});
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded) << done.Last().subject;
  for (const char* name : {"content", "info.json", ".gitignore"}) {
    EXPECT_TRUE(Exists((std::string("work/.trash/1/") + name).c_str())) << name;
  }
  EXPECT_FALSE(Exists("work/dir/a"));
  ExpectRefused(Delete(scratch_, "file", {.beneath = ".trash/1"}), EEXIST);
  fs::create_directory_symlink(scratch_.path("trash"), scratch_.path("work/way"));
  ExpectRefused(Delete(scratch_, "file", {.beneath = "way/1"}), ELOOP);
  EXPECT_TRUE(fs::is_empty(scratch_.path("trash")));
  ExpectRefused(Delete(scratch_, "dir", {.recursive = true, .beneath = "dir/1"}), EINVAL);
  EXPECT_TRUE(Exists("work/dir/sub/b"));
}

TEST_F(DeleteFileTest, OfASymlinkTheSymlinkAlone) {
  fs::create_directory(scratch_.path("outside"));
  std::ofstream(scratch_.path("outside/precious")) << "x";
  fs::create_directory_symlink("../outside", scratch_.path("work/way"));
  ExpectRefused(Delete(scratch_, "way/precious"), ELOOP);
  EXPECT_TRUE(Exists("outside/precious"));
  const Finished seen = Delete(scratch_, "way", {.recursive = true, .looks = true});
  EXPECT_TRUE(S_ISLNK(Reply(seen).mode));
  EXPECT_EQ(Names(seen), std::vector<std::string>());
  EXPECT_EQ(Delete(scratch_, "way", {.recursive = true}).Last().kind, StatusKind::kEnded);
  EXPECT_FALSE(Exists("work/way"));
  EXPECT_TRUE(Exists("outside/precious"));
}

TEST_F(DeleteFileTest, WhatIsNotThere) {
  ExpectRefused(Delete(scratch_, "none"), ENOENT);
  ExpectRefused(Delete(scratch_, "none/file"), ENOENT);
  ExpectRefused(Delete(scratch_, "file/x"), ENOTDIR);
}

TEST_F(DeleteFileTest, MoreThanCanBeToldIsSaidToBeMore) {
  std::string deep = scratch_.path("work/deep");
  for (int i = 0; i < 70; ++i) deep += "/d";
  fs::create_directories(deep);
  const Finished done = Delete(scratch_, "deep", {.recursive = true, .looks = true});
  EXPECT_EQ(Reply(done).more, 1u);
  EXPECT_EQ(Reply(done).directories, 65u);
  EXPECT_EQ(Delete(scratch_, "deep", {.recursive = true}).Last().kind, StatusKind::kEnded);
}

TEST_F(DeleteFileTest, IsConfined) {
  const Finished done = Delete(scratch_, "file", {}, sandbox::Access::kRead);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_TRUE(Exists("work/file"));
  EXPECT_EQ(
      Delete(scratch_, "file", {}, sandbox::Access::kRead, "project-actions-worker-unconfined")
          .Last()
          .kind,
      StatusKind::kEnded)
      << "nothing else stands in the way";
}

}  // namespace
}  // namespace pa::worker
