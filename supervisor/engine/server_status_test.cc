#include "supervisor/engine/server_status.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/fake_world.h"

namespace pa {
namespace {

ServerStatus Example() {
  CallCounts counts;
  counts.Add("make", kCallSucceeded, std::chrono::milliseconds(3));
  counts.Add("make", "TIMED_OUT", std::chrono::minutes(20));
  counts.Add("read", kCallSucceeded, std::chrono::microseconds(400));
  return {.started = 1'800'000'000,
          .cpu_us = 1'500'000,
          .commands_cpu_us = 250'000,
          .memory = 4096,
          .open_files = 12,
          .connections = 3,
          .sessions = 2,
          .calls = 5,
          .running = 4,
          .waiting = 1,
          .jobs = 1,
          .results = 7,
          .result_bytes = 1 << 20,
          .tools = counts.tools()};
}

TEST(ServerStatus, WrittenAndReadItIsTheSame) {
  for (const ServerStatus& status : {Example(), ServerStatus{}}) {
    const Result<ServerStatus> read = ParseStatus(FormatStatus(status));
    ASSERT_TRUE(read) << read.error().Message();
    EXPECT_EQ(*read, status);
  }
  EXPECT_EQ(Example().ended(), 3u);
  EXPECT_EQ(Example().failed(), 1u);
}

// A tenant may have put another program in place of the server.
TEST(ServerStatus, WhatNoServerWritesIsRefused) {
  const std::string good = FormatStatus(Example());
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string text = good;
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), other);
  };
  std::string many = "{";
  for (int i = 0; i < 65; ++i) many += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\":1";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), with("\"memory\":4096", "\"m\":4096"),
        with("4096", "-1"), with("4096", "\"4096\""), with("4096", "1e99"),
        with("\"make\":", "\"ma\\u001bke\":"), with("\"make\":", "\"\":"),
        with("\"make\":", "\"" + std::string(65, 'm') + "\":"), with("\"TIMED_OUT\":1", many + "}"),
        with("\"TIMED_OUT\":1", "\"TIMED_OUT\":null"), with("\"times\":[", "\"times\":[1,"),
        with("\"times\":[", "\"time\":["), with("\"total_time_us\":", "\"total\":"),
        with("\"tools\":{", "\"tools\":{\"x\":[],"), good + std::string(kMaxStatusBytes, ' ')}) {
    EXPECT_FALSE(ParseStatus(text)) << text.substr(0, 400);
  }
}

TEST(ServerStatus, AsMetricsOfSeveralServers) {
  ServerStatus other = Example();
  other.memory = 8192;
  OpenMetrics metrics;
  AddMetrics(metrics, {{{{"tenant", "ann"}}, Example()}, {{{"tenant", "b\"ob"}}, other}});
  const std::string text = std::move(metrics).Take();
  const auto has = [&](const std::string& part) { return text.contains(part + "\n"); };
  EXPECT_TRUE(has(
      "# UNIT project_actions_server_resident_memory_bytes bytes\n"
      "# HELP project_actions_server_resident_memory_bytes Resident memory of the server itself.\n"
      "project_actions_server_resident_memory_bytes{tenant=\"ann\"} 4096\n"
      "project_actions_server_resident_memory_bytes{tenant=\"b\\\"ob\"} 8192"));
  EXPECT_TRUE(has("project_actions_server_cpu_seconds_total{tenant=\"ann\"} 1.5"));
  EXPECT_TRUE(has("project_actions_server_start_time_seconds{tenant=\"ann\"} 1800000000"));
  EXPECT_TRUE(
      has("project_actions_calls_total{tenant=\"ann\",tool=\"make\",outcome=\"TIMED_OUT\"} 1"));
  EXPECT_TRUE(
      has("project_actions_call_seconds_bucket{tenant=\"ann\",tool=\"make\",le=\"0.001\"} 0\n"
          "project_actions_call_seconds_bucket{tenant=\"ann\",tool=\"make\",le=\"0.005\"} 1"));
  EXPECT_TRUE(
      has("project_actions_call_seconds_bucket{tenant=\"ann\",tool=\"make\",le=\"600\"} 1\n"
          "project_actions_call_seconds_bucket{tenant=\"ann\",tool=\"make\",le=\"+Inf\"} 2\n"
          "project_actions_call_seconds_count{tenant=\"ann\",tool=\"make\"} 2\n"
          "project_actions_call_seconds_sum{tenant=\"ann\",tool=\"make\"} 1200.003"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
  // Families are whole: none begins twice.
  const std::string family = "# TYPE project_actions_calls counter";
  EXPECT_EQ(text.find(family), text.rfind(family));
}

TEST(ServerStatus, OfThisProcess) {
  FakeWorld world;
  const ServerStatus status = StatusOf(world.services());
  EXPECT_GT(status.started, 1'700'000'000u);
  EXPECT_GT(status.memory, 1u << 20);
  EXPECT_GE(status.open_files, 3u);
  EXPECT_EQ(status.running, 0u);
  EXPECT_TRUE(status.tools.empty());
}

}  // namespace
}  // namespace pa
