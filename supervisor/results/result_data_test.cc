#include "supervisor/results/result_data.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

constexpr std::string_view kNames[] = {"stdout", "stderr", "files"};

ChangedData Change(std::string_view data, std::string_view name,
                   std::optional<std::string_view> replacement, std::string_view told = "") {
  const PathStep step{.name = std::string(name)};
  return ChangeData(data, {.path = {&step, 1}, .replacement = replacement}, kNames, told).value();
}

TEST(ResultData, OneMemberIsReplacedAndTheRestStays) {
  const ChangedData changed =
      Change(R"({"stdout":"a","exit_code":2,"x":{"y":[1.50]}})", "stdout", "\"b\"");
  EXPECT_EQ(changed.data, R"({"stdout":"b","exit_code":2,"x":{"y":[1.50]}})");
  EXPECT_EQ(Change(R"({"stdout":"a","n":1})", "stdout", std::nullopt).data, R"({"n":1})");
}

TEST(ResultData, WhatWasSaidOfTheReplacedTextGoesWithIt) {
  const ChangedData changed =
      Change(R"({"stdout":"a","stdout_omitted_bytes":5,"stdout_omitted_lines":1,"stderr":"b\n",)"
             R"("stderr_omitted_bytes":7})",
             "stdout", "\"\"");
  EXPECT_EQ(changed.data, R"({"stdout":"","stderr":"b\n","stderr_omitted_bytes":7})");
  EXPECT_TRUE(changed.cut) << "stderr is not all there";
  EXPECT_FALSE(Change(R"({"stdout":"a","stdout_omitted_bytes":5})", "stdout", "\"\"").cut);
}

TEST(ResultData, PeopleAreToldOfTheOtherListsAndTexts) {
  const std::string_view data =
      R"({"command":"git","stdout":"a","stderr":"oops","files":["x",{"p":1}],"diff":"-1\n+2\n",)"
      R"("hash":"abc","branch":"main","outcome":"exited","n":1})";
  EXPECT_EQ(Change(data, "stdout", "\"\"", "commit on main").others,
            "--- stderr ---\noops\n--- files ---\nx\n{\"p\":1}\n--- diff ---\n-1\n+2\nhash: abc\n");
  EXPECT_EQ(Change(data, "stdout", "\"\"", "").others.ends_with("hash: abc\nbranch: main\n"), true);
}

TEST(ResultData, WhatAMemberIs) {
  const auto kind = [](std::string_view name) {
    const PathStep step{.name = std::string(name)};
    return FindMember(R"({"t":"text","l":[],"n":1})", {&step, 1})->kind;
  };
  EXPECT_EQ(kind("t"), DataMember::Kind::kText);
  EXPECT_EQ(kind("l"), DataMember::Kind::kList);
  EXPECT_EQ(kind("n"), DataMember::Kind::kOther);
  EXPECT_EQ(kind("none"), DataMember::Kind::kNone);
}

}  // namespace
}  // namespace pa
