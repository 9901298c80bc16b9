// Attempts to get out of the sandbox: real programs, run by the real server, judged by the world
// outside.
//
// Three tests an attempt: it is contained, its twin inside works, and without the sandbox it
// succeeds, so that the first proves something. What tier 0 cannot stop must succeed and must be
// said by `doctor`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "tests/escapes/attempts.h"

namespace pa::testing {
namespace {

class Escape : public ::testing::TestWithParam<Attempt> {};

std::string LevelInDoctor(std::string_view protection) {
  ProgramResult doctor = RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"}});
  Json report = Json::parse(doctor.output, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return "doctor said: " + doctor.output + doctor.errors;
  for (const Json& entry : report["protections"]) {
    if (entry["name"] == protection) return entry["level"];
  }
  return "not in the report";
}

TEST_P(Escape, IsContained) {
  const Attempt& attempt = GetParam();
  World world;
  Trial run = world.Do(attempt.escape, attempt.setting, Sandbox::kOn);
  bool open = !attempt.open_in_tier0.empty() && !(attempt.closed_to_root && geteuid() == 0);
  if (!open) {
    EXPECT_FALSE(attempt.escaped(world, run)) << run.output;
  } else {
    EXPECT_TRUE(attempt.escaped(world, run)) << "contained after all: say so in the report\n"
                                             << run.output;
    EXPECT_NE(LevelInDoctor(attempt.open_in_tier0), "enforced");
  }
  EXPECT_FALSE(world.survivors()) << "processes outlived the reply\n" << run.output;
}

TEST_P(Escape, TwinWorks) {
  const Attempt& attempt = GetParam();
  World world;
  Setting setting = attempt.setting;
  setting.vector = Vector::kRecipe;
  if (!attempt.twin_policy.empty()) setting.policy = attempt.twin_policy;
  Trial run = world.Do(attempt.twin, setting, Sandbox::kOn);
  EXPECT_TRUE(run.success) << run.output;
}

TEST_P(Escape, SucceedsWithoutSandbox) {
  const Attempt& attempt = GetParam();
  World world;
  Trial run = world.Do(attempt.escape, attempt.setting, attempt.off);
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

INSTANTIATE_TEST_SUITE_P(Tier0, Escape, ::testing::ValuesIn(PossibleAttempts()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace

void PrintTo(const Attempt& attempt, std::ostream* out) { *out << attempt.name; }

}  // namespace pa::testing
