// Many calls with random cancels and kills; afterwards nothing may have grown. `make soak` runs
// 10,000.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/sanitizers.h"

namespace pa::testing {
namespace {

constexpr std::string_view kSoakMakefile = R"(.PHONY: quick noisy daemon slow tmp
quick:
	@echo hi
noisy:
	@head -c 300000 /dev/zero | tr '\0' x
daemon:
	@setsid sleep 30 & echo left one behind
slow:
	@sleep 30
tmp:
	@mkdir -p $$TMPDIR/a/b && echo x >$$TMPDIR/a/b/c
)";

// AddressSanitizer keeps freed memory in quarantine and every stack that allocated; the plain build
// holds the server to its own growth.
constexpr std::size_t kResidentSlackKib = kAddressSanitizer ? 64U << 10 : 4U << 10;

struct Footprint {
  std::size_t descriptors;
  std::size_t resident_kib;
  std::size_t children;
  std::size_t temporary;
};

class Soak : public ::testing::Test {
 protected:
  Project project_{kSoakMakefile};
  TempDir temporary_;
  McpClient client_{Options()};
  std::mt19937 random_{20261121};

  ServerOptions Options() {
    ServerOptions options = project_.Server();
    options.environment.push_back("TMPDIR=" + temporary_.path().string());
    return options;
  }
  int Roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }

  std::size_t TemporaryEntries() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::recursive_directory_iterator(temporary_.path())) {
      ++count;
    }
    return count;
  }
  Footprint Measure() {
    // Guardians end a moment after their reply; children that are slower are what we look for.
    Eventually([&] { return WorkersOf(client_.pid()).empty(); });
    return {OpenDescriptors(client_.pid()), ResidentKib(client_.pid()),
            WorkersOf(client_.pid()).size(), TemporaryEntries()};
  }
  // One call, left in flight; cancelled or its worker killed at random.
  void StartOne(std::deque<int>& in_flight) {
    static constexpr const char* kTargets[] = {"quick",  "quick", "quick", "noisy",
                                               "daemon", "tmp",   "slow"};
    const char* target = kTargets[Roll(7)];
    Json arguments = {{"target", target}};
    if (target == std::string_view("slow")) arguments["timeout_ms"] = 1 + Roll(40);
    int id = client_.StartTool("make", std::move(arguments), {{"progressToken", Roll(1000)}});
    if (Roll(10) == 0) {
      client_.Notify("notifications/cancelled", {{"requestId", id}});
      return;  // no reply
    }
    in_flight.push_back(id);
    if (Roll(25) != 0) return;
    std::vector<pid_t> children = HelpersOf(client_.pid());  // workers, and sometimes a launcher
    if (!children.empty())
      kill(children[static_cast<std::size_t>(Roll(static_cast<int>(children.size())))], SIGKILL);
  }
  void Calls(int count) {
    std::deque<int> in_flight;
    for (int i = 0; i < count; ++i) {
      StartOne(in_flight);
      while (in_flight.size() > 6) {
        ASSERT_FALSE(client_.Await(in_flight.front()).is_null()) << client_.Errors();
        in_flight.pop_front();
      }
      client_.notifications().clear();
    }
    for (int id : in_flight) ASSERT_FALSE(client_.Await(id).is_null()) << client_.Errors();
  }
  // What the server keeps for calls to come follows those that were: workers that wait, prepared
  // rulesets, and the last 128 long outputs, a descriptor each. After these calls it is the same
  // always.
  void Settle() {
    for (int i = 0; i < 130; ++i) client_.CallTool("make", {{"target", "noisy"}});
  }
};

TEST_F(Soak, NothingGrows) {
  const char* wanted = getenv("PA_SOAK_CALLS");
  int calls = wanted != nullptr ? std::stoi(wanted) : 300;
  client_.Initialize();
  Calls(100);
  Settle();
  Footprint before = Measure();
  Calls(calls);
  Settle();
  Footprint after = Measure();
  EXPECT_LE(after.descriptors, before.descriptors + 4);
  EXPECT_LE(after.resident_kib, before.resident_kib + kResidentSlackKib);
  EXPECT_EQ(after.children, 0U);
  EXPECT_LE(after.temporary, before.temporary + 8);  // four slots, of two directories each
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(project_.root()).empty(); }));
  client_.CloseInput();
  ASSERT_TRUE(client_.WaitForExit());
  EXPECT_EQ(TemporaryEntries(), 0U) << "nothing is left when the server has ended";
}

}  // namespace
}  // namespace pa::testing
