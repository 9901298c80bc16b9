#include "supervisor/transport/rpc.h"

#include <gtest/gtest.h>

namespace pa::rpc {
namespace {

using std::string_literals::operator""s;

// Of a line that holds one.
Parsed ParseMessage(std::string_view line) {
  Line parsed = ParseLine(line);
  EXPECT_FALSE(parsed.batch) << line;
  EXPECT_EQ(parsed.messages.size(), 1u) << line;
  return std::move(parsed.messages[0]);
}

Request ParsedRequest(std::string_view line) {
  Parsed message = ParseMessage(line);
  EXPECT_TRUE(message) << (message ? "" : message.error().message);
  if (!message || !std::holds_alternative<Request>(*message)) {
    ADD_FAILURE() << "no request: " << line;
    return Request{Id("0"), "", {}};
  }
  return std::get<Request>(*std::move(message));
}

Failure ParsedFailure(std::string_view line) {
  Parsed message = ParseMessage(line);
  EXPECT_FALSE(message) << line;
  return message ? Failure{} : message.error();
}

std::string Call(std::string_view id) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})";
}

TEST(ParseMessage, Request) {
  const Request request = ParsedRequest(
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"make","arguments":{}}})");
  EXPECT_EQ(request.id.token(), "7");
  EXPECT_EQ(request.method, "tools/call");
  EXPECT_EQ(request.params.Dump(), R"({"name":"make","arguments":{}})");
}

TEST(ParseMessage, AbsentParamsAreAnEmptyObject) {
  EXPECT_EQ(ParsedRequest(Call("1")).params.Dump(), "{}");
  EXPECT_EQ(
      ParsedRequest(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":null})").params.Dump(),
      "{}");
}

TEST(ParseMessage, IdsAreEchoedAsWritten) {
  for (const char* id : {"0", "7", "-3", R"("")", R"("a")", R"("0")", "9007199254740993",
                         "123456789012345678901234567890", R"("\"\\")", "7.0", "1.5", "1e3", "-0",
                         "1e999", R"("\ud83d")", R"("\udc00 \ud800")"}) {
    EXPECT_EQ(ParsedRequest(Call(id)).id.token(), id);
  }
}

TEST(ParseMessage, IdsAreComparedByValue) {
  const auto id = [](const char* token) { return ParsedRequest(Call(token)).id; };
  EXPECT_EQ(id(R"("\u0061")"), id(R"("a")"));
  EXPECT_EQ(id("7.0"), id("7"));
  EXPECT_EQ(id("1e3"), id("1000"));
  EXPECT_NE(id(R"("7")"), id("7"));
  EXPECT_NE(id("7.5"), id("7"));
  EXPECT_NE(id("123456789012345678901234567890"), id("123456789012345678901234567891"));
}

TEST(ParseMessage, OtherIdsAreRefusedAndNotEchoed) {
  for (const char* id : {"null", "true", "{}", "[1]"}) {
    const Failure failure = ParsedFailure(Call(id));
    EXPECT_EQ(failure.code, kInvalidRequest) << id;
    EXPECT_FALSE(failure.id) << id;
    EXPECT_NE(failure.message.find("id must be a string or a number"), std::string::npos);
  }
}

TEST(ParseMessage, Notification) {
  Parsed message = ParseMessage(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  ASSERT_TRUE(message);
  const auto* notification = std::get_if<Notification>(&*message);
  ASSERT_NE(notification, nullptr);
  EXPECT_EQ(notification->method, "notifications/cancelled");
  EXPECT_EQ(notification->params.Dump(), R"({"requestId":0})");
}

TEST(ParseMessage, NotificationIsNeverAnswered) {
  for (const char* params : {"null", "[1]", R"("x")", "7"}) {
    Parsed message =
        ParseMessage(R"({"jsonrpc":"2.0","method":"notifications/initialized","params":)" +
                     std::string(params) + "}");
    ASSERT_TRUE(message) << params;
    const auto* notification = std::get_if<Notification>(&*message);
    ASSERT_NE(notification, nullptr);
    EXPECT_EQ(notification->params.Dump(), "{}");
  }
}

TEST(ParseMessage, ResponsesAreNeverAnswered) {
  for (const char* line :
       {R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}})",
        R"({"jsonrpc":"2.0","error":{"code":1,"message":"x"}})", R"({"id":1,"result":{}})"}) {
    Parsed message = ParseMessage(line);
    ASSERT_TRUE(message) << line;
    EXPECT_TRUE(std::holds_alternative<Response>(*message)) << line;
  }
}

TEST(ParseMessage, BrokenJson) {
  for (const char* line :
       {"", "{", "nonsense", R"({"jsonrpc":"2.0","id":null,"id":null,"method":"ping"})",
        R"({"jsonrpc":"2.0","method":"ping"} {})", "\xFF"}) {
    const Failure failure = ParsedFailure(line);
    EXPECT_EQ(failure.code, kParseError) << line;
    EXPECT_FALSE(failure.id);
    EXPECT_TRUE(failure.message.starts_with("Parse error: ")) << failure.message;
  }
}

TEST(ParseMessage, BrokenJsonKeepsTheId) {
  const std::string deep(70, '[');
  for (const std::string& line :
       {R"({"jsonrpc":"2.0","id":1,"id":7.0,"method":"ping"})"s,
        R"({"jsonrpc":"2.0","id":7.0,"method":"ping"} {})"s,
        R"({"jsonrpc":"2.0","id":7.0,"method":"ping","params":{"a":1,"a":2}})"s,
        R"({"jsonrpc":"2.0","method":"ping","params":)" + deep + std::string(70, ']') +
            R"(,"id":7.0})",
        "{\"jsonrpc\":\"2.0\",\"id\":7.0,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}"s}) {
    const Failure failure = ParsedFailure(line);
    EXPECT_EQ(failure.code, kParseError) << line;
    ASSERT_TRUE(failure.id) << line;
    EXPECT_EQ(failure.id->token(), "7.0");
  }
}

TEST(ParseMessage, ABrokenResponseIsOneThatBringsAnError) {
  const Parsed message = ParseMessage(R"({"jsonrpc":"2.0","id":"x","result":{"a":1,"a":2}})");
  ASSERT_TRUE(message) << "an error reply could hit a request of the client's";
  const auto* response = std::get_if<Response>(&*message);
  ASSERT_NE(response, nullptr);
  EXPECT_EQ(response->id->token(), R"("x")");
  EXPECT_FALSE(response->result);
}

TEST(ParseMessage, HalfASurrogatePairIsTheReplacementCharacter) {
  EXPECT_EQ(ParsedRequest(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x\ud83d"}})")
                .params.Dump(),
            "{\"a\":\"x\uFFFD\"}");
}

TEST(ParseMessage, NoObject) {
  for (const char* line : {"7", "null", R"("x")", "[]", "true"}) {
    EXPECT_EQ(ParsedFailure(line).code, kInvalidRequest) << line;
  }
}

TEST(ParseLine, ABatchHoldsItsMessages) {
  const Line line = ParseLine("[" + Call("1") + R"(,7,{"jsonrpc":"2.0","method":"n"}])");
  EXPECT_TRUE(line.batch);
  ASSERT_EQ(line.messages.size(), 3u);
  EXPECT_EQ(std::get<Request>(*line.messages[0]).id.token(), "1");
  EXPECT_EQ(line.messages[1].error().code, kInvalidRequest);
  EXPECT_TRUE(std::holds_alternative<Notification>(*line.messages[2]));
}

TEST(ParseLine, ABrokenBatchIsAnsweredToEachOfItsRequests) {
  const Line line = ParseLine("[" + Call("1") + "," + Call(R"("b")") + R"(,{"method":"n"},x])");
  EXPECT_FALSE(line.batch);
  ASSERT_EQ(line.messages.size(), 2u);
  EXPECT_EQ(line.messages[0].error().id->token(), "1");
  EXPECT_EQ(line.messages[1].error().id->token(), R"("b")");
}

TEST(ParseMessage, WrongShapesKeepTheId) {
  const struct {
    const char* line;
    int code;
    const char* says;
  } cases[] = {
      {R"({"id":"a","method":"ping"})", kInvalidRequest, "jsonrpc"},
      {R"({"jsonrpc":"1.0","id":"a","method":"ping"})", kInvalidRequest, "jsonrpc"},
      {R"({"jsonrpc":2.0,"id":"a","method":"ping"})", kInvalidRequest, "jsonrpc"},
      {R"({"jsonrpc":"2.0","id":"a"})", kInvalidRequest, "method is missing"},
      {R"({"jsonrpc":"2.0","id":"a","method":7})", kInvalidRequest, "method must be a string"},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","result":{}})", kInvalidRequest, "result"},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":7})", kInvalidRequest, "got number"},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":"x"})", kInvalidRequest, "got string"},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":[1]})", kInvalidParams, "got array"},
  };
  for (const auto& c : cases) {
    const Failure failure = ParsedFailure(c.line);
    EXPECT_EQ(failure.code, c.code) << c.line;
    EXPECT_NE(failure.message.find(c.says), std::string::npos) << failure.message;
    ASSERT_TRUE(failure.id) << c.line;
    EXPECT_EQ(failure.id->token(), R"("a")");
  }
}

TEST(Id, ProgressTokensToo) {
  EXPECT_EQ(Id::FromJson(JsonValue::Number("0"))->token(), "0");
  EXPECT_EQ(Id::FromJson(JsonValue::String(""))->token(), R"("")");
  EXPECT_FALSE(Id::FromJson(JsonValue()));
  EXPECT_FALSE(Id::FromJson(JsonValue::Bool(true)));
}

TEST(Lines, Result) {
  EXPECT_EQ(ResultLine(Id("7"), R"({"a":1})"), R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})");
}

TEST(Lines, ErrorWithAndWithoutId) {
  const Failure failure{kMethodNotFound, "no \"x\"", R"({"b":2})", {}};
  EXPECT_EQ(
      ErrorLine(Id(R"("a")"), failure),
      R"({"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no \"x\"","data":{"b":2}}})");
  EXPECT_EQ(ErrorLine(std::nullopt, Failure{kParseError, "p", "", {}}),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"p"}})");
}

TEST(Lines, Notification) {
  EXPECT_EQ(NotificationLine("notifications/progress", R"({"progress":1})"),
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})");
  EXPECT_EQ(NotificationLine("notifications/tools/list_changed", ""),
            R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
}

TEST(Lines, WhatWeSendWeCanRead) {
  EXPECT_TRUE(ParseMessage(NotificationLine("a\nb", "")));
  EXPECT_TRUE(ParseMessage(ErrorLine(std::nullopt, Failure{kParseError, "\xFF\n", "", {}})));
}

}  // namespace
}  // namespace pa::rpc
