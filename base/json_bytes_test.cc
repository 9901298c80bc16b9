#include "base/json_bytes.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

std::string Written(std::string_view bytes) {
  JsonWriter writer;
  writer.BeginObject();
  WriteBytes(writer, "path", bytes);
  return std::move(writer.EndObject()).Take();
}

std::optional<std::string> ReadFrom(std::string_view json) {
  return ReadBytes(ParseJson(json).value(), "path");
}

TEST(JsonBytes, WhatIsWrittenIsRead) {
  for (const std::string& bytes :
       {std::string("src/a"), std::string(), std::string("\xc3\xa4/\"\n"), std::string("\xe4\xff"),
        std::string("a\0b", 3), std::string("/caf\xe9/\0", 7)}) {
    EXPECT_EQ(ReadFrom(Written(bytes)), bytes) << Written(bytes);
  }
}

TEST(JsonBytes, TextStaysLegible) {
  EXPECT_EQ(Written("\xc3\xa4"), "{\"path\":\"\xc3\xa4\"}");
  EXPECT_EQ(Written("\xe4"), R"({"path_base64":"5A=="})");
}

TEST(JsonBytes, WhatIsNoneIsNothing) {
  for (const char* json : {R"({})", R"({"path":1})", R"({"path":null,"path_base64":"5A=="})",
                           R"({"path_base64":1})", R"({"path_base64":"%"})"}) {
    EXPECT_EQ(ReadFrom(json), std::nullopt) << json;
  }
}

}  // namespace
}  // namespace pa
