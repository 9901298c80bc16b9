#include "supervisor/tool_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pa {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

const Identity kIdentity{.version = "1.2.3", .instructions = ""};

ToolResult Everything() {
  ToolResult result;
  result.data = R"({"exit_code":2})";
  result.error = ToolError{"COMMAND_FAILED", "make failed", "Read the output.", true, R"({"n":1})"};
  result.text = "exited 2";
  result.links = {{.uri = "project-actions://results/ab",
                   .name = "make test: stdout",
                   .title = "Standard output",
                   .mime_type = "text/plain",
                   .size = 99}};
  result.warnings = {"no network namespace"};
  result.decision = "permissions[0]";
  result.truncated = true;
  result.result_uri = "project-actions://results/ab";
  return result;
}

TEST(StructuredContent, HoldsNoMoreThanThereIs) {
  ToolResult result;
  result.text = "fine";
  EXPECT_EQ(StructuredContent(result, microseconds(1999)),
            R"({"success":true,"meta":{"duration_ms":1}})");
}

TEST(StructuredContent, HoldsAllThereIs) {
  EXPECT_EQ(json::parse(StructuredContent(Everything(), microseconds(5000))), json::parse(R"({
      "success":false,"data":{"exit_code":2},
      "error":{"code":"COMMAND_FAILED","message":"make failed","ai_message":"Read the output.",
               "recoverable":true,"details":{"n":1}},
      "meta":{"duration_ms":5,"truncated":true,"result_uri":"project-actions://results/ab",
              "warnings":["no network namespace"],"decision":"permissions[0]"}})"));
}

TEST(CallToolResult, GivesLinksAndStructureWhereTheRevisionKnowsThem) {
  const json result = json::parse(
      CallToolResult(Everything(), microseconds(5000), Revision::k2025_06_18, kIdentity));
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
        json::parse(CallToolResult(Everything(), microseconds(5000), revision, kIdentity));
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

TEST(OutputSchema, HoldsTheToolsData) {
  Tool tool{.name = "t",
            .title = "T",
            .description = "",
            .annotations = {},
            .params = {},
            .data_schema = R"({"type":"object","properties":{"n":{"type":"integer"}}})",
            .run = nullptr};
  const json schema = json::parse(OutputSchema(tool));
  EXPECT_EQ(schema["properties"]["data"]["properties"]["n"]["type"], "integer");
  EXPECT_EQ(schema["required"], (json{"success", "meta"}));
  tool.data_schema = {};
  EXPECT_EQ(json::parse(OutputSchema(tool))["properties"]["data"], (json{{"type", "object"}}));
}

// An argument of 16 MiB is not said three times.
TEST(RefusedCall, SaysTheBeginningAndTheEndOfWhatIsLong) {
  const std::string long_one(1U << 20, 'x');
  const ToolResult result =
      RefusedCall({"INVALID_PATH", "not a path: " + long_one + " (too long)", long_one, false, ""});
  EXPECT_TRUE(result.error->message.starts_with("not a path: xxx"));
  EXPECT_TRUE(result.error->message.contains(" ... 1015831 bytes ... "))
      << result.error->message.substr(16'000, 600);
  EXPECT_TRUE(result.error->message.ends_with("xxx (too long)"));
  EXPECT_LT(result.text.size(), 70'000U);
  const std::string all(32U << 10, 'x');
  EXPECT_EQ(RefusedCall({"INVALID_PATH", all, "", false, ""}).error->message, all);
}

TEST(RefusedCall, SaysCodeMessageAndAdviceInText) {
  const ToolResult result = RefusedCall({"TOOL_DISABLED", "make is off", "Enable it.", false, ""});
  EXPECT_EQ(result.text, "TOOL_DISABLED: make is off\nEnable it.");
  EXPECT_EQ(result.error->code, "TOOL_DISABLED");
}

}  // namespace
}  // namespace pa
