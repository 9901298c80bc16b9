#include "supervisor/mcp/server_state.h"

#include <gtest/gtest.h>

#include <set>

namespace pa {
namespace {

TEST(ServerState, InstructionsNameOnlyToolsThatAreOn) {
  const struct {
    std::string tool;
    const char* said;
  } tools[] = {{"make", " make runs "},      {"makefile_generate", "makefile_generate"},
               {"git_add", "git_add"},       {"git_commit", "git_commit"},
               {"edit", " edit changes "},   {"write", " write writes "},
               {"delete", " delete moves "}, {"bash", "bash"}};
  std::set<std::string> all;
  for (const auto& one : tools) all.insert(one.tool);
  for (const auto& [tool, said] : tools) {
    policy::Policy policy;
    policy.enabled_tools = all;
    EXPECT_TRUE(InstructionsFor(policy).contains(said)) << InstructionsFor(policy);
    EXPECT_TRUE(InstructionsFor(policy).contains("prefer make to bash"));
    policy.enabled_tools.erase(tool);
    EXPECT_FALSE(InstructionsFor(policy).contains(said)) << InstructionsFor(policy);
  }
  policy::Policy without_make;
  without_make.enabled_tools = {"bash"};
  EXPECT_FALSE(InstructionsFor(without_make).contains("prefer make"));
  for (const char* name : {"make_targets", "read shows", "glob and grep"}) {
    EXPECT_TRUE(InstructionsFor({}).contains(name)) << "they are always on";
  }
}

TEST(ServerState, InstructionsFitWhereClientsCutThem) {
  policy::Policy policy;
  policy.enable_all = true;
  EXPECT_LT(InstructionsFor(policy).size(), 2000U);
}

}  // namespace
}  // namespace pa
