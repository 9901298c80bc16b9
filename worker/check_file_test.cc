#include "worker/check_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "sandbox/prepared.h"
#include "worker/sha256.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

std::string DigestOf(const std::string& text) {
  Sha256 hash;
  hash.Update(text.data(), text.size());
  std::uint8_t digest[kDigestBytes];
  hash.Finish(digest);
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

class CheckFileTest : public ::testing::Test {
 protected:
  std::string File() const { return scratch_.path("work/planned"); }
  void Write(const std::string& text) const { std::ofstream(File()) << text; }
  // Of a command that was planned when the file had this text.
  Finished Run(const std::string& text, const StartOptions& options = {}) const {
    WorkerSpec spec = Shell(scratch_, "echo ran");
    spec.file = "planned";
    spec.file_digest = DigestOf(text);
    return WorkerRun(spec, options).Wait();
  }
  static void ExpectRefused(const Finished& done, int code) {
    ASSERT_EQ(done.statuses.size(), 1u);
    EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
    EXPECT_STREQ(StepName(done.Last().step), StepName(Step::kCheckFile));
    EXPECT_EQ(done.Last().sys_errno, code) << done.Last().subject;
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(done.exit_code, kExitSetupFailed);
  }

  Scratch scratch_;
};

TEST_F(CheckFileTest, TheCommandRunsIfTheFileIsTheSame) {
  for (const std::size_t size : {0u, 1u, 16'384u, 16'385u, 1'000'000u}) {
    const std::string text(size, 'x');
    Write(text);
    EXPECT_EQ(Run(text).out, "ran\n") << size;
  }
}

TEST_F(CheckFileTest, NothingRunsIfItIsAnotherOne) {
  Write("all:\n");
  EXPECT_EQ(Run("all:\n").out, "ran\n");
  ExpectRefused(Run("al1:\n"), ESTALE);
  ExpectRefused(Run("all:\n\n"), ESTALE);
  ExpectRefused(Run(""), ESTALE);
}

TEST_F(CheckFileTest, NothingRunsIfItIsNoFileOrCannotBeRead) {
  ExpectRefused(Run(""), ENOENT);
  ASSERT_EQ(mkfifo(File().c_str(), 0600), 0);
  ExpectRefused(Run(""), ESTALE);
  std::filesystem::remove(File());
  ASSERT_EQ(symlink("/dev/null", File().c_str()), 0);
  ExpectRefused(Run(""), ESTALE);
  std::filesystem::remove(File());
  std::filesystem::create_directory(File());
  ExpectRefused(Run(""), ESTALE);
}

// Otherwise a command that may not read a file could learn what is in it.
TEST_F(CheckFileTest, WhatTheCommandMayNotReadIsNotCompared) {
  Write("text");
  WorkerSpec spec = Shell(scratch_, "echo ran");
  spec.file = "planned";
  spec.file_digest = DigestOf("text");
  EXPECT_EQ(WorkerRun(spec).Wait().out, "ran\n");
  std::erase_if(spec.paths, [&](const auto& grant) { return grant.path == scratch_.work(); });
  ExpectRefused(WorkerRun(spec).Wait(), EACCES);
}

TEST_F(CheckFileTest, UnderTheProgramOfACommandToo) {
  const auto program =
      sandbox::CompileSeccomp(sandbox::SeccompProfile::kBuild, sandbox::Network::kNone, 7);
  ASSERT_TRUE(program);
  const StartOptions options{.program = **program};
  Write("text");
  EXPECT_EQ(Run("text", options).out, "ran\n");
  ExpectRefused(Run("next", options), ESTALE);
}

TEST_F(CheckFileTest, AFailedStepIsNamed) {
  Write("text");
  StartOptions options{.worker = "project-actions-worker-faults",
                       .worker_env = {"PA_FAIL_STEP=check file"}};
  ExpectRefused(Run("text", options), EPERM);
  options.worker_env.clear();
  EXPECT_EQ(Run("text", options).out, "ran\n");
}

}  // namespace
}  // namespace pa::worker
