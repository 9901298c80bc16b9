#include "supervisor/mcp/envelope.h"

#include <gtest/gtest.h>

#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

constexpr char kPrefix[] = "io.modelcontextprotocol/";

// params with these members of _meta; `P/` stands for the protocol's prefix.
JsonValue Meta(std::string members) {
  for (std::size_t at; (at = members.find("P/")) != std::string::npos;) {
    members.replace(at, 2, kPrefix);
  }
  return ParsedJson(R"({"_meta":{)" + members + "}}");
}

TEST(Envelope, IsAbsentWithoutItsKeys) {
  EXPECT_FALSE(ClaimedRevision(ParsedJson("{}")));
  EXPECT_FALSE(ClaimedRevision(ParsedJson(R"({"_meta":7})")));
  EXPECT_FALSE(ClaimedRevision(Meta(R"("progressToken":1,"traceparent":"x")")));
}

TEST(Envelope, ClaimsTheModernRevision) {
  const auto bare =
      ClaimedRevision(Meta(R"("P/protocolVersion":"2026-07-28","P/clientCapabilities":{})"));
  ASSERT_TRUE(bare && *bare);
  EXPECT_EQ(**bare, Revision::k2026_07_28);
  const auto full = ClaimedRevision(
      Meta(R"("P/protocolVersion":"2026-07-28","P/clientCapabilities":{"roots":{}},)"
           R"("P/clientInfo":{"name":"c","version":"1"},"progressToken":0)"));
  ASSERT_TRUE(full && *full);
}

TEST(Envelope, NamesTheKeyThatIsMissingOrWrong) {
  const struct {
    const char* meta;
    const char* key;
  } kCases[] = {
      {R"("P/protocolVersion":"2026-07-28")", "clientCapabilities"},
      {R"("P/protocolVersion":"2026-07-28","P/clientCapabilities":[])", "clientCapabilities"},
      {R"("P/clientCapabilities":{})", "protocolVersion"},
      {R"("P/clientInfo":{"name":"c","version":"1"})", "protocolVersion"},
      {R"("P/protocolVersion":20260728,"P/clientCapabilities":{})", "protocolVersion"},
      {R"("P/protocolVersion":"2026-07-28","P/clientCapabilities":{},"P/clientInfo":"me")",
       "clientInfo"},
  };
  for (const auto& c : kCases) {
    const auto claim = ClaimedRevision(Meta(c.meta));
    ASSERT_TRUE(claim && !*claim) << c.meta;
    EXPECT_EQ(claim->error().code, rpc::kInvalidParams) << c.meta;
    EXPECT_NE(claim->error().message.find(std::string(kPrefix) + c.key), std::string::npos)
        << claim->error().message;
  }
}

TEST(Envelope, AnswersOtherVersionsWithTheOnesWeSpeak) {
  for (const char* version : {"2025-11-25", "1900-01-01", "2027-01-01", ""}) {
    const auto claim = ClaimedRevision(
        Meta(R"("P/protocolVersion":")" + std::string(version) + R"(","P/clientCapabilities":{})"));
    ASSERT_TRUE(claim && !*claim) << version;
    EXPECT_EQ(claim->error().code, -32022);
    EXPECT_EQ(claim->error().data,
              R"({"supported":["2026-07-28"],"requested":")" + std::string(version) + R"("})");
  }
}

TEST(ProgressToken, IsAStringOrAnIntegerZeroAndEmptyIncluded) {
  EXPECT_EQ(ProgressToken(ParsedJson("{}")), "");
  EXPECT_EQ(ProgressToken(Meta(R"("progressToken":0)")), "0");
  EXPECT_EQ(ProgressToken(Meta(R"("progressToken":"")")), R"("")");
  EXPECT_EQ(ProgressToken(Meta(R"("progressToken":"a\"b")")), R"("a\"b")");
  EXPECT_EQ(ProgressToken(Meta(R"("progressToken":-7)")), "-7");
  EXPECT_EQ(ProgressToken(Meta(R"("progressToken":1.50)")), "1.50");
  EXPECT_EQ(ProgressToken(Meta(R"("progressToken":null)")), "");
}

TEST(ProgressToken, RefusesOtherValues) {
  for (const char* token : {"[]", "{}", "true"}) {
    const auto refused = ProgressToken(Meta(std::string(R"("progressToken":)") + token));
    ASSERT_FALSE(refused) << token;
    EXPECT_EQ(refused.error().code, rpc::kInvalidParams);
  }
}

}  // namespace
}  // namespace pa
