#include "sandbox/syscall_sets.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>

namespace pa::sandbox {
namespace {

TEST(SyscallSets, EveryRuleIsWhole) {
  for (int abi = 0; abi <= 10; ++abi) {
    for (const SyscallRule& rule : RefusedSyscalls(SeccompProfile::kBuild, Network::kFull, abi)) {
      EXPECT_GT(rule.error, 0) << rule.name;
      EXPECT_FALSE(std::string_view(rule.reason).empty()) << rule.name;
      EXPECT_LT(rule.first.arg, 6u) << rule.name;
      if (rule.first.op == ArgTest::Op::kNone) {
        EXPECT_EQ(rule.second.op, ArgTest::Op::kNone) << rule.name;
      }
    }
  }
}

// A rule that refuses a call always would hide one that refuses it sometimes, with another errno.
TEST(SyscallSets, ARefusedCallHasOneRule) {
  std::map<std::string_view, int> rules;
  std::set<std::string_view> always;
  for (const SyscallRule& rule : RefusedSyscalls(SeccompProfile::kBuild, Network::kFull, 0)) {
    ++rules[rule.name];
    if (rule.first.op == ArgTest::Op::kNone) always.insert(rule.name);
  }
  for (const std::string_view name : always) EXPECT_EQ(rules[name], 1) << name;
}

TEST(SyscallSets, ANewerLandlockTakesOver) {
  const auto refuses = [](int abi, std::string_view name) {
    for (const SyscallRule& rule : RefusedSyscalls(SeccompProfile::kBuild, Network::kNone, abi)) {
      if (rule.name == name) return true;
    }
    return false;
  };
  EXPECT_TRUE(refuses(0, "ptrace"));
  EXPECT_FALSE(refuses(1, "ptrace"));
  EXPECT_TRUE(refuses(2, "truncate"));
  EXPECT_FALSE(refuses(3, "truncate"));
  EXPECT_TRUE(refuses(5, "kill"));
  EXPECT_FALSE(refuses(6, "kill"));
}

}  // namespace
}  // namespace pa::sandbox
