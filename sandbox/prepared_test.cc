#include "sandbox/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "sandbox/child_for_test.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp_load.h"

namespace pa::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

struct Project {
  TemporaryDirectory top;
  Confinement confinement;

  Project() {
    std::filesystem::create_directories(top / "in");
    std::ofstream(top / "in/file") << "x";
    std::ofstream(top / "outside") << "x";
    confinement.paths = {{top / "in", kReadWrite, "working directory"},
                         {top / "missing", kReadWrite, "does not exist"}};
  }
};

class Prepared : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DetectLandlock().abi == 0) GTEST_SKIP() << "this kernel has no Landlock";
  }
};

int OpenInside(const PreparedSandbox& prepared, const std::string& path) {
  return InChild([&] {
    if (!Enforce(prepared.landlock_ruleset.get())) return kSetupFailed;
    return AttemptErrno(open(path.c_str(), O_RDWR | O_CLOEXEC));
  });
}

TEST_F(Prepared, OneRulesetServesManyProcesses) {
  const Project project;
  const Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared) << prepared.error().Message();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(OpenInside(*prepared, project.top / "in/file"), 0);
    EXPECT_EQ(OpenInside(*prepared, project.top / "outside"), EACCES);
  }
}

TEST_F(Prepared, AMissingPathIsSkippedAndNotCreated) {
  const Project project;
  Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared);
  EXPECT_NE(prepared->identities[0], PathIdentity{});
  EXPECT_EQ(prepared->identities[1], PathIdentity{});
  EXPECT_FALSE(std::filesystem::exists(project.top / "missing"));
  EXPECT_TRUE(prepared->StillValid(Clock::now()));
}

TEST_F(Prepared, AReplacedPathIsNoticed) {
  const Project project;
  Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared);
  std::ofstream(project.top / "in/another") << "x";
  EXPECT_TRUE(prepared->StillValid(Clock::now()));  // content may change
  for (int i = 0; i < 20; ++i) {  // also when the file system likes to reuse inode numbers
    std::filesystem::remove_all(project.top / "in");
    EXPECT_FALSE(prepared->StillValid(Clock::now()));
    std::filesystem::create_directories(project.top / "in");
    EXPECT_FALSE(prepared->StillValid(Clock::now()));
  }
}

TEST_F(Prepared, WhatIsRarelyReplacedIsLookedAtOnceASecond) {
  Project project;
  project.confinement.paths[0].replaced = Replaced::kRarely;
  Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared);
  const Clock::time_point first = Clock::now();
  EXPECT_TRUE(prepared->StillValid(first));
  std::filesystem::rename(project.top / "in", project.top / "elsewhere");
  EXPECT_TRUE(prepared->StillValid(first + std::chrono::milliseconds(999)));
  EXPECT_FALSE(prepared->StillValid(first + std::chrono::seconds(1)));
  std::filesystem::create_directories(project.top / "missing");  // one that may change anytime
  EXPECT_FALSE(prepared->StillValid(first));
}

TEST_F(Prepared, ARenamedDirectoryDoesNotKeepItsName) {
  const Project project;
  Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared);
  std::filesystem::rename(project.top / "in", project.top / "elsewhere");
  EXPECT_FALSE(prepared->StillValid(Clock::now()));
  std::filesystem::rename(project.top / "elsewhere", project.top / "in");
  EXPECT_TRUE(prepared->StillValid(Clock::now()));
}

TEST_F(Prepared, AMissingPathThatAppearsIsNoticed) {
  const Project project;
  Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared);
  std::filesystem::create_directories(project.top / "missing");
  EXPECT_FALSE(prepared->StillValid(Clock::now()));
}

TEST_F(Prepared, AProjectThatBecameASymlinkIsRefused) {
  Project project;
  std::filesystem::create_directories(project.top / "secret");
  std::ofstream(project.top / "secret/file") << "x";
  std::filesystem::rename(project.top / "in", project.top / "moved");
  std::filesystem::create_symlink("secret", project.top / "in");
  const Result<PreparedSandbox> followed = PrepareLandlock(project.confinement);
  ASSERT_TRUE(followed);
  EXPECT_EQ(OpenInside(*followed, project.top / "secret/file"), 0);

  project.confinement.paths[0].symlinks = Symlinks::kRefuse;
  const Result<PreparedSandbox> refused = PrepareLandlock(project.confinement);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().subject, project.top / "in");
  EXPECT_EQ(refused.error().sys_errno, ELOOP);

  std::filesystem::remove(project.top / "in");
  std::filesystem::rename(project.top / "moved", project.top / "in");
  const Result<PreparedSandbox> again = PrepareLandlock(project.confinement);
  ASSERT_TRUE(again) << again.error().Message();
  EXPECT_EQ(OpenInside(*again, project.top / "in/file"), 0);
}

// As another server's TMPDIR that goes between a look at its name and the grant: the name that the
// kernel then has for it is no sign of a symlink.
TEST_F(Prepared, WhatIsRemovedMeanwhileIsSkipped) {
  Project project;
  const UniqueFd gone(open((project.top / "in").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::filesystem::remove_all(project.top / "in");
  project.confinement.paths = {{.path = "/proc/self/fd/" + std::to_string(gone.get()),
                                .access = Access::kRead,
                                .symlinks = Symlinks::kRefuse}};
  const Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_TRUE(prepared) << prepared.error().Message();
  EXPECT_EQ(prepared->identities, std::vector<PathIdentity>(1));
}

TEST_F(Prepared, WithoutLandlockThereIsNoRuleset) {
  const Project project;
  Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement, 0);
  ASSERT_TRUE(prepared);
  EXPECT_FALSE(prepared->landlock_ruleset);
  EXPECT_EQ(prepared->landlock_abi, 0);
  EXPECT_TRUE(prepared->StillValid(Clock::now()));
}

TEST_F(Prepared, OlderKernels) {
  const Project project;
  for (int abi = 1; abi <= DetectLandlock().abi; ++abi) {
    const Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement, abi);
    ASSERT_TRUE(prepared) << abi << " " << prepared.error().Message();
    EXPECT_EQ(OpenInside(*prepared, project.top / "in/file"), 0) << abi;
    EXPECT_EQ(OpenInside(*prepared, project.top / "outside"), EACCES) << abi;
  }
}

TEST_F(Prepared, AFailureNamesWhatFailed) {
  Project project;
  project.confinement.paths.push_back({std::string(5000, 'x'), kReadWrite, "too long"});
  const Result<PreparedSandbox> prepared = PrepareLandlock(project.confinement);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().op, "open");
  EXPECT_EQ(prepared.error().sys_errno, ENAMETOOLONG);
}

// A search has Landlock's right to truncate, and a program that refuses to.
class OfASearch : public Prepared {
 protected:
  void SetUp() override {
    Prepared::SetUp();
    project_.confinement.paths[0].access = Access::kRead | Access::kTruncate;
    prepared_ = PrepareLandlock(project_.confinement);
    ASSERT_TRUE(prepared_) << prepared_.error().Message();
  }
  int Try(SeccompProfile profile, const std::function<long(const char* file)>& call) {
    const auto program = CompileSeccomp(profile, Network::kNone, DetectLandlock().abi);
    const std::string file = project_.top / "in/file";
    return InChild([&] {
      const bool confined = program && Enforce(prepared_->landlock_ruleset.get()) &&
                            LoadSeccomp(**program).has_value();
      return confined ? AttemptErrno(call(file.c_str())) : kSetupFailed;
    });
  }
  std::uintmax_t Size() { return std::filesystem::file_size(project_.top / "in/file"); }

  Project project_;
  Result<PreparedSandbox> prepared_;
};

struct Truncation {
  const char* name;
  long (*call)(const char* file);
};
constexpr Truncation kTruncations[] = {
    {"truncate", [](const char* file) { return long{truncate(file, 0)}; }},
    {"open",
     [](const char* file) { return syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_TRUNC); }},
    {"access mode 3",
     [](const char* file) { return syscall(SYS_openat, AT_FDCWD, file, 3 | O_TRUNC); }},
};

TEST_F(OfASearch, NothingTruncates) {
  for (const Truncation& truncation : kTruncations) {
    EXPECT_EQ(Try(SeccompProfile::kSearch, truncation.call), EPERM) << truncation.name;
    EXPECT_EQ(Size(), 1u) << truncation.name;
  }
  for (const int flags : {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC}) {
    EXPECT_EQ(Try(SeccompProfile::kSearch,
                  [&](const char* file) { return long{open(file, flags | O_CLOEXEC)}; }),
              EACCES)
        << flags;
  }
  EXPECT_EQ(Size(), 1u);
  EXPECT_EQ(Try(SeccompProfile::kSearch,
                [](const char* file) { return long{open(file, O_RDONLY | O_CLOEXEC)}; }),
            0);
}

// What the program is for.
TEST_F(OfASearch, WithAnotherProgramTheyAllDo) {
  if (DetectLandlock().abi < 3) GTEST_SKIP() << "before ABI 3 every program refuses to truncate";
  for (const Truncation& truncation : kTruncations) {
    EXPECT_EQ(Try(SeccompProfile::kInspect, truncation.call), 0) << truncation.name;
    EXPECT_EQ(Size(), 0u) << truncation.name;
    std::ofstream(project_.top / "in/file") << "x";
  }
}

}  // namespace
}  // namespace pa::sandbox
