#include "supervisor/mcp/http_headers.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

class HttpHeadersTest : public ::testing::Test {
 protected:
  // The code; 0: the request is good.
  int Check() const {
    const auto failure = CheckHeaders(Head(), Request());
    return failure ? failure->code : 0;
  }
  std::string Message() const {
    const auto failure = CheckHeaders(Head(), Request());
    return failure ? failure->message : "";
  }
  bool IsModern() const { return IsModernRequest(Head(), Request()); }
  HttpHead Head() const {
    HttpHead head;
    for (const auto& [name, value] : fields_) head.fields.emplace_back(name, value);
    return head;
  }
  rpc::Request Request() const {
    const Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method_}, {"params", params_}};
    const rpc::Line line = rpc::ParseLine(request.dump());
    return std::get<rpc::Request>(*line.messages.at(0));
  }

  std::string method_ = "tools/call";
  Json params_ = {{"name", "make"},
                  {"_meta",
                   {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                    {"io.modelcontextprotocol/clientCapabilities", Json::object()}}}};
  std::map<std::string, std::string> fields_ = {
      {"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "make"}};
};

TEST_F(HttpHeadersTest, WhatRepeatsTheBodyIsGood) {
  EXPECT_EQ(Check(), 0) << Message();
  EXPECT_TRUE(IsModern());
}

TEST_F(HttpHeadersTest, EachOneIsNeededAndMustBeTheSame) {
  for (const char* name : {"mcp-protocol-version", "mcp-method", "mcp-name"}) {
    const std::string value = fields_[name];
    fields_.erase(name);
    EXPECT_EQ(Check(), -32020) << name;
    EXPECT_NE(Message().find("is missing"), std::string::npos) << Message();
    for (const std::string& other : {value + "x", std::string(), value + ", " + value}) {
      fields_[name] = other;
      EXPECT_EQ(Check(), -32020) << name << ": " << other;
    }
    fields_[name] = value;
  }
  fields_["mcp-method"] = "Tools/Call";
  EXPECT_EQ(Check(), -32020) << "values tell cases apart";
}

TEST_F(HttpHeadersTest, ANameMayBeBase64) {
  params_["name"] = "máke";
  fields_["mcp-name"] = "=?base64?bcOha2U=?=";
  EXPECT_EQ(Check(), 0) << Message();
  for (const char* wrong :
       {"=?base64?bcOha2U?=", "=?base64?!!!!?=", "=?BASE64?bcOha2U=?=", "=?base64?", "máke2"}) {
    fields_["mcp-name"] = wrong;
    EXPECT_EQ(Check(), -32020) << wrong;
  }
  params_["name"] = "=?base64?x?=";
  fields_["mcp-name"] = "=?base64?PT9iYXNlNjQ/eD89?=";
  EXPECT_EQ(Check(), 0) << "a name that looks like one: " << Message();
}

TEST_F(HttpHeadersTest, WhatIsNamedDependsOnTheMethod) {
  const std::pair<const char*, const char*> named[] = {{"prompts/get", "name"},
                                                       {"resources/read", "uri"},
                                                       {"tasks/get", "taskId"},
                                                       {"tasks/update", "taskId"},
                                                       {"tasks/cancel", "taskId"}};
  for (const auto& [method, param] : named) {
    method_ = fields_["mcp-method"] = method;
    params_.erase("name");
    params_[param] = "x:1";
    fields_["mcp-name"] = "x:1";
    EXPECT_EQ(Check(), 0) << method;
    fields_["mcp-name"] = "y";
    EXPECT_EQ(Check(), -32020) << method;
    params_.erase(param);
    EXPECT_EQ(Check(), 0) << "the missing parameter is the method's to refuse";
  }
  fields_.erase("mcp-name");
  for (const char* nameless : {"tools/list", "tasks/result"}) {
    method_ = fields_["mcp-method"] = nameless;
    EXPECT_EQ(Check(), 0) << nameless << ": there is none, or it has no name";
  }
}

// A mismatch is told before what is wrong with the envelope, and that before what is missing.
TEST_F(HttpHeadersTest, TheOrderIsThatOfTheSpecification) {
  fields_.erase("mcp-method");
  params_["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01";
  EXPECT_EQ(Check(), -32020);
  fields_["mcp-protocol-version"] = "2099-01-01";
  EXPECT_EQ(Check(), -32022);
  EXPECT_TRUE(IsModern());
  params_["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(Check(), -32602);
  params_.erase("_meta");
  EXPECT_FALSE(IsModern());
  fields_["mcp-protocol-version"] = "2026-07-28";
  EXPECT_TRUE(IsModern());
  EXPECT_EQ(Check(), -32602);
}

}  // namespace
}  // namespace pa
