// Output that would break a careless server: garbage, huge lines, floods, and a client that does
// not read.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/sanitizers.h"

namespace pa::testing {
namespace {

constexpr std::string_view kOutputMakefile =
    R"(.PHONY: invalid nul colours kept fake line flood quotes gigabyte stderr_flood trickle
invalid:
	@printf 'before \377\376\200 after\n'
nul:
	@printf 'a\000b\n'
colours:
	@printf '\033[31mred\033[0m \033]0;title\007\033]8;;http://x\033\\link\033]8;;\033\\\n' >&2; exit 1
kept:
	@for i in $$(seq 4000); do printf '\033[32mok\033[0m\000\n'; done
fake:
	@printf '{"jsonrpc":"2.0","id":1,"result":{}}\n\n{"jsonrpc":"2.0","method":"notifications/x"}\n'
line:
	@head -c 10000000 /dev/zero | tr '\0' x
flood:
	@head -c 100000000 /dev/zero | tr '\0' '\n'
quotes:
	@head -c 100000 /dev/zero | tr '\0' '"'; head -c 100000 /dev/zero | tr '\0' '"' >&2
gigabyte:
	@head -c $$(cat bytes) /dev/zero
stderr_flood:
	@yes 'a line of forty characters, give or take' | head -c 5000000 >&2
trickle:
	@yes 'a line of forty characters, give or take' | head -c 200000000
)";

class Output : public ::testing::Test {
 protected:
  Project project_{kOutputMakefile};
  McpClient client_{project_.Server()};

  void SetUp() override { client_.Initialize(); }
  // With a progress token, so that every way out of the server sees the output.
  Json Target(const char* target) {
    Json reply =
        client_.Await(client_.StartTool("make", {{"target", target}}, {{"progressToken", target}}));
    return reply["result"];
  }
  Json Data(const char* target) { return Target(target)["structuredContent"]["data"]; }
};

TEST_F(Output, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(Data("invalid")["stdout"], "before \uFFFD\uFFFD\uFFFD after\n");
  EXPECT_EQ(Data("nul")["stdout"], "ab\n");
}

// In each form of the result; what is kept has every byte.
TEST_F(Output, WhatOnlyATerminalUnderstandsIsNotShown) {
  const Json failed = Target("colours");
  EXPECT_TRUE(failed["isError"]) << failed;
  EXPECT_TRUE(
      failed["structuredContent"]["data"]["stderr"].get<std::string>().starts_with("red link\n"))
      << failed;
  EXPECT_TRUE(failed["content"][0]["text"].get<std::string>().contains("red link\n")) << failed;
  EXPECT_FALSE(failed.dump().contains("u001b")) << failed;
  const Json kept = Target("kept");
  EXPECT_FALSE(kept.dump().contains("u001b")) << kept["structuredContent"]["data"]["stdout"];
  EXPECT_FALSE(kept.dump().contains("u0000"));
  const std::string uri = kept["structuredContent"]["meta"]["result_uri"];
  const Json read = client_.Request("resources/read", {{"uri", uri}})["result"];
  EXPECT_TRUE(read["contents"][0]["text"].get<std::string>().starts_with(
      std::string("\x1b[32mok\x1b[0m\0\n", 13)))
      << read["contents"][0]["text"].get<std::string>().substr(0, 40);
}

TEST_F(Output, JsonInTheOutputIsOnlyOutput) {
  Json result = Target("fake");
  EXPECT_EQ(result["structuredContent"]["data"]["exit_code"], 0);
  EXPECT_EQ(client_.Request("ping")["result"], Json::object());
}

TEST_F(Output, ALongOutputIsCutAndOfferedInFull) {
  Json result = Target("line");
  Json data = result["structuredContent"]["data"];
  EXPECT_LT(data["stdout"].get<std::string>().size(), 64U << 10);
  std::string uri = result["structuredContent"]["meta"]["result_uri"];
  bool linked = false;
  for (const Json& block : result["content"]) linked = linked || block.value("uri", "") == uri;
  EXPECT_TRUE(linked) << result;
  std::size_t total = 0;
  for (int chunks = 0; !uri.empty() && chunks < 100; ++chunks) {
    Json read = client_.Request("resources/read", {{"uri", uri}})["result"];
    ASSERT_TRUE(read.contains("contents")) << read;
    total += read["contents"][0]["text"].get<std::string>().size();
    uri = read["contents"][0].value("_meta", Json::object()).value("project-actions/nextUri", "");
  }
  EXPECT_EQ(total, 10'000'000U) << "chunk by chunk";
}

// Or the client shows the first 2 KB of it and puts the rest into a file.
TEST_F(Output, TheWorstResultIsNoLongerThanTheListOfToolsSays) {
  const Json result = Target("quotes")["structuredContent"];
  EXPECT_TRUE(result["data"].contains("stderr_omitted_bytes")) << result;
  const Json tools = client_.Request("tools/list")["result"]["tools"];
  EXPECT_GT(tools.size(), 10u);
  for (const Json& tool : tools) {
    EXPECT_LE(result.dump().size(), tool["_meta"]["anthropic/maxResultSizeChars"]) << tool["name"];
  }
}

TEST_F(Output, AHundredMegabytesPassThroughALittleMemory) {
  Data("invalid");
  std::size_t before = ResidentKib(client_.pid());
  Json data = Data("flood");
  EXPECT_EQ(data["exit_code"], 0) << data;
  EXPECT_LT(ResidentKib(client_.pid()), before + 20000) << "KiB";
}

TEST_F(Output, AGigabyteLeavesTheMemoryFlat) {
  constexpr std::uint64_t kBytes = kAddressSanitizer ? 50'000'000 : 1u << 30;
  WriteText(project_.root() / "bytes", std::to_string(kBytes));
  Data("invalid");
  const std::size_t before = PeakResidentKib(client_.pid());
  const Json data = Data("gigabyte");
  EXPECT_EQ(data["exit_code"], 0) << data;
  EXPECT_GT(data["stdout_omitted_bytes"].get<std::uint64_t>() + (64u << 10), kBytes);
  EXPECT_LT(PeakResidentKib(client_.pid()), before + 20000) << "KiB";
}

TEST_F(Output, StandardErrorIsKeptApart) {
  Json data = Data("stderr_flood");
  EXPECT_EQ(data["stdout"], "");
  EXPECT_NE(data["stderr"].get<std::string>().find("give or take"), std::string::npos);
}

// Many calls whose replies nobody fetches: the server stops reading requests instead of growing.
TEST_F(Output, AClientThatDoesNotReadDoesNotMakeUsGrow) {
  std::size_t before = ResidentKib(client_.pid());
  ASSERT_EQ(fcntl(client_.input(), F_SETFL, O_NONBLOCK), 0);
  const std::string request = R"({"jsonrpc":"2.0","id":"x)";
  for (int i = 0; i < 100000; ++i) {
    client_.SendLine(request + std::to_string(i) + R"(","method":"tools/list"})");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(ResidentKib(client_.pid()), before + 30000) << "KiB";
}

TEST_F(Output, ASlowReaderHoldsTheCommandBackAndGetsEverything) {
  int call = client_.StartTool("make", {{"target", "trickle"}}, {{"progressToken", 1}});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  Json reply = client_.Await(call);
  EXPECT_EQ(reply["result"]["structuredContent"]["data"]["exit_code"], 0) << client_.Errors();
}

}  // namespace
}  // namespace pa::testing
