#include "supervisor/mcp/tool_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pa {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

const Identity kIdentity{.version = "1.2.3", .instructions = ""};

ToolResult Failed() {
  ToolResult result;
  result.data = R"({"exit_code":2})";
  result.error = ToolError{ErrorCode::kCommandFailed, "make failed", "Read the output.", true, ""};
  result.text = "exited 2";
  result.links = {{.uri = "project-actions://results/ab",
                   .name = "make test: stdout",
                   .title = "Standard output",
                   .mime_type = "text/plain",
                   .size = 99}};
  return result;
}

TEST(CallToolResult, GivesLinksAndStructureWhereTheRevisionKnowsThem) {
  const json result =
      json::parse(CallToolResult(Failed(), microseconds(5000), Revision::k2025_06_18, kIdentity));
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["structuredContent"]["success"], false);
  EXPECT_EQ(result["content"][0], json::parse(R"({"type":"text","text":"exited 2"})"));
  EXPECT_EQ(result["content"][1], json::parse(R"({"type":"resource_link","name":"make test: stdout",
      "uri":"project-actions://results/ab","title":"Standard output","mimeType":"text/plain","size":99})"));
  EXPECT_FALSE(result.contains("resultType"));
}

TEST(CallToolResult, SaysInTextWhatOlderRevisionsHaveNoFieldFor) {
  for (const Revision revision : {Revision::k2024_11_05, Revision::k2025_03_26}) {
    const json result =
        json::parse(CallToolResult(Failed(), microseconds(5000), revision, kIdentity));
    EXPECT_FALSE(result.contains("structuredContent"));
    ASSERT_EQ(result["content"].size(), 1u);
    EXPECT_EQ(result["content"][0]["text"],
              "exited 2\nmake test: stdout (99 bytes): resource project-actions://results/ab");
  }
}

TEST(CallToolResult, IsFramedInTheModernEra) {
  const json result =
      json::parse(CallToolResult(ToolResult(), microseconds(0), Revision::k2026_07_28, kIdentity));
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3");
  EXPECT_EQ(result["isError"], false);
  EXPECT_FALSE(result.contains("ttlMs"));
}

TEST(CallToolResult, StaysOneLineOfUtf8WhateverTheOutputHolds) {
  ToolResult result;
  result.text = std::string("a\nb\r\0\xff {\"jsonrpc\":\"2.0\"}", 24);
  const std::string line = CallToolResult(result, {}, Revision::k2025_11_25, kIdentity);
  EXPECT_EQ(line.find_first_of(std::string("\n\r\0", 3)), std::string::npos);
  EXPECT_EQ(json::parse(line)["content"][0]["text"],
            std::string("a\nb\r\0\xef\xbf\xbd {\"jsonrpc\":\"2.0\"}", 26));
}

}  // namespace
}  // namespace pa
