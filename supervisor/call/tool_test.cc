#include "supervisor/call/tool.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pa {
namespace {

using nlohmann::json;

TEST(OutputSchema, HoldsTheToolsData) {
  Tool tool{.name = "t",
            .title = "T",
            .description = "",
            .annotations = {},
            .params = {},
            .data_schema = R"({"type":"object","properties":{"n":{"type":"integer"}}})",
            .run = nullptr};
  const json schema = json::parse(OutputSchema(tool));
  EXPECT_EQ(schema["properties"]["data"]["properties"]["n"]["type"], "integer");
  EXPECT_EQ(schema["required"], (json{"success", "meta"}));
  tool.data_schema = {};
  EXPECT_EQ(json::parse(OutputSchema(tool))["properties"]["data"], (json{{"type", "object"}}));
}

}  // namespace
}  // namespace pa
