// ParsedJson: text that a test writes, as our own JsonValue.
//
//     const JsonValue params = testing::ParsedJson(R"({"cursor":null})");
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "base/json.h"

namespace pa::testing {

inline JsonValue ParsedJson(std::string_view text) {
  Result<JsonValue> value = ParseJson(text);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : JsonValue();
}

}  // namespace pa::testing
