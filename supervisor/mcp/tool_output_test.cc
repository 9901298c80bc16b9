#include "supervisor/mcp/tool_output.h"

#include <gtest/gtest.h>

#include "tests/support/json.h"

namespace pa {
namespace {

using std::chrono::microseconds;
using testing::Json;

const Identity kSilentIdentity{.version = "1.2.3", .instructions = ""};

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
  const Json result = Json::parse(
      CallToolResult(Failed(), microseconds(5000), Revision::k2025_06_18, kSilentIdentity));
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["structuredContent"]["success"], false);
  EXPECT_EQ(result["content"][0], Json::parse(R"({"type":"text","text":"exited 2"})"));
  EXPECT_EQ(result["content"][1], Json::parse(R"({"type":"resource_link","name":"make test: stdout",
      "uri":"project-actions://results/ab","title":"Standard output","mimeType":"text/plain",
      "size":99})"));
  EXPECT_FALSE(result.contains("resultType"));
}

TEST(CallToolResult, SaysInTextWhatOlderRevisionsHaveNoFieldFor) {
  for (const Revision revision : {Revision::k2024_11_05, Revision::k2025_03_26}) {
    const Json result =
        Json::parse(CallToolResult(Failed(), microseconds(5000), revision, kSilentIdentity));
    EXPECT_FALSE(result.contains("structuredContent"));
    ASSERT_EQ(result["content"].size(), 1u);
    EXPECT_EQ(result["content"][0]["text"],
              "exited 2\nmake test: stdout (99 bytes): resource project-actions://results/ab");
  }
}

TEST(CallToolResult, IsTextAloneIfThatIsSet) {
  Identity text_only = kSilentIdentity;
  text_only.text_only = true;
  for (const Revision revision : {Revision::k2025_06_18, Revision::k2026_07_28}) {
    const Json result =
        Json::parse(CallToolResult(Failed(), microseconds(5000), revision, text_only));
    EXPECT_FALSE(result.contains("structuredContent"));
    EXPECT_EQ(result["content"].size(), 2u) << "the text and the link";
    EXPECT_EQ(result["isError"], true);
  }
}

// Claude Code and Codex show a model structuredContent in place of everything beside it.
TEST(CallToolResult, HasNothingThatWouldHideAnImage) {
  ToolResult image;
  image.data = R"({"path":"a.png"})";
  image.text = "a.png: PNG image";
  const Revision revision = Revision::k2025_06_18;
  const auto result = [&] {
    return Json::parse(CallToolResult(image, microseconds(1), revision, kSilentIdentity));
  };
  EXPECT_TRUE(result().contains("structuredContent"));
  image.images.push_back({"image/png", "AAAA"});
  EXPECT_FALSE(result().contains("structuredContent"));
  EXPECT_EQ(result()["content"][1],
            Json::parse(R"({"type":"image","data":"AAAA","mimeType":"image/png"})"));
}

TEST(CallToolResult, IsFramedInTheModernEra) {
  const Json result = Json::parse(
      CallToolResult(ToolResult(), microseconds(0), Revision::k2026_07_28, kSilentIdentity));
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3");
  EXPECT_EQ(result["isError"], false);
  EXPECT_FALSE(result.contains("ttlMs"));
}

TEST(CallToolResult, StaysOneLineOfUtf8WhateverTheOutputHolds) {
  ToolResult result;
  result.text = std::string("a\nb\r\0\xff {\"jsonrpc\":\"2.0\"}", 24);
  const std::string line = CallToolResult(result, {}, Revision::k2025_11_25, kSilentIdentity);
  EXPECT_EQ(line.find_first_of(std::string("\n\r\0", 3)), std::string::npos);
  EXPECT_EQ(Json::parse(line)["content"][0]["text"],
            std::string("a\nb\r\0\xef\xbf\xbd {\"jsonrpc\":\"2.0\"}", 26));
}

}  // namespace
}  // namespace pa
