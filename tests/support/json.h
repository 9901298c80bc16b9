// Json: another JSON library than our own, so that tests judge what ours writes. Its class is
// compiled once, in json.cc: that saves each test a second.
//
//     const Json answer = Json::parse(text);
//     EXPECT_EQ(answer["result"]["isError"], false);
#pragma once

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;

namespace pa::testing {

using Json = nlohmann::json;

}  // namespace pa::testing
