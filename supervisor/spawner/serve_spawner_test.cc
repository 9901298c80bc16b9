// A server that somebody else controls: it orders what the policy does not give. The Runner has
// another policy than the spawner, so all that it asks for is well-formed.
#include "supervisor/spawner/serve_spawner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/pack.h"
#include "base/packet.h"
#include "base/path_stamp.h"
#include "base/proc_path.h"
#include "base/try.h"
#include "policy/ceiling.h"
#include "supervisor/run/runner_test_support.h"
#include "supervisor/spawner/elsewhere.h"
#include "supervisor/spawner/spawner_process.h"
#include "supervisor/spawner/spawner_wire.h"
#include "supervisor/state/git_identity.h"
#include "tests/support/await.h"
#include "tests/support/janitor_chores.h"
#include "tests/support/processes.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using sandbox::Access;
using sandbox::Namespaces;
using testing::ReadText;
using testing::WriteText;

class SpawnerTest : public RunnerTest, public ::testing::WithParamInterface<Namespaces> {
 protected:
  SpawnerTest() {
    fs::create_directory(Outside());
    WriteText(Outside() / "secret", "secret\n");
    WriteText(base_ / "project/own", "own\n");
    WriteText(base_ / "load", "ok");
    policy_->namespaces = GetParam();
    auto forked = SpawnerProcess::Fork({
        .policy = [base = base_,
                   narrow = policy::PolicyPtr(std::make_shared<const policy::Policy>(*policy_)),
                   worker = FromEnvironment("PA_WORKER")]() -> Result<ServerPolicy> {
          if (ReadText(base / "load") != "ok") {
            return std::unexpected(Error("", "it is wrong\nvery wrong", 0));
          }
          policy::Policy policy = *narrow;
          if (fs::exists(base / "wider")) {
            policy.filesystem.push_back({base / "outside", sandbox::kReadWrite, "wider"});
          }
          policy.git.inherit_identity = !fs::exists(base / "anonymous");
          policy.home = base / "home";
          return ServerPolicy{std::move(policy), worker,
                              base / (fs::exists(base / "moved") ? "elsewhere" : "tmp")};
        },
        .bounds = [base = base_](const ServerPolicy& server,
                                 const std::vector<std::string>& directories) -> Result<Bounds> {
          if (fs::exists(base / "unbounded")) return std::unexpected(Error("", "no bounds", 0));
          return Bounds{.ceiling = policy::CeilingOf(server.policy, ""),
                        .worker = server.worker,
                        .tmp_base = server.tmp_base,
                        .elsewhere = FindElsewhere(
                            std::make_shared<const policy::Policy>(server.policy), "", directories),
                        .own = {base / "tokens"},
                        .sockets = {base / "socket"},
                        .directories = {base / "state/edits"},
                        .identity = server.policy.git.inherit_identity};
        },
    });
    EXPECT_TRUE(forked) << forked.error().Message();
    process_ = *std::move(forked);
    process_->FollowOn(&loop_, [this] { ++ends_; });
    Within();
  }
  ~SpawnerTest() override {
    End();
    // What the janitor had at work, which it does not wait for.
    EXPECT_TRUE(testing::Eventually([] { return !HasChildren(); }));
  }

  void End() {
    Stop();
    if (process_ == nullptr) return;
    process_->Close();
    while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    }
    process_.reset();
  }
  Result<bool> Reload() {
    const Result<ServerPolicy> read = testing::Await(loop_, process_->ReadPolicy());
    if (!read) return std::unexpected(read.error());
    return testing::Await(loop_, process_->TakePolicy());
  }
  fs::path Outside() const { return base_ / "outside"; }
  void Within() {
    spawner_ = process_.get();
    UseWorker(FromEnvironment("PA_WORKER"));
  }
  void Without() {
    spawner_ = nullptr;
    UseWorker(FromEnvironment("PA_WORKER"));
  }
  // By the server's own policy, which nobody but the server believes.
  void Grant(const fs::path& path, Access access) {
    policy_->filesystem.push_back({path, access, "hostile"});
    policy_ = std::make_shared<policy::Policy>(*policy_);
    runner_->Renew();
    runner_->Follow(policy_);
  }
  // What the order for the worker asked for goes beyond the ceiling.
  static bool IsBeyond(const Execution& run) {
    return run.outcome == Outcome::kSetupFailed && run.failed_step == worker::Step::kCeiling;
  }

  std::unique_ptr<SpawnerProcess> process_;
  int ends_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Tiers, SpawnerTest, ::testing::Values(Namespaces::kOff, Namespaces::kAuto),
                         [](const auto& tier) {
                           return tier.param == Namespaces::kOff ? "Off" : "Auto";
                         });

TEST_P(SpawnerTest, ACommandReachesWhatThePolicyGives) {
  const Execution run = Shell("cat own; echo x >made; echo $$ >$TMPDIR/x; cat $TMPDIR/x");
  EXPECT_TRUE(run.Succeeded()) << run.err.text << run.failure;
  EXPECT_TRUE(run.out.text.starts_with("own\n")) << run.out.text;
  EXPECT_EQ(ReadText(base_ / "project/made"), "x\n");
}

TEST_P(SpawnerTest, AndNothingElse) {
  const std::string script = "cat own; cat " + (Outside() / "secret").string() +
                             "; echo changed >" + (Outside() / "secret").string();
  Grant(Outside(), sandbox::kReadWrite);
  const Execution run = Shell(script);
  EXPECT_FALSE(run.out.text.contains("secret")) << run.out.text;
  EXPECT_TRUE(IsBeyond(run) || run.out.text == "own\n") << run.out.text << run.failure;
  EXPECT_EQ(ReadText(Outside() / "secret"), "secret\n");
  Without();
  EXPECT_EQ(Shell(script).out.text, "own\nsecret\n") << "else this shows nothing";
  EXPECT_EQ(ReadText(Outside() / "secret"), "changed\n");
}

TEST_P(SpawnerTest, NoOtherProgramOfSystemCalls) {
  const auto program =
      sandbox::CompileSeccomp(sandbox::SeccompProfile::kBuild, sandbox::Network::kFull, 7);
  ASSERT_TRUE(program);
  policy_->programs.no_network = *program;
  policy_->programs.build = *program;
  policy_->view_programs = policy_->programs;
  policy_ = std::make_shared<policy::Policy>(*policy_);
  EXPECT_TRUE(IsBeyond(Shell("true"))) << Shell("true").failure;
  Without();
  // It is loaded: the server's own probe finds that it lets a socket be made.
  const Execution probed = Shell("true");
  EXPECT_TRUE(probed.failure.contains("TCP socket")) << probed.failure;
}

TEST_P(SpawnerTest, NoMoreThanTheLimits) {
  policy_->limits.memory *= 2;
  policy_ = std::make_shared<policy::Policy>(*policy_);
  const Execution run = Shell("true");
  EXPECT_TRUE(IsBeyond(run)) << run.failure;
  EXPECT_TRUE(run.failure.contains("memory_bytes")) << run.failure;
  Without();
  EXPECT_TRUE(Shell("true").Succeeded()) << "else this shows nothing";
}

TEST_P(SpawnerTest, NorDoesTheJanitor) {
  const auto read = [&](const fs::path& path) {
    return testing::Await(loop_, Ask<Result<std::string>>(runner_->janitor(),
                                                          {.chore = testing::kTestRead,
                                                           .read = {path.parent_path().string()}},
                                                          path.string()));
  };
  const auto own = read(base_ / "project/own");
  ASSERT_TRUE(own) << own.error().Message();
  EXPECT_EQ(own->value(), "own\n");
  const auto secret = read(Outside() / "secret");
  ASSERT_TRUE(secret) << secret.error().Message();
  ASSERT_FALSE(secret->has_value());
  EXPECT_EQ(secret->error().sys_errno, EACCES);
  Without();
  EXPECT_EQ(read(Outside() / "secret")->value(), "secret\n") << "else this shows nothing";
}

// A Landlock domain is of the files that stood there.
TEST_P(SpawnerTest, WhatTakesThePlaceOfARootIsReached) {
  EXPECT_EQ(Shell("cat own").out.text, "own\n");
  fs::rename(base_ / "project", base_ / "before");
  fs::create_directory(base_ / "project");
  WriteText(base_ / "project/own", "new\n");
  const Execution run = Shell("cat own");
  EXPECT_EQ(run.out.text, "new\n") << run.err.text << run.failure;
  const auto read = testing::Await(
      loop_,
      Ask<Result<std::string>>(
          runner_->janitor(), {.chore = testing::kTestRead, .read = {(base_ / "project").string()}},
          (base_ / "project/own").string()));
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, "new\n");
}

TEST_P(SpawnerTest, ItOpensTheServersOwnFilesAndNoOthers) {
  const auto text = [&](const fs::path& path) -> Result<std::string> {
    PA_TRY(const UniqueFd fd, process_->Open(path));
    return ReadFileFrom(fd.get(), path, 100);
  };
  EXPECT_EQ(text(base_ / "tokens").error().sys_errno, ENOENT);
  WriteText(base_ / "tokens", "token");
  EXPECT_EQ(text(base_ / "tokens"), "token");
  WriteText(base_ / "next", "another");
  fs::rename(base_ / "next", base_ / "tokens");
  EXPECT_EQ(text(base_ / "tokens"), "another") << "whatever stands there";
  for (const fs::path& other : {Outside() / "secret", base_ / "./tokens", fs::path("tokens")}) {
    EXPECT_EQ(text(other).error().sys_errno, EPERM) << other;
  }
  EXPECT_EQ(text(std::string(100'000, 'x')).error().sys_errno, ENAMETOOLONG);
  fs::remove(base_ / "tokens");
  ASSERT_EQ(mkfifo((base_ / "tokens").c_str(), 0600), 0);
  EXPECT_EQ(text(base_ / "tokens").error().sys_errno, EINVAL) << "and does not wait";
}

TEST_P(SpawnerTest, ItRemovesTheServersSocketAndNothingElse) {
  const auto at = [](const fs::path& path) {
    const PathStamp stamp = LookAt(path);
    return SocketFile{.path = path, .device = stamp.device, .inode = stamp.inode};
  };
  const auto make = [](const fs::path& path) {
    const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.string().copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  };
  for (const char* name : {"socket", "other"}) make(base_ / name);
  process_->RemoveSocket(at(base_ / "other"));
  EXPECT_TRUE(fs::exists(base_ / "other"));
  const SocketFile before = at(base_ / "socket");
  fs::rename(base_ / "socket", base_ / "kept");
  make(base_ / "socket");
  process_->RemoveSocket(before);
  EXPECT_TRUE(fs::exists(base_ / "socket")) << "another server's";
  process_->RemoveSocket(at(base_ / "socket"));
  EXPECT_FALSE(fs::exists(base_ / "socket"));
  WriteText(base_ / "socket", "a file");
  process_->RemoveSocket(at(base_ / "socket"));
  EXPECT_TRUE(fs::exists(base_ / "socket"));
}

TEST_P(SpawnerTest, ItTellsWhoCommitsAndNothingElseOfTheConfiguration) {
  const auto identity = [&] {
    const auto packed = testing::Await(loop_, process_->ReadIdentity());
    GitIdentityFound found;
    EXPECT_TRUE(packed && Unpacker(*packed)(found)) << packed.error().Message();
    return found.files;
  };
  EXPECT_TRUE(identity().empty());
  WriteText(base_ / "home/.gitconfig", "[user]\n\tname = Ann\n[http]\n\textraHeader = secret\n");
  EXPECT_EQ(identity().at("config"), "[user]\n\tname = \"Ann\"\n");
  WriteText(base_ / "anonymous", "");
  ASSERT_TRUE(Reload());
  EXPECT_TRUE(identity().empty()) << "the policy does not want it";
}

TEST_P(SpawnerTest, ItLooksForAGitAtWork) {
  fs::create_directory(base_ / "bin");
  fs::copy_file("/bin/sleep", base_ / "bin/git-sleeper");
  const std::string program = base_ / "bin/git-sleeper";
  const auto told = [&](const std::vector<std::string>& directories) {
    const auto git = testing::Await(loop_, process_->GitAtWork(directories));
    EXPECT_TRUE(git) << git.error().Message();
    return git.value_or("");
  };
  const std::vector<std::string> here = {base_ / "project"};
  EXPECT_EQ(told(here), "");
  const pid_t git = fork();
  if (git == 0) {
    if (chdir(here.front().c_str()) == 0) execl(program.c_str(), "git-sleeper", "100", nullptr);
    _exit(1);
  }
  EXPECT_TRUE(testing::Eventually([&] { return told(here).starts_with("git-sleeper (process "); }));
  EXPECT_EQ(told({Outside()}), "");
  kill(git, SIGKILL);
  waitpid(git, nullptr, 0);
}

TEST_P(SpawnerTest, ItMakesTheServersDirectoriesAndRemovesEmptyOnes) {
  ASSERT_TRUE(process_->AwaitPolicy());
  EXPECT_TRUE(fs::is_directory(base_ / "state/edits"));
  End();
  EXPECT_FALSE(fs::exists(base_ / "state"));
}

TEST_P(SpawnerTest, TheServerGetsThePolicyThatBoundsItsHelpers) {
  const Result<ServerPolicy> server = process_->AwaitPolicy();
  ASSERT_TRUE(server) << server.error().Message();
  EXPECT_EQ(server->policy.roots, policy_->roots);
  EXPECT_EQ(server->policy.home, base_ / "home");
  EXPECT_EQ(server->worker, FromEnvironment("PA_WORKER"));
  EXPECT_EQ(server->tmp_base, base_ / "tmp");
}

TEST_P(SpawnerTest, AnotherPolicyIsInForceWhenItIsTaken) {
  Grant(Outside(), sandbox::kReadWrite);
  const std::string script = "cat " + (Outside() / "secret").string();
  const auto succeeds = [&] {
    runner_->Renew();
    return Shell(script).Succeeded();
  };
  EXPECT_FALSE(testing::Await(loop_, process_->TakePolicy())) << "none was read";
  EXPECT_FALSE(succeeds());
  WriteText(base_ / "wider", "");
  EXPECT_FALSE(succeeds()) << "nobody has asked";
  EXPECT_TRUE(testing::Await(loop_, process_->Reach(base_ / "project", {Outside() / ".git"})));
  EXPECT_FALSE(succeeds()) << "another question";
  const Result<ServerPolicy> read = testing::Await(loop_, process_->ReadPolicy());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->policy.filesystem.back().reason, "wider");
  EXPECT_TRUE(testing::Await(loop_, process_->Reach(base_ / "project", {Outside() / ".git"})));
  EXPECT_FALSE(succeeds()) << "it was only read";
  ASSERT_TRUE(testing::Await(loop_, process_->TakePolicy()));
  EXPECT_TRUE(succeeds());
  // As it was when it was taken.
  fs::remove(base_ / "wider");
  EXPECT_TRUE(testing::Await(loop_, process_->Reach(base_ / "project", {Outside() / ".git"})));
  EXPECT_TRUE(succeeds());
}

TEST_P(SpawnerTest, WhatCannotBeReadLeavesWhatWas) {
  ASSERT_TRUE(process_->AwaitPolicy());
  Grant(Outside(), sandbox::kReadWrite);
  WriteText(base_ / "wider", "");
  WriteText(base_ / "load", "not ok");
  const Result<bool> wrong = Reload();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().subject, "it is wrong\nvery wrong");
  EXPECT_FALSE(testing::Await(loop_, process_->TakePolicy())) << "there is nothing to take";
  WriteText(base_ / "load", "ok");
  WriteText(base_ / "unbounded", "");
  const Result<bool> unbounded = Reload();
  ASSERT_FALSE(unbounded);
  EXPECT_EQ(unbounded.error().subject, "no bounds");
  const std::string script = "cat own; cat " + (Outside() / "secret").string();
  EXPECT_FALSE(Shell(script).Succeeded());
  fs::remove(base_ / "unbounded");
  ASSERT_TRUE(Reload());
  runner_->Renew();
  EXPECT_EQ(Shell(script).out.text, "own\nsecret\n");
}

TEST_P(SpawnerTest, TheTmpdirStaysWhereItIs) {
  ASSERT_TRUE(process_->AwaitPolicy());
  WriteText(base_ / "moved", "");
  const Result<ServerPolicy> read = testing::Await(loop_, process_->ReadPolicy());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tmp_base, base_ / "elsewhere");
  ASSERT_TRUE(testing::Await(loop_, process_->TakePolicy()));
  runner_->Renew();
  const Execution run = Shell("echo x >$TMPDIR/x && cat $TMPDIR/x");
  EXPECT_EQ(run.out.text, "x\n") << run.err.text << run.failure;
}

// Who rests forgets what helpers reach, but not as long as one of them is there.
TEST_P(SpawnerTest, WhatTakesThePlaceOfARootIsReachedAfterARestToo) {
  const auto read = [&] {
    return testing::Await(loop_, Ask<Result<std::string>>(runner_->janitor(),
                                                          {.chore = testing::kTestRead,
                                                           .read = {(base_ / "project").string()}},
                                                          (base_ / "project/own").string()));
  };
  const auto replace = [&](const char* text) {
    fs::remove_all(base_ / "before");
    fs::rename(base_ / "project", base_ / "before");
    fs::create_directory(base_ / "project");
    WriteText(base_ / "project/own", text);
  };
  ASSERT_EQ(read(), "own\n");
  runner_->Rest();
  replace("first\n");
  EXPECT_EQ(read(), "first\n") << "by another janitor";
  EXPECT_EQ(Shell("cat own").out.text, "first\n");
  runner_->Rest();
  replace("second\n");
  const Execution run = Shell("cat own");
  EXPECT_EQ(run.out.text, "second\n") << run.err.text << run.failure;
  EXPECT_EQ(read(), "second\n");
}

TEST_P(SpawnerTest, WithoutItNothingRunsAndTheServerHearsOfIt) {
  EXPECT_TRUE(Shell("true").Succeeded());
  runner_->Renew();
  kill(process_->pid(), SIGKILL);
  {
    // The spawner keeps no loop running.
    TimerHandle keeps(&loop_);
    keeps.Start(std::chrono::minutes(1), [] {});
    RunLoopUntil([&] { return ends_ == 1; });
  }
  const Execution run = Shell("true");
  EXPECT_EQ(run.outcome, Outcome::kSetupFailed);
  EXPECT_FALSE(Reload());
}

// What the spawner answers whoever has the server's sockets.
class AnswersOfTheSpawner : public ::testing::Test {
 protected:
  AnswersOfTheSpawner() {
    int start[2], look[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, start), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, look), 0);
    start_.reset(start[0]);
    look_.reset(look[0]);
    const SpawnerSockets theirs{UniqueFd(start[1]), UniqueFd(look[1])};
    pid_ = fork();
    if (pid_ == 0) {
      _exit(ServeSpawner(theirs, {.policy = [] { return ServerPolicy{.worker = "/worker"}; },
                                  .bounds = [](const auto&, const auto&) { return Bounds(); }}));
    }
  }
  ~AnswersOfTheSpawner() override {
    start_.reset();
    look_.reset();
    waitpid(pid_, nullptr, 0);
  }
  static UniqueFd Ask(const UniqueFd& socket, SpawnerRequest::Kind kind) {
    const SpawnerRequest request{.kind = kind};
    SpawnerReply reply;
    EXPECT_GT(SendPacket(socket.get(), AsBytes(request), {}, MSG_NOSIGNAL), 0);
    const ReceivedPacket packet =
        ReceivePacket(socket.get(), AsWritableBytes(reply), MSG_CMSG_CLOEXEC);
    EXPECT_EQ(reply.sys_errno, 0);
    return UniqueFd(packet.count == 1 ? packet.descriptors[0] : -1);
  }

  UniqueFd start_;
  UniqueFd look_;
  pid_t pid_ = -1;
};

// By the policy in that file the spawner finds bounds.
TEST_F(AnswersOfTheSpawner, NobodyChangesAPolicyThatWasRead) {
  for (const UniqueFd* socket : {&start_, &look_}) {
    const UniqueFd policy = Ask(*socket, SpawnerRequest::Kind::kLoad);
    const Result<ServerPolicy> read = PackedIn<ServerPolicy>(policy.get(), "policy");
    ASSERT_TRUE(read) << read.error().Message();
    EXPECT_EQ(read->worker, "/worker");
    const UniqueFd again(open(ProcPath(policy.get()).c_str(), O_RDWR | O_CLOEXEC));
    for (const int file : {policy.get(), again.get()}) {
      EXPECT_EQ(pwrite(file, "x", 1, 0), -1);
      EXPECT_EQ(ftruncate(file, 0), -1);
      EXPECT_EQ(mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    }
    EXPECT_TRUE(PackedIn<ServerPolicy>(policy.get(), "policy"));
  }
  const UniqueFd other = *EmptyMemfd("other");
  EXPECT_EQ(pwrite(other.get(), "x", 1, 0), 1) << "else this shows nothing";
}

class SpawnedGit : public SpawnerTest {
 protected:
  void Git(const std::string& arguments) const {
    const auto ran = testing::RunProgram(
        {.command = {"/bin/sh", "-c",
                     "git -c user.name=A -c user.email=a@example.org " + arguments},
         .directory = Outside()});
    EXPECT_EQ(ran.exit_code, 0) << arguments << ran.errors;
  }
  std::vector<std::string> Elsewhere() {
    const auto reached = testing::Await(
        loop_, process_->Reach((base_ / "project").string(), {(Outside() / ".git").string()}));
    EXPECT_TRUE(reached) << reached.error().Message();
    return process_->elsewhere();
  }
};
INSTANTIATE_TEST_SUITE_P(Tiers, SpawnedGit, ::testing::Values(Namespaces::kOff));

// The repository of a linked worktree, which names this working tree in turn.
TEST_P(SpawnedGit, FindsTheRepositoryOfALinkedWorktree) {
  fs::remove_all(base_ / "project");
  Git("init -q . && git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m x && "
      "git worktree add -q " +
      (base_ / "project").string());
  const std::vector<std::string> paths = Elsewhere();
  EXPECT_NE(std::ranges::find(paths, (Outside() / ".git").string()), paths.end())
      << ::testing::PrintToString(paths);
  EXPECT_EQ(std::ranges::find(paths, Outside().string()), paths.end());
}

// The janitor may look at it all the same: what git would read there decides what is protected.
TEST_P(SpawnedGit, AndNoneThatDoesNotKnowOfIt) {
  Git("init -q .");
  WriteText(base_ / "project/.git", "gitdir: " + (Outside() / ".git").string() + "\n");
  Elsewhere();
  Grant(Outside(), Access::kRead);
  const std::string script = "cat " + (Outside() / ".git/HEAD").string();
  EXPECT_FALSE(Shell(script).Succeeded());
  Without();
  EXPECT_TRUE(Shell(script).Succeeded()) << "else this shows nothing";
}

}  // namespace
}  // namespace pa
