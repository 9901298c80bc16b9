#include "supervisor/mcp/protocol.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

constexpr Revision kAll[] = {Revision::k2024_11_05, Revision::k2025_03_26, Revision::k2025_06_18,
                             Revision::k2025_11_25, Revision::k2026_07_28};
const Identity kIdentity{.version = "1.2.3", .instructions = "Use make."};

constexpr Param kParams[] = {{.name = "target", .required = true, .description = "what to make"}};
const Tool kTool{.name = "make",
                 .title = "Make",
                 .description = "Runs a target",
                 .annotations = {.destructive = true, .open_world = true},
                 .params = kParams,
                 .data = {},
                 .run = nullptr};
const Tool* const kTools[] = {&kTool};

TEST(Revision, IsFoundByItsName) {
  for (const Revision revision : kAll) EXPECT_EQ(FindRevision(RevisionName(revision)), revision);
  EXPECT_EQ(FindRevision("2024-11-06"), std::nullopt);
  EXPECT_EQ(FindRevision(""), std::nullopt);
}

TEST(InitializeResult, SaysWhatWeAre) {
  Json result = Json::parse(InitializeResult(Revision::k2025_06_18, kIdentity));
  result.erase("capabilities");
  EXPECT_EQ(result, Json::parse(R"({"protocolVersion":"2025-06-18",
      "serverInfo":{"name":"project-actions","version":"1.2.3","title":"Project Actions"},
      "instructions":"Use make."})"));
}

TEST(InitializeResult, LeavesEmptyInstructionsOut) {
  const Json result =
      Json::parse(InitializeResult(kLatestLegacy, {.version = "1", .instructions = ""}));
  EXPECT_FALSE(result.contains("instructions"));
}

TEST(InitializeResult, SaysWhatAPersonSeesOfTheServer) {
  const auto info = [](Revision revision, std::string website = "") {
    const Identity identity{.version = "1", .website = std::move(website)};
    return Json::parse(InitializeResult(revision, identity))["serverInfo"];
  };
  EXPECT_EQ(info(Revision::k2025_03_26),
            Json::parse(R"({"name":"project-actions","version":"1"})"));
  EXPECT_EQ(info(Revision::k2025_06_18)["title"], "Project Actions");
  EXPECT_FALSE(info(Revision::k2025_06_18).contains("icons"));
  const Json newer = info(Revision::k2025_11_25, "https://example.org");
  EXPECT_TRUE(newer.contains("description"));
  EXPECT_EQ(newer["websiteUrl"], "https://example.org");
  EXPECT_FALSE(info(Revision::k2025_11_25).contains("websiteUrl"));
  const std::string icon = newer["icons"][0]["src"];
  const std::string scheme = "data:image/svg+xml;base64,";
  ASSERT_TRUE(icon.starts_with(scheme));
  EXPECT_TRUE(FromBase64(icon.substr(scheme.size())).value_or("").starts_with("<svg "));
}

TEST(InitializeResult, CompletionsCameWith20250326) {
  const auto capabilities = [](Revision revision) {
    return Json::parse(InitializeResult(revision, kIdentity))["capabilities"];
  };
  EXPECT_FALSE(capabilities(Revision::k2024_11_05).contains("completions"));
  EXPECT_EQ(capabilities(Revision::k2025_03_26),
            Json::parse(R"({"tools":{"listChanged":true},"prompts":{"listChanged":true},)"
                        R"("resources":{"listChanged":true,"subscribe":true},"completions":{},)"
                        R"("logging":{}})"));
}

TEST(DiscoverResult, NamesModernRevisionsOnly) {
  Json result = Json::parse(DiscoverResult(kIdentity));
  const Json info = result["_meta"]["io.modelcontextprotocol/serverInfo"];
  EXPECT_EQ(info["name"], "project-actions");
  EXPECT_TRUE(info.contains("icons"));
  result.erase("_meta");
  result.erase("capabilities");
  EXPECT_EQ(result, Json::parse(R"({"supportedVersions":["2026-07-28"],
      "instructions":"Use make.",
      "resultType":"complete","ttlMs":0,"cacheScope":"private"})"));
}

TEST(ListToolsResult, HasTheFieldsOfItsRevision) {
  for (const Revision revision : kAll) {
    const Json result = Json::parse(ListToolsResult(revision, kIdentity, kTools, 24 << 10));
    const Json& tool = result["tools"][0];
    EXPECT_EQ(tool["name"], "make");
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
    EXPECT_EQ(tool.contains("annotations"), revision >= Revision::k2025_03_26);
    EXPECT_EQ(tool.contains("title"), revision >= Revision::k2025_06_18);
    EXPECT_EQ(tool.contains("outputSchema"), revision >= Revision::k2025_06_18);
    for (const char* key : {"resultType", "ttlMs", "cacheScope", "_meta"}) {
      EXPECT_EQ(result.contains(key), revision == Revision::k2026_07_28) << key;
    }
  }
}

TEST(ListToolsResult, HasNoOutputSchemaWhereResultsMayLackTheStructure) {
  Identity text_only = kIdentity;
  text_only.text_only = true;
  Tool without = *kTools[0];
  without.has_output_schema = false;
  const Tool* const one[] = {&without};
  for (const Revision revision : kAll) {
    for (const Json& list : {Json::parse(ListToolsResult(revision, text_only, kTools, 24 << 10)),
                             Json::parse(ListToolsResult(revision, kIdentity, one, 24 << 10))}) {
      const Json& tool = list["tools"][0];
      EXPECT_FALSE(tool.contains("outputSchema"));
      EXPECT_EQ(tool.contains("title"), revision >= Revision::k2025_06_18);
      EXPECT_EQ(tool["inputSchema"]["type"], "object");
    }
  }
}

TEST(ListToolsResult, SaysHowLongAResultMayBe) {
  for (const Revision revision : kAll) {
    const auto chars = [&](std::uint64_t output_inline) -> std::uint64_t {
      const Json list = Json::parse(ListToolsResult(revision, kIdentity, kTools, output_inline));
      const Json meta = list["tools"][0].value("_meta", Json::object());
      return meta.value("anthropic/maxResultSizeChars", std::uint64_t{0});
    };
    const bool has_meta = revision >= Revision::k2025_06_18;
    EXPECT_EQ(chars(24 << 10), has_meta ? 163'840u : 0u)
        << "the worst that 24 KiB become, and more";
    EXPECT_EQ(chars(64 << 20), has_meta ? 500'000u : 0u);
  }
}

TEST(ListToolsResult, SpellsAnnotationsOut) {
  const Json result = Json::parse(ListToolsResult(kLatestLegacy, kIdentity, kTools, 24 << 10));
  EXPECT_EQ(result["tools"][0]["annotations"],
            Json::parse(R"({"title":"Make","readOnlyHint":false,"destructiveHint":true,
                            "idempotentHint":false,"openWorldHint":true})"));
}

}  // namespace
}  // namespace pa
