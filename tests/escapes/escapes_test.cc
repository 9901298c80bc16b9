// Attempts to get out of the sandbox: real programs, run by the real server, judged by the world
// outside.
//
// Five tests an attempt: in both tiers it is contained and its twin inside works, and without the sandbox
// it succeeds, so that the first proves something. What a tier cannot stop must succeed and must be said
// by `doctor`.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <tuple>
#include <vector>

#include "tests/escapes/attempts.h"
#include "tests/support/launch.h"

namespace pa::testing {
namespace {

// Which walls there are: what the kernel gives everywhere, and what namespaces add.
enum class Tier { k0, k1 };

std::string_view PolicyOf(Tier tier) {
  return tier == Tier::k0 ? "namespaces: off\n" : "namespaces: require\n";
}

bool HasNamespaces() {
  static const bool granted = [] {
    const ProgramResult doctor =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"}});
    const Json report = Json::parse(doctor.output, nullptr, /*allow_exceptions=*/false);
    return report.is_object() && report["kernel"]["namespaces"] == "yes";
  }();
  return granted;
}

// What `doctor` says where this tier is what there is: without namespaces they must be refused to it.
std::string LevelInDoctor(std::string_view protection, Tier tier) {
  std::vector<std::string> command = {BuiltProgram("PA_SERVER"), "doctor", "--json"};
  if (tier == Tier::k0) {
    const std::vector<std::string> deny = {BuiltProgram("PA_DENY"), std::to_string(SYS_unshare),
                                           "0", std::to_string(CLONE_NEWUSER | CLONE_NEWNS),
                                           std::to_string(EPERM)};
    command.insert(command.begin(), deny.begin(), deny.end());
  }
  ProgramResult doctor = RunProgram({.command = std::move(command)});
  Json report = Json::parse(doctor.output, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return "doctor said: " + doctor.output + doctor.errors;
  for (const Json& entry : report["protections"]) {
    if (entry["name"] == protection) return entry["level"];
  }
  return "not in the report";
}

std::string Command(const Attempt& attempt, std::string_view command) {
  return std::string(attempt.before).append(command);
}

class Escape : public ::testing::TestWithParam<std::tuple<Tier, Attempt>> {
 protected:
  void SetUp() override {
    if (tier() == Tier::k1 && !HasNamespaces()) GTEST_SKIP() << "no namespaces are granted here";
  }
  static Tier tier() { return std::get<Tier>(GetParam()); }
  static const Attempt& attempt() { return std::get<Attempt>(GetParam()); }

  // The attempt's own policy, and which walls there shall be.
  static Setting In(Tier tier, Setting setting) {
    setting.policy += PolicyOf(tier);
    return setting;
  }
  static bool IsOpen() {
    const Attempt& it = attempt();
    const std::string_view open = tier() == Tier::k0 ? it.open_in_tier0 : it.open_in_tier1;
    return !open.empty() && !(it.closed_to_root && geteuid() == 0);
  }
};

TEST_P(Escape, IsContained) {
  World world;
  Trial run =
      world.Do(Command(attempt(), attempt().escape), In(tier(), attempt().setting), Sandbox::kOn);
  if (!IsOpen()) {
    EXPECT_FALSE(attempt().escaped(world, run)) << run.output;
  } else {
    EXPECT_TRUE(attempt().escaped(world, run)) << "contained after all: say so in the report\n"
                                               << run.output;
    EXPECT_NE(LevelInDoctor(attempt().open_in_tier0, tier()), "enforced");
  }
  EXPECT_FALSE(world.survivors()) << "processes outlived the reply\n" << run.output;
}

TEST_P(Escape, TwinWorks) {
  World world;
  Setting setting = attempt().setting;
  setting.vector = Vector::kRecipe;
  if (!attempt().twin_policy.empty()) setting.policy = attempt().twin_policy;
  Trial run = world.Do(Command(attempt(), attempt().twin), In(tier(), setting), Sandbox::kOn);
  EXPECT_TRUE(run.success) << run.output;
}

class Unconfined : public ::testing::TestWithParam<Attempt> {};

TEST_P(Unconfined, Succeeds) {
  const Attempt& attempt = GetParam();
  World world;
  Trial run = world.Do(Command(attempt, attempt.escape), attempt.setting, attempt.off);
  bool escaped = attempt.escaped(world, run);
  if (!escaped && attempt.kernel_may_lack)
    GTEST_SKIP() << attempt.name << ": this kernel was built without";
  EXPECT_TRUE(escaped) << "the attempt proves nothing\n" << run.output;
}

std::vector<Attempt> PossibleAttempts() {
  std::vector<Attempt> all = AllAttempts();
  if (geteuid() != 0) std::erase_if(all, [](const Attempt& attempt) { return attempt.root_only; });
  return all;
}

std::string NameOf(const ::testing::TestParamInfo<Escape::ParamType>& tested) {
  return std::get<Attempt>(tested.param).name;
}

INSTANTIATE_TEST_SUITE_P(Tier0, Escape,
                         ::testing::Combine(::testing::Values(Tier::k0),
                                            ::testing::ValuesIn(PossibleAttempts())),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Tier1, Escape,
                         ::testing::Combine(::testing::Values(Tier::k1),
                                            ::testing::ValuesIn(PossibleAttempts())),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Off, Unconfined, ::testing::ValuesIn(PossibleAttempts()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace

void PrintTo(const Attempt& attempt, std::ostream* out) { *out << attempt.name; }

}  // namespace pa::testing
