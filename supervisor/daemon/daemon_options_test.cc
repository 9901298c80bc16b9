#include "supervisor/daemon/daemon_options.h"

#include <getopt.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pa {
namespace {

std::expected<DaemonOptions, DaemonText> ParseDaemon(std::vector<std::string> words) {
  words.insert(words.begin(), "project-actionsd");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  optind = 0;  // getopt_long(3): begins anew
  return ParseDaemonOptions(static_cast<int>(words.size()), argv.data());
}

TEST(DaemonOptions, WithoutAnyItIsStartedBySystemd) {
  const auto options = ParseDaemon({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen.kind, ListenAddress::Kind::kSystemd);
  EXPECT_EQ(options->tenants, "/etc/project-actions/tenants");
  EXPECT_EQ(options->policy, "/etc/project-actions/policy.yaml");
  EXPECT_FALSE(options->web_server);
  EXPECT_FALSE(options->verbose);
}

TEST(DaemonOptions, EachIsTaken) {
  const auto options = ParseDaemon(
      {"--listen", "unix:/s", "--web-server=www", "--tenants", "/t", "--policy", "/p.yaml", "-v"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen.path, "/s");
  EXPECT_EQ(options->web_server, "www");
  EXPECT_EQ(options->tenants, "/t");
  EXPECT_EQ(options->policy, "/p.yaml");
  EXPECT_TRUE(options->verbose);
}

TEST(DaemonOptions, WhatIsWrongIsSaid) {
  const auto wrong = [](std::vector<std::string> words) {
    const auto options = ParseDaemon(std::move(words));
    EXPECT_FALSE(options);
    if (options) return std::string();
    EXPECT_EQ(options.error().exit_status, 2);
    return options.error().text;
  };
  EXPECT_TRUE(wrong({"--listen", "http://127.0.0.1:1"}).contains("systemd or unix:PATH"));
  EXPECT_TRUE(wrong({"--listen", "nowhere"}).contains("not 'nowhere'"));
  EXPECT_TRUE(wrong({"--policy"}).contains("--policy needs a value"));
  EXPECT_TRUE(wrong({"--polcy", "x"}).contains("unknown option --polcy"));
  EXPECT_TRUE(wrong({"x"}).contains("unexpected argument 'x'"));
  for (const char* word : {"--help", "-h", "--version", "-V"}) {
    const auto text = ParseDaemon({word});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().exit_status, 0);
    EXPECT_TRUE(text.error().text.contains("project-actionsd"));
  }
}

}  // namespace
}  // namespace pa
