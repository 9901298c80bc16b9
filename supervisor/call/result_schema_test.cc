#include "supervisor/call/result_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pa {
namespace {

using nlohmann::json;

TEST(OutputSchema, HoldsTheToolsData) {
  static constexpr ResultField kPart[] = {{.name = "n", .kind = FieldKind::kInteger}};
  static constexpr std::string_view kNames[] = {"a", "b"};
  static constexpr ResultField kData[] = {
      {.name = "parts", .kind = FieldKind::kObjectArray, .required = true, .fields = kPart},
      {.name = "which", .description = "of both", .one_of = kNames},
      {.name = "any", .kind = FieldKind::kObject},
      {.name = "names", .kind = FieldKind::kStringArray},
  };
  const json schema = json::parse(OutputSchema(kData));
  EXPECT_EQ(schema["required"], (json{"success", "meta"}));
  EXPECT_EQ(schema["properties"]["error"]["required"],
            (json{"code", "message", "ai_message", "recoverable"}));
  EXPECT_EQ(schema["properties"]["data"], json::parse(R"({"type":"object","properties":{
      "parts":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},
      "which":{"type":"string","description":"of both","enum":["a","b"]},
      "any":{"type":"object"},
      "names":{"type":"array","items":{"type":"string"}}},"required":["parts"]})"));
  EXPECT_EQ(json::parse(OutputSchema({}))["properties"]["data"], (json{{"type", "object"}}));
}

}  // namespace
}  // namespace pa
