// One step of the worker fails, or one system call: the command does not run, the error names it.
//
// The worker of this test reads PA_FAIL_STEP, which no command's environment may hold: a script
// between supervisor and worker sets it.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/run_program.h"

namespace pa::testing {
namespace {

std::string FailingWorker(const Project& project, std::string_view step) {
  std::filesystem::path script = project.home() / "worker";
  WriteText(script, "#!/bin/sh\nPA_FAIL_STEP='" + std::string(step) + "' exec " +
                        BuiltProgram("PA_WORKER_FAULTS") + " \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

constexpr std::string_view kFaultsMakefile = ".PHONY: touch\ntouch:\n\t@touch ran\n";

class Fault : public ::testing::TestWithParam<const char*> {};

TEST_P(Fault, StopsTheCommandAndIsNamed) {
  Project project(kFaultsMakefile);
  McpClient client(project.Server({"--worker", FailingWorker(project, GetParam())}));
  client.Initialize();
  Json result = client.CallTool("make", {{"target", "touch"}});
  ASSERT_TRUE(result.is_object()) << client.Errors();
  EXPECT_FALSE(result["success"]);
  EXPECT_FALSE(std::filesystem::exists(project.root() / "ran"));
  std::string said = result["error"].dump() + client.Errors();
  EXPECT_NE(said.find(GetParam()), std::string::npos) << said;
  EXPECT_TRUE(client.Request("ping").contains("result"));
  EXPECT_TRUE(Eventually([&] { return WorkersOf(client.pid()).empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Steps, Fault,
                         ::testing::Values("close descriptors", "read spec", "decode spec",
                                           "session", "undumpable", "subreaper", "capabilities",
                                           "no_new_privs", "guardian scope", "spawn",
                                           "working directory", "mounts", "limits", "landlock",
                                           "seccomp", "execute"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& letter : name) letter = letter == ' ' ? '_' : letter;
                           return name;
                         });

TEST(Faults, NoStepFails) {
  Project project(kFaultsMakefile);
  McpClient client(project.Server({"--worker", FailingWorker(project, "")}));
  client.Initialize();
  Json result = client.CallTool("make", {{"target", "touch"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_TRUE(std::filesystem::exists(project.root() / "ran"));
}

// Server and worker see no more of Landlock than `abi`; 0: as on a kernel without.
ServerOptions SeesLandlock(const Project& project, const char* abi, std::string_view policy) {
  const auto script = [&](const char* name, const char* program) {
    const std::filesystem::path path = project.home() / name;
    WriteText(path, std::string("#!/bin/sh\nPA_LANDLOCK_ABI=") + abi + " exec " +
                        BuiltProgram(program) + " \"$@\"\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  };
  WriteText(project.home() / "policy.yaml", "version: 1\n" + std::string(policy));
  ServerOptions options = project.Server({"--policy", project.home() / "policy.yaml", "--worker",
                                          script("worker", "PA_WORKER_FAULTS")});
  options.command = {script("server", "PA_SERVER_MASKED"), "serve"};
  return options;
}

TEST(Faults, WithoutLandlockNothingRunsAndTheUserIsTold) {
  for (const std::string_view policy : {"namespaces: off\n", "namespaces: auto\n"}) {
    Project project(kFaultsMakefile);
    McpClient old(SeesLandlock(project, "0", policy));
    old.Initialize();
    const Json refused = old.CallTool("make", {{"target", "touch"}});
    EXPECT_EQ(refused["error"]["code"], "SANDBOX_UNAVAILABLE") << policy << refused;
    EXPECT_TRUE(refused.dump().contains("landlock")) << refused;
    EXPECT_FALSE(std::filesystem::exists(project.root() / "ran"));
    project.InitGit();
    const Json added = old.CallTool("git_add", {{"paths", {"Makefile"}}});
    EXPECT_EQ(added["error"]["code"], "SANDBOX_UNAVAILABLE") << policy << added;
    McpClient later(SeesLandlock(project, "3", policy));
    later.Initialize();
    EXPECT_TRUE(later.CallTool("make", {{"target", "touch"}})["success"]) << policy;
    EXPECT_TRUE(std::filesystem::exists(project.root() / "ran"));
    EXPECT_TRUE(later.CallTool("git_add", {{"paths", {"Makefile"}}})["success"]) << policy;
  }
}

// The kernel itself refuses one system call, to the worker or to the server.
struct Refusal {
  const char* name;
  enum { kWorker, kServer } to;
  long call;
  int argument;
  unsigned value;  // of that argument
  int error;
  const char* named;  // in what the client is told
  const char* policy = "namespaces: off\n";
  bool root_alone = false;  // only root's worker makes this call
};

std::vector<std::string> Denied(const Refusal& refusal, const std::string& program) {
  return {BuiltProgram("PA_DENY"),          std::to_string(refusal.call),
          std::to_string(refusal.argument), std::to_string(refusal.value),
          std::to_string(refusal.error),    program};
}

ServerOptions ServerWith(const Project& project, const Refusal& refusal) {
  WriteText(project.home() / "policy.yaml", std::string("version: 1\n") + refusal.policy);
  const std::vector<std::string> policy = {"--policy", project.home() / "policy.yaml"};
  if (refusal.to == Refusal::kServer) {
    ServerOptions options = project.Server();
    options.command = Denied(refusal, BuiltProgram("PA_SERVER"));
    options.command.emplace_back("serve");
    options.command.insert(options.command.end(), policy.begin(), policy.end());
    return options;
  }
  std::string script = "#!/bin/sh\nexec";
  for (const std::string& word : Denied(refusal, BuiltProgram("PA_WORKER"))) script += " " + word;
  WriteText(project.home() / "worker", script + " \"$@\"\n");
  std::filesystem::permissions(project.home() / "worker", std::filesystem::perms::owner_all);
  return project.Server({"--worker", project.home() / "worker", policy[0], policy[1]});
}

class RefusedByTheKernel : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedByTheKernel, NothingRunsAndTheCallIsNamed) {
  const Project project(kFaultsMakefile);
  McpClient client(ServerWith(project, GetParam()));
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "touch"}});
  if (GetParam().root_alone && geteuid() != 0) {
    EXPECT_TRUE(result["success"]) << "nobody else's worker makes this call: " << result;
    EXPECT_TRUE(std::filesystem::exists(project.root() / "ran"));
    return;
  }
  EXPECT_FALSE(result["success"]) << result;
  EXPECT_FALSE(std::filesystem::exists(project.root() / "ran"));
  const std::string said = result["error"].dump() + client.Errors();
  EXPECT_NE(said.find(GetParam().named), std::string::npos) << said;
  EXPECT_TRUE(client.Request("ping").contains("result"));
  EXPECT_TRUE(Eventually([&] { return WorkersOf(client.pid()).empty(); }));
}

constexpr const char* kRequire = "namespaces: require\n";

constexpr Refusal kRefusals[] = {
    {"Landlock", Refusal::kWorker, SYS_landlock_restrict_self, 1, 0, EPERM,
     "landlock_restrict_self"},
    {"LandlockVersion", Refusal::kWorker, SYS_landlock_create_ruleset, 2, 1, ENOSYS, "landlock"},
    {"Seccomp", Refusal::kWorker, SYS_seccomp, 0, SECCOMP_SET_MODE_FILTER, EPERM, "seccomp"},
    {"NoNewPrivs", Refusal::kWorker, SYS_prctl, 0, PR_SET_NO_NEW_PRIVS, EPERM, "no_new_privs"},
    {"Subreaper", Refusal::kWorker, SYS_prctl, 0, PR_SET_CHILD_SUBREAPER, EPERM, "subreaper"},
    {"Clone", Refusal::kWorker, SYS_clone, 0, CLONE_VM | CLONE_VFORK | SIGCHLD, EAGAIN, "clone"},
    {"CloseRange", Refusal::kWorker, SYS_close_range, 0, 0, EPERM, "close descriptors"},
    {"Fork", Refusal::kWorker, SYS_clone, 0, CLONE_PARENT | SIGCHLD, EAGAIN, "clone"},
    {"RlimitCore", Refusal::kWorker, SYS_prlimit64, 1, RLIMIT_CORE, EPERM, "RLIMIT_CORE"},
    {"RlimitCpu", Refusal::kWorker, SYS_prlimit64, 1, RLIMIT_CPU, EPERM, "RLIMIT_CPU"},
    {"RlimitNofile", Refusal::kWorker, SYS_prlimit64, 1, RLIMIT_NOFILE, EPERM, "RLIMIT_NOFILE"},
    {"RlimitFsize", Refusal::kWorker, SYS_prlimit64, 1, RLIMIT_FSIZE, EPERM, "RLIMIT_FSIZE"},
    {"RlimitNproc", Refusal::kWorker, SYS_prlimit64, 1, RLIMIT_NPROC, EPERM, "RLIMIT_NPROC"},
    {"Memfd", Refusal::kServer, SYS_memfd_create, 1, MFD_CLOEXEC | MFD_ALLOW_SEALING | 8, EMFILE,
     "memfd_create"},
    {"Spawn", Refusal::kServer, SYS_clone, 0, CLONE_PARENT | SIGCHLD, EAGAIN, "clone"},
    {"UserNamespace", Refusal::kWorker, SYS_unshare, 0, CLONE_NEWUSER | CLONE_NEWNS, EPERM,
     "unshare", kRequire},
    {"TreeOfMounts", Refusal::kWorker, SYS_open_tree, 2, 0x89001, EPERM, "open_tree", kRequire},
    {"MountAttributes", Refusal::kWorker, SYS_mount_setattr, 2, 0x9000, EPERM, "mount_setattr",
     kRequire},
    {"DetachOldRoot", Refusal::kWorker, SYS_umount2, 1, 2, EPERM, "the old root", kRequire},
    {"OwnProc", Refusal::kWorker, SYS_fsmount, 2, 0xf, EPERM, "fsmount", kRequire},
    {.name = "CoverOfProc",
     .to = Refusal::kWorker,
     .call = SYS_mount,
     .argument = 3,
     .value = MS_BIND,
     .error = EPERM,
     .named = "a cover in /proc",
     .policy = kRequire,
     .root_alone = true},
    {"NamespacesOfAWorker", Refusal::kWorker, SYS_clone, 0,
     CLONE_PARENT | SIGCHLD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
         CLONE_NEWNET,
     ENOSPC, "clone", kRequire},
};

INSTANTIATE_TEST_SUITE_P(Calls, RefusedByTheKernel, ::testing::ValuesIn(kRefusals),
                         [](const auto& tested) { return std::string(tested.param.name); });

// What the machine or the user has none left of: the code says that it passes, the message what it
// is.
constexpr Refusal kShortages[] = {
    {"SpecEnfile", Refusal::kServer, SYS_memfd_create, 1, MFD_CLOEXEC | MFD_ALLOW_SEALING | 8,
     ENFILE, "ENFILE (Too many open files in system)"},
    {"SpecEnomem", Refusal::kServer, SYS_memfd_create, 1, MFD_CLOEXEC | MFD_ALLOW_SEALING | 8,
     ENOMEM, "ENOMEM (Cannot allocate memory)"},
    {"LauncherEagain", Refusal::kServer, SYS_clone, 0, CLONE_PARENT | SIGCHLD, EAGAIN,
     "EAGAIN (Resource temporarily unavailable)"},
    {"CommandEagain", Refusal::kWorker, SYS_clone, 0, CLONE_VM | CLONE_VFORK | SIGCHLD, EAGAIN,
     "EAGAIN (Resource temporarily unavailable)"},
    {"LandlockEnomem", Refusal::kWorker, SYS_landlock_restrict_self, 1, 0, ENOMEM,
     "ENOMEM (Cannot allocate memory)"},
    {"TmpdirEdquot", Refusal::kServer, SYS_mkdirat, 2, 0700, EDQUOT,
     "EDQUOT (Disk quota exceeded)"},
};

class UsedUp : public ::testing::TestWithParam<Refusal> {};

TEST_P(UsedUp, NothingRunsAndTheCauseIsNamed) {
  const Project project(kFaultsMakefile);
  McpClient client(ServerWith(project, GetParam()));
  client.Initialize();
  const Json error = client.CallTool("make", {{"target", "touch"}})["error"];
  EXPECT_FALSE(std::filesystem::exists(project.root() / "ran"));
  EXPECT_EQ(error.value("code", ""), GetParam().error == EDQUOT ? "FILE_IO" : "BUSY") << error;
  EXPECT_NE(error.value("message", "").find(GetParam().named), std::string::npos) << error;
  EXPECT_TRUE(client.Request("ping").contains("result"));
}

INSTANTIATE_TEST_SUITE_P(Calls, UsedUp, ::testing::ValuesIn(kShortages),
                         [](const auto& tested) { return std::string(tested.param.name); });

// It could start nothing any more. Whoever waits is answered.
TEST(Faults, AServerWhoseSpawnerIsKilledEnds) {
  const Project project(".PHONY: wait\nwait:\n\t@touch begun; sleep 1000\n");
  McpClient client(project.Server());
  client.Initialize();
  const int call = client.StartTool("make", {{"target", "wait"}});
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(project.root() / "begun"); }));
  std::vector<pid_t> spawners = ChildrenOf(client.pid());
  std::erase_if(spawners, [](pid_t pid) {
    return ReadText("/proc/" + std::to_string(pid) + "/comm") != "pa-spawner\n";
  });
  ASSERT_EQ(spawners.size(), 1u);
  kill(spawners.front(), SIGKILL);
  const Json answer = client.Await(call);
  EXPECT_TRUE(answer.contains("result") || answer.contains("error")) << answer;
  client.WaitForExit();
  EXPECT_NE(client.Errors().find("the process that starts commands has ended"), std::string::npos)
      << client.Errors();
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(project.root()).empty(); }));
}

// Nobody would start anything for it.
TEST(Faults, AServerWithoutSpawnerOrConfinementDoesNotStart) {
  const Project project(kFaultsMakefile);
  constexpr auto kServer = Refusal::kServer;
  for (const Refusal& refusal :
       {Refusal{"", kServer, SYS_socketpair, 1, SOCK_SEQPACKET | SOCK_CLOEXEC, EMFILE,
                "socketpair \"spawner\""},
        Refusal{"", kServer, SYS_landlock_add_rule, 1, 1, EPERM, "landlock_add_rule"},
        Refusal{"", kServer, SYS_landlock_restrict_self, 1, 0, EPERM, "landlock_restrict_self"},
        Refusal{"", kServer, SYS_acct, 0, 0, EPERM, ""}}) {
    const ServerOptions options = ServerWith(project, refusal);
    const ProgramResult ended = RunProgram({.command = options.command,
                                            .environment = {"HOME=" + project.home().string()},
                                            .directory = project.root()});
    EXPECT_EQ(ended.exit_code, *refusal.named == '\0' ? 0 : 1) << ended.errors;
    EXPECT_TRUE(ended.errors.contains(refusal.named)) << ended.errors;
  }
}

// Open without namespaces (SECURITY.md): nobody is left who would end the tree. They are stopped
// first, so that none sees another one end.
class KilledTogether : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledTogether, LeavesDescendantsOnlyWithoutNamespaces) {
  const bool namespaces = std::string_view(GetParam()) == "require";
  if (namespaces && !NamespacesAreGranted()) GTEST_SKIP() << "no namespaces are granted here";
  const Project project(".PHONY: slow\nslow:\n\t@sh -c 'sleep 34719 & wait'\n");
  WriteText(project.home() / "policy.yaml",
            std::string("version: 1\nnamespaces: ") + GetParam() + "\n");
  McpClient client(project.Server({"--policy", project.home() / "policy.yaml"}));
  client.Initialize();
  client.StartTool("make", {{"target", "slow"}});
  const auto sleepers = [] { return ProcessesWith("sleep 34719"); };
  ASSERT_TRUE(Eventually([&] { return !sleepers().empty(); })) << client.Errors();
  std::vector<pid_t> all = ChildrenOf(client.pid());
  all.insert(all.begin(), client.pid());
  for (const int signal : {SIGSTOP, SIGKILL}) {
    for (const pid_t pid : all) kill(pid, signal);
  }
  EXPECT_TRUE(client.WaitForExit());
  if (namespaces) {
    EXPECT_TRUE(Eventually([&] { return sleepers().empty(); }));
    return;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(sleepers().empty()) << "contained after all: say so in SECURITY.md";
  for (const pid_t pid : sleepers()) kill(pid, SIGKILL);
}

INSTANTIATE_TEST_SUITE_P(Tiers, KilledTogether, ::testing::Values("off", "require"),
                         [](const auto& tier) { return std::string(tier.param); });

TEST(Faults, ARefusalOfAnotherCallIsNone) {
  for (const auto to : {Refusal::kWorker, Refusal::kServer}) {
    const Project project(kFaultsMakefile);
    McpClient client(ServerWith(project, {"", to, SYS_acct, 0, 0, EPERM, ""}));
    client.Initialize();
    const Json result = client.CallTool("make", {{"target", "touch"}});
    EXPECT_TRUE(result["success"]) << result;
    EXPECT_TRUE(std::filesystem::exists(project.root() / "ran"));
  }
}

// What is refused before there is an order says that namespaces are not to be had; then the other
// walls hold, if the policy can do without.
TEST(Faults, WithoutNamespacesTheOtherWallsHoldAndTheLogSaysSo) {
  const Refusal refusal{"", Refusal::kWorker,    SYS_unshare, 0, CLONE_NEWUSER | CLONE_NEWNS, EPERM,
                        "", "namespaces: auto\n"};
  const Project project(kFaultsMakefile);
  McpClient client(ServerWith(project, refusal));
  client.Initialize();
  const Json result = client.CallTool("make", {{"target", "touch"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_TRUE(std::filesystem::exists(project.root() / "ran"));
  EXPECT_NE(client.Errors().find("namespaces are not granted here"), std::string::npos)
      << client.Errors();
}

// One launcher for all of them, which is not ready, and one that is. A new policy is probed anew.
TEST(Faults, WithoutNamespacesCallsThatComeTogetherSucceedToo) {
  const Refusal refusal{"", Refusal::kWorker,    SYS_unshare, 0, CLONE_NEWUSER | CLONE_NEWNS, EPERM,
                        "", "namespaces: auto\n"};
  const Project project(kFaultsMakefile);
  for (int server = 0; server < 3; ++server) {
    McpClient client(ServerWith(project, refusal));
    client.Initialize();
    for (int policy = 0; policy < 3; ++policy) {
      std::vector<int> calls;
      for (int i = 0; i < 4; ++i) calls.push_back(client.StartTool("bash", {{"command", "true"}}));
      for (const int call : calls) {
        const Json result = client.Await(call)["result"]["structuredContent"];
        EXPECT_TRUE(result["success"]) << result << client.Errors();
      }
      client.Signal(SIGHUP);
    }
  }
}

TEST(Faults, AWorkerThatIsNotThereIsNamed) {
  Project project(kFaultsMakefile);
  McpClient client(project.Server({"--worker", "/nonexistent/worker"}));
  EXPECT_NE(client.WaitForExit(), 0);
  EXPECT_NE(client.Errors().find("/nonexistent/worker"), std::string::npos) << client.Errors();
}

}  // namespace
}  // namespace pa::testing
