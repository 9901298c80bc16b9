#include "supervisor/mcp/call_digest.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(DigestOfCall, IsTheSameHoweverTheArgumentsAreWritten) {
  const auto digest = [](std::string_view json) {
    const Result<JsonValue> arguments = ParseJson(json);
    EXPECT_TRUE(arguments) << json;
    return DigestOfCall("edit", &*arguments);
  };
  const Digest call = digest(R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z"}],"n":7})");
  EXPECT_EQ(call,
            digest(R"({"n":7.0,"edits":[{"new":"y","old":"x"},{"old":"z"}],"path":"\u0061"})"));
  EXPECT_EQ(
      call,
      digest(
          R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z","new":null}],"n":7,"m":null})"));
  EXPECT_NE(call, digest(R"({"path":"a","edits":[{"old":"z"},{"old":"x","new":"y"}],"n":7})"));
  EXPECT_NE(call, digest(R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z"}],"n":"7"})"));
  EXPECT_NE(call, digest(R"({"path":"a","edits":[{"old":"x","new":"y"},{"old":"z"},null],"n":7})"));
  EXPECT_EQ(digest("{}"), digest("null"));
  EXPECT_EQ(digest("{}"), DigestOfCall("edit", nullptr));
}

TEST(DigestOfCall, TellsCallsApart) {
  const auto digest = [](const char* tool, const char* arguments) {
    const JsonValue json = ParseJson(arguments).value();
    return DigestOfCall(tool, &json);
  };
  EXPECT_EQ(digest("make", R"({"target":"a"})"), digest("make", R"({ "target" : "a" })"));
  EXPECT_NE(digest("make", R"({"target":"a"})"), digest("make", R"({"target":"b"})"));
  EXPECT_NE(digest("make", R"({"target":"a"})"), digest("bash", R"({"target":"a"})"));
  EXPECT_EQ(digest("make", "{}"), DigestOfCall("make", nullptr));
}

}  // namespace
}  // namespace pa
