#include "worker/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "worker/file_header.h"
#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

namespace fs = std::filesystem;

struct How {
  const char* expects = nullptr;  // the content of what is replaced
  bool makes_parents = false;
  bool syncs = false;
};

std::string Stdin(const std::string& content, const How& how) {
  WriteHeader header{
      .makes_parents = how.makes_parents, .syncs = how.syncs, .size = content.size()};
  if (how.expects != nullptr) {
    header.replaces = 1;
    const Digest digest = Sha256Of(how.expects);
    std::memcpy(header.expected, digest.data(), digest.size());
  }
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + content;
}

Finished RunWrite(const WorkerSpec& spec, const std::string& content, const How& how = {}) {
  return WorkerRun(spec, Alone(Action::kWriteFile, Stdin(content, how))).Wait();
}
Finished RunWrite(const Scratch& scratch, const std::string& path, const std::string& content,
                  const How& how = {}) {
  return RunWrite(FileOrder(scratch, Action::kWriteFile, path), content, how);
}

std::string Content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void Put(const fs::path& path, const std::string& content) { std::ofstream(path) << content; }

std::vector<std::string> Names(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

void ExpectDone(const Finished& done) {
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kEnded) << done.Last().subject;
  EXPECT_EQ(done.Last().exit_code, 0);
}

void ExpectRefused(const Finished& done, int code) {
  ASSERT_EQ(done.statuses.size(), 1u);
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_EQ(done.Last().step, Step::kWriteFile);
  EXPECT_EQ(done.Last().sys_errno, code) << done.Last().subject;
}

Digest Present(const Finished& done) {
  WriteReply reply;
  EXPECT_EQ(done.out.size(), sizeof reply);
  std::memcpy(&reply, done.out.data(), std::min(done.out.size(), sizeof reply));
  EXPECT_EQ(reply.magic, kWriteMagic);
  return std::to_array(reply.present);
}

TEST(WriteFileTest, MakesAFile) {
  const Scratch scratch;
  const mode_t before = umask(027);
  for (const std::size_t size : {0u, 1u, 16'383u, 16'384u, 16'385u, 1'000'000u}) {
    const std::string name = "file" + std::to_string(size);
    std::string content(size, 'x');
    if (size > 2) content[1] = '\0';
    const Finished done = RunWrite(scratch, name, content, {.syncs = size % 2 == 0});
    ExpectDone(done);
    EXPECT_EQ(done.out, "");
    EXPECT_TRUE(Content(scratch.path("work/" + name)) == content) << size;
    struct stat info;
    ASSERT_EQ(stat(scratch.path("work/" + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0640u);
  }
  umask(before);
  EXPECT_EQ(Names(scratch.work()).size(), 6u);
}

TEST(WriteFileTest, ReplacesOnlyWhatIsExpected) {
  const Scratch scratch;
  const std::string file = scratch.path("work/file");
  Put(file, "old");
  const Finished blind = RunWrite(scratch, "file", "new");
  ExpectRefused(blind, EEXIST);
  EXPECT_EQ(Present(blind), Sha256Of("old"));
  const Finished stale = RunWrite(scratch, "file", "new", {.expects = "older"});
  ExpectRefused(stale, ESTALE);
  EXPECT_EQ(Present(stale), Sha256Of("old"));
  EXPECT_EQ(Content(file), "old");
  ExpectDone(RunWrite(scratch, "file", "new", {.expects = "old"}));
  EXPECT_EQ(Content(file), "new");
  const Finished gone = RunWrite(scratch, "none", "new", {.expects = "old"});
  ExpectRefused(gone, ENOENT);
  EXPECT_EQ(gone.out, "");
  EXPECT_EQ(Names(scratch.work()), std::vector<std::string>{"file"});
}

TEST(WriteFileTest, KeepsWhatThereIsBesidesTheContent) {
  const Scratch scratch;
  const std::string file = scratch.path("work/file");
  Put(file, "old");
  fs::permissions(file, fs::perms(0741));
  const bool xattrs = setxattr(file.c_str(), "user.of", "mine", 4, 0) == 0;
  const bool gives = geteuid() == 0 && chown(file.c_str(), 12, 34) == 0;
  ExpectDone(RunWrite(scratch, "file", "new", {.expects = "old"}));
  struct stat info;
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0741u);
  EXPECT_EQ(info.st_uid, gives ? 12 : geteuid());
  EXPECT_EQ(info.st_gid, gives ? 34 : getegid());
  if (!xattrs) GTEST_SKIP() << "no extended attributes on this file system";
  char value[8] = {};
  EXPECT_EQ(getxattr(file.c_str(), "user.of", value, sizeof value), 4);
  EXPECT_STREQ(value, "mine");
}

TEST(WriteFileTest, WhatNobodyMayWriteStays) {
  const Scratch scratch;
  Put(scratch.path("work/file"), "old");
  fs::permissions(scratch.path("work/file"), fs::perms(0444));
  ExpectRefused(RunWrite(scratch, "file", "new", {.expects = "old"}), EACCES);
  EXPECT_EQ(Content(scratch.path("work/file")), "old");
  fs::permissions(scratch.path("work/file"), fs::perms(0644));
  ExpectDone(RunWrite(scratch, "file", "new", {.expects = "old"}));
}

TEST(WriteFileTest, DirectoriesOnTheWay) {
  const Scratch scratch;
  fs::create_directories(scratch.path("work/a/b"));
  ExpectDone(RunWrite(scratch, "a/b/file", "x"));
  EXPECT_EQ(Content(scratch.path("work/a/b/file")), "x");
  ExpectRefused(RunWrite(scratch, "c/d/file", "x"), ENOENT);
  EXPECT_FALSE(fs::exists(scratch.path("work/c")));
  ExpectDone(RunWrite(scratch, "c/d/file", "x", {.makes_parents = true}));
  EXPECT_EQ(Content(scratch.path("work/c/d/file")), "x");
  ExpectRefused(RunWrite(scratch, "c/d/file/more", "x", {.makes_parents = true}), ENOTDIR);
}

// However it came there after the supervisor had looked.
TEST(WriteFileTest, NeverThroughASymlink) {
  const Scratch scratch;
  fs::create_directories(scratch.path("work/dir"));
  fs::create_directories(scratch.path("outside"));
  fs::create_directory_symlink("dir", scratch.path("work/inside"));
  fs::create_directory_symlink("../outside", scratch.path("work/way"));
  fs::create_symlink("dir/x", scratch.path("work/file"));
  for (const char* path : {"inside/x", "way/x", "file"}) {
    ExpectRefused(RunWrite(scratch, path, "x", {.makes_parents = true}), ELOOP);
  }
  EXPECT_TRUE(Names(scratch.path("work/dir")).empty());
  EXPECT_TRUE(Names(scratch.path("outside")).empty());
}

TEST(WriteFileTest, NothingButARegularFileIsReplaced) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo(scratch.path("work/fifo").c_str(), 0600), 0);
  fs::create_directory(scratch.path("work/directory"));
  for (const char* name : {"fifo", "directory"}) {
    ExpectRefused(RunWrite(scratch, name, "x"), EINVAL);
    ExpectRefused(RunWrite(scratch, name, "x", {.expects = ""}), EINVAL);
  }
  EXPECT_EQ(Names(scratch.work()), (std::vector<std::string>{"directory", "fifo"}));
}

TEST(WriteFileTest, IsConfined) {
  const Scratch scratch;
  WorkerSpec spec = FileOrder(scratch, Action::kWriteFile, "file");
  spec.paths = {{scratch.work(), sandbox::Access::kRead, "to be read"}};
  ExpectRefused(RunWrite(spec, "x"), EACCES);
  EXPECT_TRUE(Names(scratch.work()).empty());
  ExpectDone(WorkerRun(spec, Alone(Action::kWriteFile, Stdin("x", {}),
                                   "project-actions-worker-unconfined"))
                 .Wait());
  EXPECT_EQ(Content(scratch.path("work/file")), "x") << "nothing else stands in the way";
}

TEST(WriteFileTest, WhatDoesNotFitLeavesTheOldOne) {
  const Scratch scratch;
  Put(scratch.path("work/file"), "old");
  WorkerSpec spec = FileOrder(scratch, Action::kWriteFile, "file");
  spec.limits.file_bytes = 1000;
  ExpectRefused(RunWrite(spec, std::string(2000, 'x'), {.expects = "old"}), EFBIG);
  EXPECT_EQ(Content(scratch.path("work/file")), "old");
  EXPECT_EQ(Names(scratch.work()), std::vector<std::string>{"file"});
  ExpectDone(RunWrite(spec, std::string(1000, 'x'), {.expects = "old"}));
}

TEST(WriteFileTest, HalfAContentIsNone) {
  const Scratch scratch;
  const WorkerSpec spec = FileOrder(scratch, Action::kWriteFile, "file");
  std::string given = Stdin("content", {});
  given.pop_back();
  ExpectRefused(WorkerRun(spec, Alone(Action::kWriteFile, given)).Wait(), ENODATA);
  ExpectRefused(WorkerRun(spec, Alone(Action::kWriteFile,
                                      "content of nothing known to anybody, 48 bytes and more"))
                    .Wait(),
                EPROTO);
  EXPECT_TRUE(Names(scratch.work()).empty());
}

TEST(WriteFileTest, AFailingStepChangesNothing) {
  const Scratch scratch;
  for (const char* step : {"working directory", "limits", "landlock", "seccomp", "write file"}) {
    StartOptions options =
        Alone(Action::kWriteFile, Stdin("x", {}), "project-actions-worker-faults");
    options.worker_env = {std::string("PA_FAIL_STEP=") + step};
    const Finished done = WorkerRun(FileOrder(scratch, Action::kWriteFile, "file"), options).Wait();
    EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
    EXPECT_STREQ(StepName(done.Last().step), step);
    EXPECT_TRUE(Names(scratch.work()).empty());
  }
}

TEST(WriteFileTest, ASyncThatFailsIsAStepAfterTheWriting) {
  const Scratch scratch;
  StartOptions options =
      Alone(Action::kWriteFile, Stdin("x", {.syncs = true}), "project-actions-worker-faults");
  options.worker_env = {"PA_FAIL_STEP=sync file"};
  const Finished done = WorkerRun(FileOrder(scratch, Action::kWriteFile, "file"), options).Wait();
  EXPECT_EQ(done.Last().kind, StatusKind::kSetupFailed);
  EXPECT_EQ(done.Last().step, Step::kSyncFile);
  EXPECT_EQ(Names(scratch.work()), std::vector<std::string>{"file"});
}

// The name that WriteFile uses for `name`.
std::string TempOf(const std::string& name) { return ".pa-" + Hex(Sha256Of(name)).substr(0, 16); }

Finished RunRemove(const Scratch& scratch, const std::string& path) {
  return WorkerRun(FileOrder(scratch, Action::kRemoveTemp, path), Alone(Action::kRemoveTemp))
      .Wait();
}

TEST(WriteFileTest, WhatADeadOneLeftIsRemoved) {
  const Scratch scratch;
  fs::create_directory(scratch.path("work/a"));
  const std::string left = scratch.path("work/a/" + TempOf("file"));
  Put(left, "half");
  ExpectDone(RunRemove(scratch, "a/other"));
  EXPECT_TRUE(fs::exists(left));
  ExpectDone(RunRemove(scratch, "a/file"));
  EXPECT_FALSE(fs::exists(left));
  ExpectDone(RunRemove(scratch, "a/file"));
  ExpectDone(RunRemove(scratch, "none/file"));
  Put(left, "half");
  ExpectDone(RunWrite(scratch, "a/file", "x"));
  EXPECT_EQ(Names(scratch.path("work/a")), std::vector<std::string>{"file"});
}

// A link to what must not be changed, under the name that will be written to, leads nowhere.
TEST(WriteFileTest, ALinkInTheWayIsRemovedAndNotWrittenTo) {
  const Scratch scratch;
  Put(scratch.path("work/precious"), "gold");
  fs::create_hard_link(scratch.path("work/precious"), scratch.path("work/" + TempOf("file")));
  ExpectDone(RunWrite(scratch, "file", "x"));
  EXPECT_EQ(Content(scratch.path("work/precious")), "gold");
  fs::create_symlink("precious", scratch.path("work/" + TempOf("other")));
  ExpectRefused(RunWrite(scratch, "other", "x"), ELOOP);
  EXPECT_EQ(Content(scratch.path("work/precious")), "gold");
}

// Another writer, which has written the half.
UniqueFd AtWorkWith(const std::string& temp) {
  Put(temp, "half");
  UniqueFd holder(open(temp.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(flock(holder.get(), LOCK_EX), 0);
  return holder;
}

TEST(WriteFileTest, WhatIsAtWorkIsWaitedForAndNotRemoved) {
  const Scratch scratch;
  const std::string temp = scratch.path("work/" + TempOf("file"));
  UniqueFd holder = AtWorkWith(temp);
  ExpectDone(RunRemove(scratch, "file"));
  EXPECT_EQ(Content(temp), "half");
  WorkerRun run(FileOrder(scratch, Action::kWriteFile, "file"),
                Alone(Action::kWriteFile, Stdin("mine", {})));
  usleep(100'000);
  EXPECT_FALSE(fs::exists(scratch.path("work/file")));
  // As a writer does that comes to its end: its file has the name now, and the other one finds it.
  fs::rename(temp, scratch.path("work/file"));
  holder.reset();
  const Finished done = run.Wait();
  ExpectRefused(done, EEXIST);
  EXPECT_EQ(Present(done), Sha256Of("half"));
  EXPECT_EQ(Names(scratch.work()), std::vector<std::string>{"file"});
}

// Many write one file at once, each what it takes for the next: none is lost.
TEST(WriteFileTest, NoUpdateIsLost) {
  constexpr int kWriters = 4;
  constexpr int kUpdates = 25;
  const Scratch scratch;
  const std::string file = scratch.path("work/file");
  Put(file, "");
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    for (int done = 0; done < kUpdates;) {
      const std::string old = Content(file);
      const Finished one = RunWrite(scratch, "file", old + "x", {.expects = old.c_str()});
      if (one.Last().kind == StatusKind::kEnded)
        ++done;
      else if (one.Last().sys_errno != ESTALE)
        _exit(1);
    }
    _exit(0);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Content(file), std::string(kWriters * kUpdates, 'x'));
  EXPECT_EQ(Names(scratch.work()), std::vector<std::string>{"file"});
}

// As when a server is killed: what it has ordered would overtake who puts things right.
TEST(WriteFileTest, WhoseSupervisorIsDeadDoesNothingMore) {
  const Scratch scratch;
  const std::string temp = scratch.path("work/" + TempOf("file"));
  UniqueFd holder = AtWorkWith(temp);
  WorkerRun run(FileOrder(scratch, Action::kWriteFile, "file"),
                Alone(Action::kWriteFile, Stdin("x", {})));
  usleep(100'000);  // it waits for the lock
  run.HangUp();
  holder.reset();
  run.Wait();
  EXPECT_TRUE(Names(scratch.work()).empty());
}

// A worker by hand, for whoever wants to end it: stopped at each of its system calls.
class Stepped {
 public:
  Stepped(const Scratch& scratch, WorkerSpec spec, const std::string& stdin_data) {
    spec.seccomp_program = ProgramOf(spec.action);
    const auto bytes = EncodeSpec(spec);
    Put(scratch.path("order"), bytes ? *bytes : "");
    Put(scratch.path("stdin"), stdin_data);
    pid_ = fork();
    if (pid_ == 0) Become(scratch);
    int status = 0;
    waitpid(pid_, &status, 0);  // it has executed
  }
  ~Stepped() { Wait(); }

  // To the next entry of or return from a system call; false: it has ended.
  bool Step() {
    ptrace(PTRACE_SYSCALL, pid_, 0, 0);
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) return false;
    ended_ = !WIFSTOPPED(status);
    return !ended_;
  }
  void Kill() { kill(pid_, SIGKILL); }
  void Wait() {
    if (!ended_) waitpid(pid_, nullptr, 0);
    ended_ = true;
  }

 private:
  [[noreturn]] static void Become(const Scratch& scratch) {
    const int in = open(scratch.path("stdin").c_str(), O_RDONLY);
    const int out = open("/dev/null", O_WRONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    const std::string worker = WorkerPath("project-actions-worker");
    execl(worker.c_str(), worker.c_str(), "--spec", scratch.path("order").c_str(), nullptr);
    _exit(1);
  }

  pid_t pid_ = -1;
  bool ended_ = false;
};

struct Crash {
  const char* old = nullptr;  // nothing: there is none
  const char* path = "file";
};

class CrashOfAWrite : public ::testing::TestWithParam<Crash> {};
INSTANTIATE_TEST_SUITE_P(Files, CrashOfAWrite,
                         ::testing::Values(Crash{}, Crash{.old = "old content"},
                                           Crash{.path = "a/b/file"}));

// Somebody saves the file while the new content is being written: the next call of the worker would
// lose it.
TEST(WriteFileTest, WhatIsSavedMeanwhileIsNotLost) {
  const Scratch scratch;
  const std::string file = scratch.path("work/file");
  const std::string temp = scratch.path("work/" + TempOf("file"));
  const std::string saved = scratch.path("saved");
  Put(file, "old");
  Put(saved, "saved meanwhile");
  Stepped worker(scratch, FileOrder(scratch, Action::kWriteFile, "file"),
                 Stdin("the new content", {.expects = "old"}));
  bool was_written = false;
  while (worker.Step()) {
    if (was_written || Content(temp) != "the new content") continue;
    was_written = true;
    fs::rename(saved, file);
  }
  EXPECT_TRUE(was_written);
  EXPECT_EQ(Content(file), "saved meanwhile");
  EXPECT_EQ(Names(scratch.work()), std::vector<std::string>{"file"});
}

// Killed before and after each system call: the old file or the new one, and when the next worker
// has cleaned up, nothing else.
TEST_P(CrashOfAWrite, LeavesTheOldOrTheNew) {
  const auto [old, path] = GetParam();
  bool ran_to_the_end = false;
  int with_old = 0;
  int with_new = 0;
  int left_behind = 0;
  for (int steps = 0; !ran_to_the_end; ++steps) {
    ASSERT_LT(steps, 1000);
    const Scratch scratch;
    const std::string file = scratch.path("work/" + std::string(path));
    if (old != nullptr) Put(file, old);
    Stepped worker(scratch, FileOrder(scratch, Action::kWriteFile, path),
                   Stdin("new content", {.expects = old, .makes_parents = true, .syncs = true}));
    for (int step = 0; step < steps && !ran_to_the_end; ++step) ran_to_the_end = !worker.Step();
    if (!ran_to_the_end) worker.Kill();
    worker.Wait();
    const std::string directory = fs::path(file).parent_path();
    if (fs::exists(directory + "/" + TempOf("file"))) ++left_behind;
    ExpectDone(RunRemove(scratch, path));
    if (fs::exists(file)) {
      EXPECT_EQ(Names(directory), std::vector<std::string>{"file"}) << steps;
      const std::string content = Content(file);
      EXPECT_TRUE(content == "new content" || (old != nullptr && content == old)) << content;
      ++(content == "new content" ? with_new : with_old);
    } else {
      EXPECT_EQ(old, nullptr) << "neither the old nor the new, after " << steps;
      EXPECT_TRUE(!fs::exists(directory) || Names(directory).empty()) << steps;
      ++with_old;
    }
  }
  // It was ended before and after, and where something had to be cleaned up.
  EXPECT_GT(with_old, 10);
  EXPECT_GT(with_new, 2);
  EXPECT_GT(left_behind, 5);
}

}  // namespace
}  // namespace pa::worker
