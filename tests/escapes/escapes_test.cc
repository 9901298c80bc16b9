// Attempts to get out of the sandbox: real programs, run by the real server, judged by the world
// outside.
//
// Five tests an attempt: in both tiers it is contained and its twin inside works, and without the
// sandbox it succeeds, so that the first proves something. What a tier cannot stop on this kernel
// must succeed and must be said by `doctor`. Where the kernel has no Landlock, nothing may run at
// all.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/escapes/attempts.h"
#include "tests/escapes/protections.h"
#include "tests/support/launch.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

// Which walls there are: what the kernel gives everywhere, and what namespaces add.
enum class Tier { k0, k1 };

std::string_view PolicyOf(Tier tier) {
  return tier == Tier::k0 ? "namespaces: off\n" : "namespaces: require\n";
}

// What `doctor` says where this tier is what there is: without namespaces they must be refused to
// it.
Json AskDoctor(Tier tier) {
  std::vector<std::string> command = {BuiltProgram("PA_SERVER"), "doctor", "--json"};
  if (tier == Tier::k0) {
    const std::vector<std::string> deny = {BuiltProgram("PA_DENY"), std::to_string(SYS_unshare),
                                           "0", std::to_string(CLONE_NEWUSER | CLONE_NEWNS),
                                           std::to_string(EPERM)};
    command.insert(command.begin(), deny.begin(), deny.end());
  }
  ProgramResult doctor = RunProgram({.command = std::move(command)});
  Json report = Json::parse(doctor.output, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(report.is_object()) << "doctor said: " << doctor.output << doctor.errors;
  return report;
}

// Once a tier: it cannot change meanwhile.
const Json& Doctor(Tier tier) {
  static const Json kTier0 = AskDoctor(Tier::k0);
  static const Json kTier1 = AskDoctor(Tier::k1);
  return tier == Tier::k0 ? kTier0 : kTier1;
}

bool HasNamespaces() { return Doctor(Tier::k1)["kernel"]["namespaces"] == "yes"; }
int LandlockAbi() { return Doctor(Tier::k0)["kernel"]["landlock_abi"]; }

std::string LevelInDoctor(std::string_view protection, Tier tier) {
  for (const Json& entry : Doctor(tier)["protections"]) {
    if (entry["name"] == protection) return entry["level"];
  }
  return "not in the report";
}

bool Refused(const Trial& run) {
  return run.output.find("SANDBOX_UNAVAILABLE") != std::string::npos;
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
  // There are no means against it here. Then doctor must not claim one.
  static bool IsOpen() {
    const Attempt& it = attempt();
    if (it.closed_to_root && geteuid() == 0) return false;
    return tier() == Tier::k0 ? it.open_in_tier0 || LandlockAbi() < it.open_below_abi
                              : it.open_in_tier1;
  }
};

TEST_P(Escape, IsContained) {
  World world;
  Trial run =
      world.Do(Command(attempt(), attempt().escape), In(tier(), attempt().setting), Sandbox::kOn);
  const bool escaped = attempt().escaped(world, run);
  const Proof* proof = ProofOf(attempt().name);
  ASSERT_NE(proof, nullptr) << "a line in protections.cc is missing";
  // For whoever compares the report with what was seen (tests/kernels).
  RecordProperty("tier", tier() == Tier::k0 ? "0" : "1");
  RecordProperty("protection", std::string(proof->protection));
  RecordProperty("escaped", escaped ? "yes" : "no");
  if (LandlockAbi() == 0) {
    EXPECT_FALSE(escaped) << run.output;
    EXPECT_TRUE(Refused(run)) << run.output;
  } else if (!IsOpen()) {
    EXPECT_FALSE(escaped) << run.output;
  } else {
    EXPECT_TRUE(escaped) << "contained after all: say so in the report\n" << run.output;
    EXPECT_NE(LevelInDoctor(proof->protection, tier()), "enforced");
  }
  EXPECT_FALSE(world.survivors()) << "processes outlived the reply\n" << run.output;
}

TEST_P(Escape, TwinWorks) {
  World world;
  Setting setting = attempt().setting;
  if (setting.vector != Vector::kBash) setting.vector = Vector::kRecipe;
  if (!attempt().twin_policy.empty()) setting.policy = attempt().twin_policy;
  Trial run = world.Do(Command(attempt(), attempt().twin), In(tier(), setting), Sandbox::kOn);
  EXPECT_EQ(run.success, LandlockAbi() >= attempt().twin_from_abi) << run.output;
  if (run.success && attempt().allowed) {
    EXPECT_TRUE(attempt().allowed(world, run)) << run.output;
  }
}

class Unconfined : public ::testing::TestWithParam<Attempt> {};

TEST_P(Unconfined, Succeeds) {
  const Attempt& attempt = GetParam();
  // That it can succeed is the proof. A launcher may go while it is aimed at: the server renews
  // them when anybody mounts something, as other tests do.
  constexpr int kTries = 3;
  bool escaped = false;
  std::string output;
  for (int i = 0; i < kTries && !escaped; ++i) {
    World world;
    Trial run = world.Do(Command(attempt, attempt.escape), attempt.setting, attempt.off);
    escaped = attempt.escaped(world, run);
    output += run.output;
    if (!escaped && attempt.kernel_may_lack)
      GTEST_SKIP() << attempt.name << ": this kernel was built without";
  }
  EXPECT_TRUE(escaped) << "the attempt proves nothing\n" << output;
}

std::vector<Attempt> PossibleAttempts() {
  std::vector<Attempt> all = AllAttempts();
  if (geteuid() != 0) std::erase_if(all, [](const Attempt& attempt) { return attempt.root_only; });
  return all;
}

TEST(Protections, EachHasItsAttempts) {
  ASSERT_TRUE(Doctor(Tier::k0)["protections"].is_array());
  for (const Json& entry : Doctor(Tier::k0)["protections"]) {
    const std::string name = entry["name"];
    const auto proof = std::ranges::find(Proofs(), name, &Proof::protection);
    EXPECT_NE(proof, Proofs().end()) << name << ": no attempt puts it to the test";
  }
}

TEST(Protections, EachAttemptIsOneOfThem) {
  const std::vector<Attempt> all = AllAttempts();
  std::size_t listed = 0;
  for (const Proof& proof : Proofs()) {
    listed += proof.attempts.size();
    for (std::string_view name : proof.attempts) {
      EXPECT_NE(std::ranges::find(all, name, &Attempt::name), all.end()) << name;
    }
  }
  EXPECT_EQ(listed, all.size()) << "an attempt stands nowhere or twice";
}

// Which attempts succeed is said to whoever reads SECURITY.md, for each tier, and nothing else is.
TEST(Protections, SecurityNamesEachOpenAttempt) {
  const std::string text = ReadText(BuiltProgram("PA_SECURITY"));
  const std::size_t at = text.find("### What remains without namespaces");
  ASSERT_NE(at, std::string::npos);
  std::istringstream lines(text.substr(at, text.find("\n\nWithout namespaces the", at) - at));
  const std::vector<Attempt> all = AllAttempts();
  std::map<std::string, int> named;  // attempt -> column
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string cell;
    for (int column = -1; std::getline(cells, cell, '|'); ++column) {
      if (column < 1) continue;
      std::ranges::replace_if(cell, [](unsigned char c) { return std::isalnum(c) == 0; }, ' ');
      std::istringstream words(cell);
      for (std::string word; words >> word;) {
        if (std::ranges::find(all, word, &Attempt::name) != all.end()) named[word] = column;
      }
    }
  }
  std::map<std::string, int> open;
  for (const Attempt& attempt : all) {
    if (attempt.open_in_tier1) {
      open[attempt.name] = 2;
    } else if (attempt.open_in_tier0) {
      open[attempt.name] = 1;
    }
  }
  EXPECT_EQ(named, open);
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
