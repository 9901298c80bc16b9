#include "worker/create_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

WorkerSpec Create(const Scratch& scratch, const std::string& name) {
  WorkerSpec spec = Shell(scratch, "");
  spec.action = Action::kCreateFile;
  spec.executable.clear();
  spec.argv.clear();
  spec.file = name;
  return spec;
}

std::string Content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CreateFileTest, HoldsWhatStdinHeld) {
  const Scratch scratch;
  const std::string content = std::string("all:\n\techo \0 x\n", 14) + std::string(100'000, 'y');
  const mode_t before = umask(027);
  const Finished done = WorkerRun(Create(scratch, "Makefile"), {.stdin_data = content}).Wait();
  umask(before);
  ASSERT_EQ(done.statuses.size(), 1u) << done.Last().subject;
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded);
  EXPECT_EQ(done.Last().reason, EndReason::kExited);
  EXPECT_EQ(done.Last().exit_code, 0);
  EXPECT_EQ(Content(scratch.path("work/Makefile")), content);
  struct stat info;
  ASSERT_EQ(stat(scratch.path("work/Makefile").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

void ExpectRefused(const Finished& done, int code) {
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_EQ(done.Last().step, Step::kCreateFile);
  EXPECT_EQ(done.Last().sys_errno, code) << done.Last().subject;
}

TEST(CreateFileTest, NeverReplaces) {
  const Scratch scratch;
  std::ofstream(scratch.path("work/Makefile")) << "mine";
  ExpectRefused(WorkerRun(Create(scratch, "Makefile"), {.stdin_data = "other"}).Wait(), EEXIST);
  EXPECT_EQ(Content(scratch.path("work/Makefile")), "mine");
}

TEST(CreateFileTest, DoesNotFollowASymlink) {
  const Scratch scratch;
  fs::create_symlink("target", scratch.path("work/Makefile"));
  ExpectRefused(WorkerRun(Create(scratch, "Makefile"), {.stdin_data = "x"}).Wait(), EEXIST);
  EXPECT_FALSE(fs::exists(scratch.path("work/target")));
}

TEST(CreateFileTest, WhatCannotBeWrittenIsRemovedAgain) {
  const Scratch scratch;
  WorkerSpec spec = Create(scratch, "Makefile");
  spec.limits.file_bytes = 1000;
  ExpectRefused(WorkerRun(spec, {.stdin_data = std::string(2000, 'x')}).Wait(), EFBIG);
  EXPECT_FALSE(fs::exists(scratch.path("work/Makefile")));
}

TEST(CreateFileTest, IsConfinedLikeACommand) {
  const Scratch scratch;
  WorkerSpec spec = Create(scratch, "Makefile");
  std::erase_if(spec.paths, [&](const auto& grant) { return grant.path == scratch.work(); });
  ExpectRefused(WorkerRun(spec, {.stdin_data = "x"}).Wait(), EACCES);
  EXPECT_FALSE(fs::exists(scratch.path("work/Makefile")));
}

TEST(CreateFileTest, AFailingStepCreatesNothing) {
  const Scratch scratch;
  for (const char* step : {"landlock", "seccomp", "limits", "create file"}) {
    const Finished done =
        WorkerRun(Create(scratch, "Makefile"), {.worker = "project-actions-worker-faults",
                                                .worker_env = {std::string("PA_FAIL_STEP=") + step},
                                                .stdin_data = "x"})
            .Wait();
    EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
    EXPECT_STREQ(StepName(done.Last().step), step);
    EXPECT_FALSE(fs::exists(scratch.path("work/Makefile")));
  }
}

}  // namespace
}  // namespace pa::worker
