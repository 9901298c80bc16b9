#include "supervisor/call/result_schema.h"

#include <gtest/gtest.h>

#include "tests/support/json.h"

namespace pa {
namespace {

using testing::Json;

TEST(OutputSchema, HoldsTheToolsData) {
  static constexpr ResultField kPart[] = {{.name = "n", .kind = FieldKind::kInteger}};
  static constexpr std::string_view kNames[] = {"a", "b"};
  static constexpr ResultField kData[] = {
      {.name = "parts", .kind = FieldKind::kObjectArray, .required = true, .fields = kPart},
      {.name = "which", .description = "of both", .one_of = kNames},
      {.name = "any", .kind = FieldKind::kObject},
      {.name = "names", .kind = FieldKind::kStringArray},
  };
  const Json schema = Json::parse(OutputSchema(kData));
  EXPECT_EQ(schema["required"], Json::array({"success"}));
  EXPECT_EQ(schema["properties"]["error"], (Json{{"type", "object"}}));
  EXPECT_EQ(schema["properties"]["data"], Json::parse(R"({"type":"object","properties":{
      "parts":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},
      "which":{"type":"string","enum":["a","b"]},
      "any":{"type":"object"},
      "names":{"type":"array","items":{"type":"string"}},
      "summary":{"type":"object"},"file":{"type":"object"}}})"));
  EXPECT_EQ(Json::parse(OutputSchema({}))["properties"]["data"], (Json{{"type", "object"}}));
}

}  // namespace
}  // namespace pa
