#include "supervisor/mcp/resources.h"

#include <gtest/gtest.h>

#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

const Identity kResourceServer{.version = "1.2.3"};

struct Stored {
  ResultStore store{"/tmp", 4U << 20};
  std::string uri;
  explicit Stored(std::string_view bytes) {
    const auto output = store.Begin(4U << 20);
    EXPECT_TRUE(output && store.Append(**output, bytes));
    uri = store.Publish(*output, "make test: stdout");
  }
};

TEST(ListResourcesResult, ListsStoredResults) {
  const Stored stored("1234567");
  const Json result = Json::parse(
      ListResourcesResult(kLatestLegacy, kResourceServer, ResultResources().List(stored.store)));
  EXPECT_EQ(result, Json({{"resources", Json::array({{{"uri", stored.uri},
                                                      {"name", "make test: stdout"},
                                                      {"mimeType", "text/plain"},
                                                      {"size", 7}}})}}));
}

TEST(ListResourceTemplatesResult, NamesTheOffset) {
  const Json result = Json::parse(
      ListResourceTemplatesResult(kLatestLegacy, kResourceServer, ResultResources().Templates()));
  EXPECT_EQ(result["resourceTemplates"][0]["uriTemplate"],
            "project-actions://results/{id}{?offset,lines}");
}

Json Read(std::string_view bytes, const std::string& query = "") {
  Stored stored(bytes);
  const auto contents = ResultResources().Read(stored.uri + query, stored.store);
  EXPECT_TRUE(contents && *contents);
  Json result = Json::parse(
      ReadResourceResult(Revision::k2025_06_18, kResourceServer, stored.uri + query, **contents));
  result["contents"][0]["uri"] = result["contents"][0]["uri"].get<std::string>().substr(
      std::string_view(kResultUriPrefix).size() + 32);
  return result["contents"][0];
}

TEST(ReadResourceResult, GivesTextAsText) {
  const Json contents = Read("caf\u00e9", "?offset=3");
  EXPECT_EQ(contents["uri"], "?offset=3");
  EXPECT_EQ(contents["mimeType"], "text/plain");
  EXPECT_EQ(contents["text"], "\u00e9");
  EXPECT_FALSE(contents.contains("blob"));
  EXPECT_FALSE(contents.contains("_meta"));
}

TEST(ReadResourceResult, GivesOtherBytesAsBase64) {
  const Json contents = Read("\xff\xfe");
  EXPECT_EQ(contents["mimeType"], "application/octet-stream");
  EXPECT_EQ(contents["blob"], "//4=");
  EXPECT_FALSE(contents.contains("text"));
}

// A chunk is 1 MiB at most.
TEST(ReadResourceResult, LeavesACharacterThatTheChunkCutsToTheNextOne) {
  const std::size_t most = ResultStore::kMaxReadBytes;
  const Json contents = Read(std::string(most - 2, 'a') + "\xf0\x9f\x98\x80 end");
  EXPECT_EQ(contents["text"].get<std::string>().size(), most - 2);
  const std::string next = contents["_meta"]["project-actions/nextUri"];
  EXPECT_TRUE(next.ends_with("?offset=" + std::to_string(most - 2))) << next;
  EXPECT_EQ(contents["_meta"]["project-actions/size"], most + 6);
}

TEST(ReadResourceResult, DoesNotWaitForBytesThatWillNotCome) {
  EXPECT_TRUE(Read("abc\xf0\x9f\x98").contains("blob"));
}

TEST(ResultResources, TellsAMissingResultFromAMissingPart) {
  Stored stored("four");
  EXPECT_FALSE(ResultResources().Read("project-actions://results/none", stored.store));
  const auto part = ResultResources().Read(stored.uri + "?offset=9", stored.store);
  ASSERT_TRUE(part && !*part);
  EXPECT_EQ(part->error().code, rpc::kInvalidParams);
}

TEST(ResultResources, CompletesTheIdsOfItsTemplate) {
  const Stored stored("text");
  CompletionOrder order{.of = CompletionOrder::Of::kTemplate,
                        .name = ResultResources().Templates().front().uri,
                        .argument = "id"};
  const auto values = ResultResources().Values(order, stored.store);
  ASSERT_TRUE(values);
  ASSERT_EQ(values->size(), 1u);
  EXPECT_EQ(kResultUriPrefix + values->front(), stored.uri);
  order.argument = "lines";
  EXPECT_EQ(ResultResources().Values(order, stored.store)->size(), 0u);
  order.name = "file:///{path}";
  EXPECT_FALSE(ResultResources().Values(order, stored.store));
}

TEST(ResultStoreGrowth, IsToldOfPublishedResultsAlone) {
  ResultStore store("/tmp", 1U << 20);
  std::vector<std::string> grown;
  store.WhenGrown([&](const std::string& uri) { grown.push_back(uri); });
  const auto output = store.Begin(4);
  ASSERT_TRUE(output && store.Append(**output, "a"));
  EXPECT_TRUE(grown.empty());
  const std::string uri = store.Publish(*output, "log");
  EXPECT_TRUE(store.Append(**output, "bcd"));
  EXPECT_EQ(grown, std::vector{uri});
  EXPECT_TRUE(store.Append(**output, "beyond its limit"));
  EXPECT_EQ(grown.size(), 1u);
}

}  // namespace
}  // namespace pa
