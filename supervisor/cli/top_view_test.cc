#include "supervisor/cli/top_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <string_view>

#include "base/words.h"

namespace pa {
namespace {

constexpr std::chrono::system_clock::time_point kAt{std::chrono::seconds(1'800'000'000)};

// A server that began a hundred seconds before, with so many calls of make.
ServerStatus Server(int succeeded, int denied) {
  CallCounts counts;
  for (int i = 0; i < succeeded; ++i) {
    counts.Add("make", kCallSucceeded, std::chrono::milliseconds(3));
  }
  for (int i = 0; i < denied; ++i)
    counts.Add("make", "POLICY_DENIED", std::chrono::milliseconds(1));
  return {.started = 1'800'000'000 - 100, .memory = 11U << 20, .calls = 3, .tools = counts.tools()};
}

std::vector<std::string> Lines(const std::string& frame) {
  std::vector<std::string> lines;
  for (const std::string_view line : SplitWords(frame, "\n")) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string_view word : SplitWords(line, " ")) words.emplace_back(word);
  return words;
}

TEST(TopView, AtFirstSinceEachServerBegan) {
  const TopSnapshot now{
      .at = kAt,
      .servers = {{"ann", Server(40, 10)}, {"bob", std::nullopt}},
      .front_door = FrontDoorStatus{.tenants = 2, .answers = {{200, 5}, {401, 2}}}};
  const std::vector<std::string> lines = Lines(TopFrame(now, nullptr, {.width = 200}));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "08:00:00 UTC; servers: 2, running: 1; front door: 7 requests, 2 refused");
  EXPECT_EQ(Words(lines[1]),
            (std::vector<std::string>{"SERVER", "CALL/S", "FAIL/S", "OPEN", "RUN", "WAIT", "JOBS",
                                      "SESS", "CONN", "CPU%", "MEMORY"}));
  EXPECT_EQ(Words(lines[2]), (std::vector<std::string>{"ann", "0.5", "0.1", "3", "0", "0", "0", "0",
                                                       "0", "0", "11.0M"}));
  EXPECT_LE(lines[2].size(), 80u);
  EXPECT_EQ(lines[3], "bob            does not run: a request starts it");
  EXPECT_EQ(Words(lines[5]),
            (std::vector<std::string>{"ann", "make", "POLICY_DENIED", "0.1", "10"}));
}

TEST(TopView, ThenSinceTheLastLook) {
  const TopSnapshot before{.at = kAt - std::chrono::seconds(2),
                           .servers = {{"ann", Server(40, 10)}},
                           .front_door = FrontDoorStatus{.answers = {{200, 5}}}};
  TopSnapshot now{.at = kAt,
                  .servers = {{"ann", Server(41, 12)}},
                  .front_door = FrontDoorStatus{.answers = {{200, 9}, {401, 1}}}};
  now.servers.front().status->cpu_us = 1'000'000;
  const std::vector<std::string> lines = Lines(TopFrame(now, &before, {.width = 200}));
  EXPECT_TRUE(lines[0].ends_with("front door: 2.5 requests a second, 0.5 refused")) << lines[0];
  const std::vector<std::string> row = Words(lines[2]);
  EXPECT_EQ(row[1], "1.5");
  EXPECT_EQ(row[2], "1.0");
  EXPECT_EQ(row[9], "50");
  EXPECT_EQ(Words(lines.back())[3], "1.0");
}

// The server ended in between: the counts of the next one are fewer.
TEST(TopView, AServerThatBeganAnewHasNoRatesBelowZero) {
  const TopSnapshot before{
      .at = kAt - std::chrono::seconds(2), .servers = {{"ann", Server(500, 0)}}, .front_door = {}};
  TopSnapshot now{.at = kAt, .servers = {{"ann", Server(10, 0)}}, .front_door = {}};
  now.servers.front().status->started += 90;
  EXPECT_EQ(Words(Lines(TopFrame(now, &before, {.width = 200}))[2])[1], "1.0");
  // The clock of the machine was set back.
  now.at = kAt - std::chrono::hours(1);
  EXPECT_EQ(Lines(TopFrame(now, &before, {.width = 200})).size(), 3u);
}

// A server says what it likes of itself.
TEST(TopView, NoServerHidesTheFailuresOfOthers) {
  ServerStatus hostile = Server(0, 0);
  for (int i = 0; i < 40; ++i)
    hostile.tools["made_up"].outcomes["CODE_" + std::to_string(i)] = 1'000'000'000'000U;
  hostile.started = std::numeric_limits<std::int64_t>::max();
  const TopSnapshot now{
      .at = kAt, .servers = {{"ann", Server(4, 1)}, {"bob", hostile}}, .front_door = {}};
  const std::string frame = TopFrame(now, nullptr, {.width = 200});
  EXPECT_TRUE(Words(Lines(frame).back())[0] == "ann") << frame;
  EXPECT_EQ(Lines(frame).size(), 9u) << frame;  // three of bob
}

TEST(TopView, ServersThatWaitGiveWayToTheHeight) {
  TopSnapshot now{.at = kAt, .servers = {}, .front_door = {}};
  for (int i = 0; i < 30; ++i) now.servers.push_back({"idle" + std::to_string(i), std::nullopt});
  now.servers.push_back({"zoe", Server(4, 1)});
  const std::vector<std::string> lines =
      Lines(TopFrame(now, nullptr, {.width = 200, .height = 24}));
  EXPECT_EQ(lines.size(), 22u);  // and two that are empty
  EXPECT_EQ(Words(lines[2])[0], "zoe");
  EXPECT_EQ(lines[19], "and 14 more: top --once shows all");
  EXPECT_EQ(Words(lines.back())[0], "zoe");
  EXPECT_EQ(Lines(TopFrame(now, nullptr, {.width = 200})).size(), 35u);
}

TEST(TopView, NothingOfOthersReachesTheTerminal) {
  const TopSnapshot now{.at = kAt,
                        .servers = {{"a\x1b[2J\nb", std::nullopt, "x\x1b]0;t\a\r"},
                                    {"name-of-a-server-that-is-long", std::nullopt}},
                        .front_door = {}};
  const std::string frame = TopFrame(now, nullptr, {.width = 60});
  for (const char c : frame) EXPECT_TRUE(c == '\n' || (c != '\x7f' && (c >= ' ' || c < 0))) << +c;
  EXPECT_EQ(Lines(frame).size(), 4u);
  for (const std::string& line : Lines(frame)) EXPECT_LE(line.size(), 64u) << line;
}

}  // namespace
}  // namespace pa
