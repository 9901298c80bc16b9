#include "worker/read_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "worker/file_header.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

WorkerSpec Read(const Scratch& scratch, const std::string& name) {
  return FileOrder(scratch, Action::kReadFile, name);
}

StartOptions By(const char* worker) { return Alone(Action::kReadFile, "", worker); }

Finished RunRead(const WorkerSpec& spec, const StartOptions& options = Alone(Action::kReadFile)) {
  return WorkerRun(spec, options).Wait();
}

FileHeader HeaderOf(const Finished& done) {
  FileHeader header;
  EXPECT_GE(done.out.size(), sizeof header);
  std::memcpy(&header, done.out.data(), std::min(done.out.size(), sizeof header));
  EXPECT_EQ(header.magic, kFileMagic);
  return header;
}

void ExpectRefused(const Finished& done, int code) {
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_EQ(done.Last().step, Step::kReadFile);
  EXPECT_EQ(done.Last().sys_errno, code) << done.Last().subject;
  EXPECT_EQ(done.out, "");
}

TEST(ReadFileTest, TheBytesAfterWhatTheyAreOf) {
  const Scratch scratch;
  for (const std::size_t size : {0u, 1u, 65'519u, 65'520u, 65'521u, 1'000'000u}) {
    std::string content(size, 'x');
    if (size > 2) content[1] = '\0';
    std::ofstream(scratch.path("work/file")) << content;
    const Finished done = RunRead(Read(scratch, "file"));
    ASSERT_EQ(done.statuses.size(), 1u);
    EXPECT_EQ(done.Last().kind, StatusKind::kEnded) << done.Last().subject;
    EXPECT_EQ(done.Last().exit_code, 0);
    EXPECT_EQ(done.exit_code, 0);
    const FileHeader header = HeaderOf(done);
    EXPECT_TRUE(S_ISREG(header.mode));
    EXPECT_EQ(header.size, size);
    EXPECT_TRUE(done.out.substr(sizeof header) == content) << size;
  }
}

TEST(ReadFileTest, NoMoreOfItThanIsAskedFor) {
  const Scratch scratch;
  std::string content;
  for (int i = 0; i < 40'000; ++i) content += std::to_string(i);
  std::ofstream(scratch.path("work/file")) << content;
  for (const std::size_t most : {1u, 8'192u, 65'520u, 65'536u, 200'000u, 9'000'000u}) {
    WorkerSpec spec = Read(scratch, "file");
    spec.read_bytes = most;
    const Finished done = RunRead(spec);
    EXPECT_EQ(HeaderOf(done).size, content.size()) << "of the file";
    EXPECT_TRUE(done.out.substr(sizeof(FileHeader)) == content.substr(0, most)) << most;
  }
}

// A FIFO would wait for somebody who writes, and to open a device can be an order to it.
TEST(ReadFileTest, NothingButARegularFileIsOpened) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo(scratch.path("work/fifo").c_str(), 0600), 0);
  fs::create_directory(scratch.path("work/directory"));
  for (const auto& [name, type] :
       {std::pair<const char*, mode_t>{"fifo", S_IFIFO}, {"directory", S_IFDIR}}) {
    const Finished done = RunRead(Read(scratch, name));
    EXPECT_EQ(done.Last().kind, StatusKind::kEnded) << done.Last().subject;
    EXPECT_EQ(HeaderOf(done).mode & S_IFMT, type);
    EXPECT_EQ(done.out.size(), sizeof(FileHeader));
  }
}

TEST(ReadFileTest, ASymlinkIsNoFile) {
  const Scratch scratch;
  std::ofstream(scratch.path("work/file")) << "x";
  fs::create_symlink("file", scratch.path("work/inside"));
  fs::create_symlink("/etc/passwd", scratch.path("work/outside"));
  ExpectRefused(RunRead(Read(scratch, "inside")), ELOOP);
  ExpectRefused(RunRead(Read(scratch, "outside")), ELOOP);
  ExpectRefused(RunRead(Read(scratch, "none")), ENOENT);
}

TEST(ReadFileTest, IsConfined) {
  const Scratch scratch;
  std::ofstream(scratch.path("work/file")) << "x";
  WorkerSpec spec = Read(scratch, "file");
  spec.paths = {{scratch.tmp(), sandbox::Access::kRead, "elsewhere"}};
  ExpectRefused(RunRead(spec), EACCES);
  EXPECT_EQ(RunRead(spec, By("project-actions-worker-unconfined")).out.back(), 'x')
      << "nothing else stands in the way";
}

// Death for whatever is not on the list, and it is there before the file is opened.
TEST(ReadFileTest, HasItsOwnProgram) {
  const Scratch scratch;
  std::ofstream(scratch.path("work/file")) << "x";
  StartOptions options = Alone(Action::kReadFile);
  // {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS}
  options.program_in_spec = std::string("\x06\0\0\0\0\0\0\x80", 8);
  const Finished done = RunRead(Read(scratch, "file"), options);
  EXPECT_EQ(done.exit_code, 128 + SIGSYS);
  EXPECT_EQ(done.out, "");
  options.program_in_spec.clear();
  EXPECT_EQ(RunRead(Read(scratch, "file"), options).Last().step, Step::kDecodeSpec) << "never none";
}

TEST(ReadFileTest, AFailingStepReadsNothing) {
  const Scratch scratch;
  std::ofstream(scratch.path("work/file")) << "x";
  for (const char* step : {"working directory", "limits", "landlock", "seccomp", "read file"}) {
    StartOptions options = By("project-actions-worker-faults");
    options.worker_env = {std::string("PA_FAIL_STEP=") + step};
    const Finished done = RunRead(Read(scratch, "file"), options);
    EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
    EXPECT_STREQ(StepName(done.Last().step), step);
    EXPECT_EQ(done.out, "");
  }
}

}  // namespace
}  // namespace pa::worker
