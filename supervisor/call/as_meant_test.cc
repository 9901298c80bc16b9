#include "supervisor/call/as_meant.h"

#include <gtest/gtest.h>

#include <string>

#include "supervisor/call/arguments.h"

namespace pa {
namespace {

constexpr Param kFields[] = {
    {.name = "path", .required = true},
    {.name = "old", .required = true},
    {.name = "new", .required = true},
    {.name = "replace_all", .kind = ParamKind::kBoolean},
};
constexpr Param kWithEdits[] = {
    {.name = "edits",
     .kind = ParamKind::kObjectArray,
     .required = true,
     .minimum = 1,
     .maximum = 3,
     .fields = kFields},
    {.name = "dry_run", .kind = ParamKind::kBoolean},
};
constexpr Param kPlain[] = {
    {.name = "path", .required = true},
    {.name = "timeout_ms", .kind = ParamKind::kInteger, .minimum = 1, .maximum = 600000},
    {.name = "dry_run", .kind = ParamKind::kBoolean},
    {.name = "paths", .kind = ParamKind::kStringArray, .minimum = 1},
    {.name = "ports", .kind = ParamKind::kPortArray, .minimum = 1},
};

// What it becomes, "as it is", or the error's message.
std::string Meant(std::span<const Param> params, std::string_view json) {
  const JsonValue arguments = ParseJson(json).value();
  const auto meant = AsMeant(params, &arguments);
  if (!meant) return meant.error().message;
  return *meant ? (*meant)->Dump() : "as it is";
}

TEST(AsMeant, WhatFitsStaysAsItIs) {
  EXPECT_EQ(Meant(kPlain, R"({"path":"a","timeout_ms":5,"dry_run":true,"paths":["a"]})"),
            "as it is");
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":[{"path":"a","old":"b","new":"c"}]})"), "as it is");
  EXPECT_EQ(Meant(kPlain, "[]"), "as it is");
  EXPECT_EQ(Meant(kPlain, "null"), "as it is");
  const auto none = AsMeant(kPlain, nullptr);
  EXPECT_TRUE(none && !*none);
}

TEST(AsMeant, NumbersAndBooleansMayBeQuoted) {
  EXPECT_EQ(Meant(kPlain, R"({"timeout_ms":"5000"})"), R"({"timeout_ms":5000})");
  EXPECT_EQ(Meant(kPlain, R"({"dry_run":"true"})"), R"({"dry_run":true})");
  EXPECT_EQ(Meant(kPlain, R"({"dry_run":"False"})"), R"({"dry_run":false})");
  for (const char* other : {R"({"timeout_ms":"5s"})", R"({"timeout_ms":""})",
                            R"({"timeout_ms":"true"})", R"({"timeout_ms":"[5]"})",
                            R"({"dry_run":"yes"})", R"({"dry_run":"1"})", R"({"dry_run":1})"}) {
    EXPECT_EQ(Meant(kPlain, other), "as it is") << other;
  }
}

TEST(AsMeant, OnePortIsAListOfOne) {
  for (const char* one : {R"({"ports":3000})", R"({"ports":"3000"})", R"({"ports":"[3000]"})"}) {
    EXPECT_EQ(Meant(kPlain, one), R"({"ports":[3000]})") << one;
  }
  EXPECT_EQ(Meant(kPlain, R"({"ports":[3000]})"), "as it is");
  EXPECT_EQ(Meant(kPlain, R"({"ports":"http"})"), "as it is");
}

// A text that looks like a number is a text where one is wanted.
TEST(AsMeant, StringsStayStrings) {
  EXPECT_EQ(Meant(kPlain, R"({"path":"5000"})"), "as it is");
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":[{"path":"a","old":"true","new":"[1]"}]})"), "as it is");
}

TEST(AsMeant, NamesOfOtherProgramsAreKnown) {
  for (const char* path : {"file_path", "filePath", "filepath", "FILE-PATH", "Path"}) {
    EXPECT_EQ(Meant(kPlain, std::string(R"({")") + path + R"(":"a"})"), R"({"path":"a"})");
  }
  EXPECT_EQ(Meant(kPlain, R"({"dryRun":true,"timeoutMs":"5"})"),
            R"({"dry_run":true,"timeout_ms":5})");
  for (const auto& [from, to] :
       {std::pair("old_string", "new_string"), std::pair("oldText", "newText"),
        std::pair("old_text", "new_text"), std::pair("old_str", "new_str"),
        std::pair("oldString", "newString")}) {
    const std::string edit =
        std::string(R"({"edits":[{"file_path":"a",")") + from + R"(":"b",")" + to + R"(":"c"}]})";
    EXPECT_EQ(Meant(kWithEdits, edit), R"({"edits":[{"path":"a","old":"b","new":"c"}]})") << edit;
  }
  EXPECT_EQ(Meant(kPlain, R"({"file":"a"})"), "as it is");
  EXPECT_EQ(Meant(kPlain, R"({"old_string":"a"})"), "as it is") << "no such parameter here";
  EXPECT_EQ(Meant(kPlain, "{\"" + std::string(100'000, '_') + R"(path":"a"})"), "as it is");
}

TEST(AsMeant, TwoSpellingsMayNotDiffer) {
  EXPECT_EQ(Meant(kPlain, R"({"path":"a","file_path":"a"})"), R"({"path":"a"})");
  EXPECT_EQ(Meant(kPlain, R"({"path":null,"file_path":"a"})"), R"({"path":"a"})");
  EXPECT_EQ(Meant(kPlain, R"({"file_path":"a","path":null})"), R"({"path":"a"})");
  EXPECT_EQ(Meant(kPlain, R"({"path":"a","file_path":"b"})"),
            "argument 'file_path' means 'path', which is there, too, and the two values differ");
  EXPECT_EQ(Meant(kPlain, R"({"file_path":"b","filePath":"a"})"),
            "argument 'filePath' means 'path', which is there, too, and the two values differ");
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":[{"old":"a","old_string":"b"}]})"),
            "argument 'old_string' means 'old', which is there, too, and the two values differ");
}

TEST(AsMeant, AnArrayMayBeATextOrASingleItem) {
  EXPECT_EQ(Meant(kPlain, R"({"paths":"a b"})"), R"({"paths":["a b"]})");
  EXPECT_EQ(Meant(kPlain, R"({"paths":"[\"a\",\"b\"]"})"), R"({"paths":["a","b"]})");
  EXPECT_EQ(Meant(kPlain, R"({"paths":"[id].tsx"})"), "as it is") << "it could be either";
  constexpr const char* kOne = R"({"edits":[{"path":"a","old":"b","new":"c"}]})";
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":"[{\"path\":\"a\",\"old\":\"b\",\"new\":\"c\"}]"})"),
            kOne);
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":"{\"path\":\"a\",\"old\":\"b\",\"new\":\"c\"}"})"), kOne);
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":{"path":"a","old":"b","new":"c"}})"), kOne);
  EXPECT_EQ(Meant(kWithEdits,
                  R"({"edits":"[{\"file_path\":\"a\",\"old_string\":\"b\",\"new\":\"c\"}]"})"),
            kOne);
  const std::string broken = Meant(kWithEdits, R"({"edits":"[{path: a}]"})");
  EXPECT_TRUE(
      broken.starts_with("argument 'edits': expected an array of objects, got a string "
                         "that is no JSON: "))
      << broken;
}

TEST(AsMeant, MembersOfTheObjectsMayStandBesideThem) {
  EXPECT_EQ(Meant(kWithEdits, R"({"path":"a","edits":[{"old":"b","new":"c"}]})"),
            R"({"edits":[{"old":"b","new":"c","path":"a"}]})");
  EXPECT_EQ(Meant(kWithEdits, R"({"path":"a","edits":[{"path":"a","old":"b"},{"old":"c"}]})"),
            R"({"edits":[{"path":"a","old":"b"},{"old":"c","path":"a"}]})");
  EXPECT_EQ(Meant(kWithEdits, R"({"path":"a","edits":[{"path":"b","old":"c"}]})"),
            "argument 'path' is there twice, and the two values differ");
  EXPECT_EQ(Meant(kWithEdits,
                  R"({"file_path":"a","old_string":"b","new_string":"c","replace_all":"true",)"
                  R"("dry_run":true})"),
            R"({"dry_run":true,"edits":[{"path":"a","old":"b","new":"c","replace_all":true}]})");
  EXPECT_EQ(Meant(kWithEdits, R"({"path":"a","edits":null,"old":"b","new":"c"})"),
            R"({"edits":[{"path":"a","old":"b","new":"c"}]})");
  EXPECT_EQ(Meant(kWithEdits, R"({"unknown":"a","edits":[{"path":"a"}]})"), "as it is");
}

// What is refused in any case is not worked through.
TEST(AsMeant, TooManyAreLeftAlone) {
  std::string members;
  for (int i = 0; i < 100; ++i) members += ",\"x" + std::to_string(i) + "\":1";
  EXPECT_EQ(Meant(kPlain, R"({"file_path":"a")" + members + "}"), "as it is");
  EXPECT_EQ(Meant(kWithEdits, R"({"edits":[{"old_string":"1"},{},{},{}]})"), "as it is");
}

TEST(AsMeant, WhatItMakesIsValid) {
  const JsonValue arguments =
      ParseJson(R"({"filePath":"a","edits":"[{\"oldText\":\"b\",\"newText\":\"c\"}]"})").value();
  const auto meant = AsMeant(kWithEdits, &arguments);
  ASSERT_TRUE(meant && *meant);
  const auto valid = ValidateArguments(kWithEdits, &**meant);
  ASSERT_TRUE(valid) << valid.error().message;
  const Arguments& edit = valid->Objects("edits")->front();
  EXPECT_EQ(*edit.String("path") + *edit.String("old") + *edit.String("new"), "abc");
}

}  // namespace
}  // namespace pa
