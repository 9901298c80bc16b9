// One step of the worker fails: the command does not run, the error names the step.
//
// The worker of this test reads PA_FAIL_STEP, which no command's environment may hold: a script
// between supervisor and worker sets it.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

std::string FailingWorker(const Project& project, std::string_view step) {
  std::filesystem::path script = project.home() / "worker";
  WriteText(script, "#!/bin/sh\nPA_FAIL_STEP='" + std::string(step) + "' exec " +
                        BuiltProgram("PA_WORKER_FAULTS") + " \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

constexpr std::string_view kMakefile = ".PHONY: touch\ntouch:\n\t@touch ran\n";

class Fault : public ::testing::TestWithParam<const char*> {};

TEST_P(Fault, StopsTheCommandAndIsNamed) {
  Project project(kMakefile);
  McpClient client(project.Server({"--worker", FailingWorker(project, GetParam())}));
  client.Initialize();
  Json result = client.CallTool("make", {{"target", "touch"}});
  ASSERT_TRUE(result.is_object()) << client.Errors();
  EXPECT_FALSE(result["success"]);
  EXPECT_FALSE(std::filesystem::exists(project.root() / "ran"));
  std::string said = result["error"].dump() + client.Errors();
  EXPECT_NE(said.find(GetParam()), std::string::npos) << said;
  EXPECT_TRUE(client.Request("ping").contains("result"));
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(client.pid()).empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Steps, Fault,
                         ::testing::Values("close descriptors", "read spec", "decode spec",
                                           "session", "subreaper", "capabilities", "no_new_privs",
                                           "guardian scope", "spawn", "working directory", "limits",
                                           "landlock", "seccomp", "execute"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& letter : name) letter = letter == ' ' ? '_' : letter;
                           return name;
                         });

TEST(Faults, NoStepFails) {
  Project project(kMakefile);
  McpClient client(project.Server({"--worker", FailingWorker(project, "")}));
  client.Initialize();
  Json result = client.CallTool("make", {{"target", "touch"}});
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_TRUE(std::filesystem::exists(project.root() / "ran"));
}

TEST(Faults, AWorkerThatIsNotThereIsNamed) {
  Project project(kMakefile);
  McpClient client(project.Server({"--worker", "/nonexistent/worker"}));
  EXPECT_NE(client.WaitForExit(), 0);
  EXPECT_NE(client.Errors().find("/nonexistent/worker"), std::string::npos) << client.Errors();
}

}  // namespace
}  // namespace pa::testing
