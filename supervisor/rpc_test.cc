#include "supervisor/rpc.h"

#include <gtest/gtest.h>

namespace pa::rpc {
namespace {

Request ParsedRequest(std::string_view line) {
  std::expected<Message, Failure> message = ParseMessage(line);
  EXPECT_TRUE(message) << (message ? "" : message.error().message);
  if (!message || !std::holds_alternative<Request>(*message)) {
    ADD_FAILURE() << "no request: " << line;
    return Request{Id("0"), "", {}};
  }
  return std::get<Request>(*std::move(message));
}

Failure ParsedFailure(std::string_view line) {
  std::expected<Message, Failure> message = ParseMessage(line);
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
}

TEST(ParseMessage, IdsAreEchoedAsWritten) {
  for (const char* id : {"0", "7", "-3", R"("")", R"("a")", R"("0")", "9007199254740993",
                         "123456789012345678901234567890", R"("\"\\")"}) {
    EXPECT_EQ(ParsedRequest(Call(id)).id.token(), id);
  }
}

TEST(ParseMessage, IdsAreComparedByValue) {
  EXPECT_EQ(ParsedRequest(Call(R"("\u0061")")).id, ParsedRequest(Call(R"("a")")).id);
  EXPECT_NE(ParsedRequest(Call(R"("7")")).id, ParsedRequest(Call("7")).id);
}

TEST(ParseMessage, OtherIdsAreRefusedAndNotEchoed) {
  for (const char* id : {"null", "1.5", "1.0", "1e3", "true", "{}", "[1]"}) {
    const Failure failure = ParsedFailure(Call(id));
    EXPECT_EQ(failure.code, kInvalidRequest) << id;
    EXPECT_FALSE(failure.id) << id;
    EXPECT_NE(failure.message.find("id must be a string or an integer"), std::string::npos);
  }
}

TEST(ParseMessage, Notification) {
  std::expected<Message, Failure> message = ParseMessage(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  ASSERT_TRUE(message);
  const auto* notification = std::get_if<Notification>(&*message);
  ASSERT_NE(notification, nullptr);
  EXPECT_EQ(notification->method, "notifications/cancelled");
  EXPECT_EQ(notification->params.Dump(), R"({"requestId":0})");
}

TEST(ParseMessage, NotificationIsNeverAnswered) {
  for (const char* params : {"null", "[1]", R"("x")", "7"}) {
    std::expected<Message, Failure> message =
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
    std::expected<Message, Failure> message = ParseMessage(line);
    ASSERT_TRUE(message) << line;
    EXPECT_TRUE(std::holds_alternative<Response>(*message)) << line;
  }
}

TEST(ParseMessage, BrokenJson) {
  for (const char* line :
       {"", "{", "nonsense", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping"} {})", "\xFF"}) {
    const Failure failure = ParsedFailure(line);
    EXPECT_EQ(failure.code, kParseError) << line;
    EXPECT_FALSE(failure.id);
    EXPECT_TRUE(failure.message.starts_with("Parse error: ")) << failure.message;
  }
}

TEST(ParseMessage, NoObject) {
  for (const char* line : {"7", "null", R"("x")", "[]", "true"}) {
    EXPECT_EQ(ParsedFailure(line).code, kInvalidRequest) << line;
  }
}

TEST(ParseMessage, BatchIsRefusedWithASentence) {
  const Failure failure = ParsedFailure("[" + Call("1") + "]");
  EXPECT_EQ(failure.code, kInvalidRequest);
  EXPECT_EQ(failure.message,
            "Invalid request: batches are not supported; send one message on a line");
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
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":null})", kInvalidRequest, "got null"},
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
  EXPECT_FALSE(Id::FromJson(JsonValue::Number("0.5")));
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
