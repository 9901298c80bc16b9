#include "supervisor/mcp/protocol.h"

#include <gtest/gtest.h>

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
  const Json result = Json::parse(InitializeResult(Revision::k2025_06_18, kIdentity));
  EXPECT_EQ(result, Json::parse(R"({"protocolVersion":"2025-06-18",
      "capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true}},
      "serverInfo":{"name":"project-actions","version":"1.2.3"},"instructions":"Use make."})"));
}

TEST(InitializeResult, LeavesEmptyInstructionsOut) {
  const Json result =
      Json::parse(InitializeResult(kLatestLegacy, {.version = "1", .instructions = ""}));
  EXPECT_FALSE(result.contains("instructions"));
}

TEST(DiscoverResult, NamesModernRevisionsOnly) {
  const Json result = Json::parse(DiscoverResult(kIdentity));
  EXPECT_EQ(result, Json::parse(R"({"supportedVersions":["2026-07-28"],
      "capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true}},
      "instructions":"Use make.",
      "resultType":"complete","ttlMs":0,"cacheScope":"private",
      "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"project-actions",
      "version":"1.2.3"}}})"));
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

TEST(ListResourcesResult, ListsStoredResults) {
  const std::vector<ResultStore::Entry> entries = {
      {.uri = "project-actions://results/ab", .name = "make test: stdout", .size = 7}};
  const Json result = Json::parse(ListResourcesResult(kLatestLegacy, kIdentity, entries));
  EXPECT_EQ(result, Json::parse(R"({"resources":[{"uri":"project-actions://results/ab",
      "name":"make test: stdout","mimeType":"text/plain","size":7}]})"));
}

TEST(ListResourceTemplatesResult, NamesTheOffset) {
  const Json result = Json::parse(ListResourceTemplatesResult(kLatestLegacy, kIdentity));
  EXPECT_EQ(result["resourceTemplates"][0]["uriTemplate"],
            "project-actions://results/{id}{?offset,lines}");
}

Json Read(const std::string& bytes, std::uint64_t offset = 0, std::uint64_t total = 0) {
  ResultChunk chunk{.bytes = bytes, .offset = offset, .total = total, .next_uri = {}};
  if (offset + bytes.size() < total) chunk.next_uri = "next";
  const std::string uri = "project-actions://results/ab?offset=" + std::to_string(offset);
  return Json::parse(
      ReadResourceResult(Revision::k2025_06_18, kIdentity, uri, chunk))["contents"][0];
}

TEST(ReadResourceResult, GivesTextAsText) {
  const Json contents = Read("caf\u00e9\0", 3);
  EXPECT_EQ(contents["uri"], "project-actions://results/ab?offset=3");
  EXPECT_EQ(contents["mimeType"], "text/plain");
  EXPECT_EQ(contents["text"], "caf\u00e9");
  EXPECT_FALSE(contents.contains("blob"));
  EXPECT_FALSE(contents.contains("_meta"));
}

TEST(ReadResourceResult, GivesOtherBytesAsBase64) {
  const Json contents = Read("\xff\xfe");
  EXPECT_EQ(contents["blob"], "//4=");
  EXPECT_FALSE(contents.contains("text"));
}

TEST(ReadResourceResult, LeavesACharacterThatTheChunkCutsToTheNextOne) {
  const Json contents = Read("abc\xf0\x9f\x98", 10, 100);
  EXPECT_EQ(contents["text"], "abc");
  EXPECT_EQ(contents["_meta"]["project-actions/nextUri"], "project-actions://results/ab?offset=13");
  EXPECT_EQ(contents["_meta"]["project-actions/size"], 100);
}

TEST(ReadResourceResult, DoesNotWaitForBytesThatWillNotCome) {
  EXPECT_TRUE(Read("abc\xf0\x9f\x98").contains("blob"));
  EXPECT_TRUE(Read("abc\xff", 0, 100).contains("blob"));
}

}  // namespace
}  // namespace pa
