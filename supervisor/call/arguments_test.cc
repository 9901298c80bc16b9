#include "supervisor/call/arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pa {
namespace {

constexpr std::string_view kLanguages[] = {"python", "rust", "go"};
constexpr Param kParams[] = {
    {.name = "target", .required = true, .description = "a \"target\"", .pattern = "^[a-z]+$"},
    {.name = "language", .one_of = kLanguages},
    {.name = "timeout_ms", .kind = ParamKind::kInteger, .minimum = 1, .maximum = 600000},
    {.name = "offset", .kind = ParamKind::kInteger, .default_integer = 5},
    {.name = "dry_run", .kind = ParamKind::kBoolean},
    {.name = "paths", .kind = ParamKind::kStringArray, .minimum = 1, .maximum = 3},
    {.name = "tags", .kind = ParamKind::kStringArray},
    {.name = "ports", .kind = ParamKind::kPortArray, .minimum = 1, .maximum = 2},
    {.name = "items", .kind = ParamKind::kObjectArray},
    {.name = "any", .kind = ParamKind::kObject},
};

std::expected<Arguments, ToolError> Validate(std::string_view json,
                                             std::span<const Param> params = kParams) {
  Result<JsonValue> document = ParseJson(json);
  EXPECT_TRUE(document) << json;
  return ValidateArguments(params, &*document);
}

TEST(ValidateArguments, GivesEveryKind) {
  const auto arguments = Validate(
      R"({"target":"all","language":"go","timeout_ms":7.0,"dry_run":true,"paths":["a","b"]})");
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(*arguments->String("target"), "all");
  EXPECT_EQ(*arguments->String("language"), "go");
  EXPECT_EQ(arguments->Integer("timeout_ms"), 7);
  EXPECT_TRUE(arguments->Boolean("dry_run"));
  EXPECT_EQ(*arguments->Strings("paths"), (std::vector<std::string>{"a", "b"}));
}

TEST(ValidateArguments, AbsentOnesAreAbsent) {
  const auto arguments = Validate(R"({"target":"all"})");
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->String("language"), nullptr);
  EXPECT_EQ(arguments->Integer("timeout_ms"), std::nullopt);
  EXPECT_EQ(arguments->Integer("offset"), 5);
  EXPECT_FALSE(arguments->Boolean("dry_run"));
  EXPECT_EQ(arguments->Strings("paths"), nullptr);
}

TEST(ValidateArguments, NullIsAbsent) {
  const auto arguments =
      Validate(R"({"target":"all","language":null,"timeout_ms":null,"offset":null,)"
               R"("dry_run":null,"paths":null})");
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_EQ(arguments->String("language"), nullptr);
  EXPECT_EQ(arguments->Integer("timeout_ms"), std::nullopt);
  EXPECT_EQ(arguments->Integer("offset"), 5);
  EXPECT_FALSE(arguments->Boolean("dry_run"));
  EXPECT_EQ(arguments->Strings("paths"), nullptr);
  EXPECT_TRUE(Validate("null", {}));
}

TEST(ValidateArguments, AStringHasItsLimitInBytes) {
  constexpr Param kLimited[] = {{.name = "command", .maximum = 4, .advice = "Write a file."}};
  EXPECT_TRUE(Validate(R"({"command":"\u00e9\u00e9"})", kLimited));
  const auto refused = Validate(R"({"command":"\u00e9\u00e9a"})", kLimited);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "argument 'command': expected a string of at most 4 bytes, got one of 5");
  EXPECT_EQ(refused.error().ai_message, "Write a file.");
  EXPECT_NE(InputSchema(kLimited).find(R"("maxLength":4)"), std::string::npos);
}

TEST(ValidateArguments, AskingForAnotherKindGivesNothing) {
  const auto arguments = Validate(R"({"target":"all"})");
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->Integer("target"), std::nullopt);
  EXPECT_FALSE(arguments->Boolean("target"));
  EXPECT_EQ(arguments->Strings("target"), nullptr);
  EXPECT_EQ(arguments->String("offset"), nullptr);
}

TEST(ValidateArguments, NoneAtAllIsAnEmptyObject) {
  EXPECT_TRUE(ValidateArguments({}, nullptr));
  EXPECT_FALSE(ValidateArguments(kParams, nullptr));
}

TEST(ValidateArguments, RefusalsNameWhatWasExpectedAndWhatCame) {
  const std::string kKnown =
      "one of 'target', 'language', 'timeout_ms', 'offset', 'dry_run', 'paths', 'tags', 'ports', "
      "'items', 'any'";
  const struct {
    const char* json;
    std::string message;
  } cases[] = {
      {R"({})", "argument 'target' is required: a string"},
      {R"([])", "arguments: expected an object, got an array of 0"},
      {R"(null)", "argument 'target' is required: a string"},
      {R"({"target":null})", "argument 'target' is required: a string"},
      {R"({"target":7})", "argument 'target': expected a string, got number 7"},
      {R"({"target":{}})", "argument 'target': expected a string, got an object"},
      {R"({"target":"a","unknown":null})", "unknown argument \"unknown\"; expected " + kKnown},
      {R"({"target":"a","language":"pyton"})",
       "argument 'language': expected one of 'python', 'rust', 'go', got string \"pyton\" - did "
       "you mean 'python'?"},
      {R"({"target":"a","timeout_ms":0})",
       "argument 'timeout_ms': expected an integer from 1 to 600000, got number 0"},
      {R"({"target":"a","timeout_ms":1.5})",
       "argument 'timeout_ms': expected an integer from 1 to 600000, got number 1.5"},
      {R"({"target":"a","timeout_ms":"9"})",
       "argument 'timeout_ms': expected an integer from 1 to 600000, got string \"9\""},
      {R"({"target":"a","offset":-1})",
       "argument 'offset': expected an integer of at least 0, got number -1"},
      {R"({"target":"a","dry_run":"true"})",
       "argument 'dry_run': expected true or false, got string \"true\""},
      {R"({"target":"a","paths":["x",null]})",
       "argument 'paths': expected an array of 1 to 3 strings, got null (leave it out instead) at "
       "index 1"},
      {R"({"target":"a","paths":"x"})",
       "argument 'paths': expected an array of 1 to 3 strings, got string \"x\""},
      {R"({"target":"a","paths":[]})",
       "argument 'paths': expected an array of 1 to 3 strings, got an array of 0"},
      {R"({"target":"a","paths":["x",true]})",
       "argument 'paths': expected an array of 1 to 3 strings, got true at index 1"},
      {R"({"target":"a","ports":[1,0]})",
       "argument 'ports': expected an array of 1 to 2 integers from 1 to 65535, got number 0 at "
       "index 1"},
      {R"({"target":"a","dryrun":true})",
       "unknown argument \"dryrun\" - did you mean 'dry_run'?; expected " + kKnown},
      {R"({"target":"a","something_else":true})",
       "unknown argument \"something_else\"; expected " + kKnown},
  };
  for (const auto& c : cases) {
    const auto arguments = Validate(c.json);
    ASSERT_FALSE(arguments) << c.json;
    EXPECT_EQ(CodeText(arguments.error().code), "INVALID_ARGUMENT");
    EXPECT_EQ(arguments.error().message, c.message);
    EXPECT_FALSE(arguments.error().ai_message.empty());
    EXPECT_TRUE(arguments.error().recoverable);
  }
}

TEST(ValidateArguments, RefusalsShowTheShape) {
  static constexpr Param kItem[] = {{.name = "path", .required = true},
                                    {.name = "all", .kind = ParamKind::kBoolean}};
  static constexpr Param kNested[] = {
      {.name = "edits", .kind = ParamKind::kObjectArray, .required = true, .fields = kItem},
      {.name = "tags", .kind = ParamKind::kStringArray}};
  const std::string shape =
      "Call again with arguments of this shape: {edits: {path: string, all?: boolean}[], tags?: "
      "string[]}.";
  for (const char* json : {R"({"edits":7})", R"({"edits":[{"path":7}]})", R"({"edit":[]})"}) {
    const auto refused = Validate(json, kNested);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().ai_message, shape);
  }
  EXPECT_EQ(Validate("{}").error().ai_message,
            R"(Call again with arguments of this shape: {target: string, language?: "python" | )"
            R"("rust" | "go", timeout_ms?: integer, offset?: integer, dry_run?: boolean, paths?: )"
            R"(string[], tags?: string[], ports?: integer[], items?: object[], )"
            R"(any?: object}.)");
}

TEST(ValidateArguments, DetailsAreJson) {
  const auto arguments = Validate(R"({"target":"a","timeout_ms":0})");
  ASSERT_FALSE(arguments);
  EXPECT_EQ(
      arguments.error().details,
      R"({"argument":"timeout_ms","expected":"an integer from 1 to 600000","came":"number 0"})");
}

TEST(ValidateArguments, MessagesStayShort) {
  const std::string long_text(100'000, 'x');
  for (const std::string& json :
       {R"({"target":"a","language":")" + long_text + "\"}", R"({")" + long_text + "\":1}"}) {
    const auto arguments = Validate(json);
    ASSERT_FALSE(arguments);
    EXPECT_LT(arguments.error().message.size(), 300u);
    EXPECT_LT(arguments.error().details.size(), 300u);
  }
}

TEST(ValidateArguments, NoStringHoldsANul) {
  EXPECT_FALSE(Validate(R"({"target":"a\u0000b"})"));
  EXPECT_FALSE(Validate(R"({"target":"a","paths":["b","ok\u0000/../../x"]})"));
  EXPECT_TRUE(Validate(R"({"target":"a\u0001b"})"));
}

TEST(InputSchema, IsWhatClientsExpect) {
  EXPECT_EQ(InputSchema(kParams),
            R"({"type":"object","properties":{)"
            R"("target":{"type":"string","description":"a \"target\"","pattern":"^[a-z]+$"},)"
            R"("language":{"type":"string","enum":["python","rust","go"]},)"
            R"("timeout_ms":{"type":"integer","minimum":1,"maximum":600000},)"
            R"("offset":{"type":"integer","minimum":0,"maximum":9007199254740991,"default":5},)"
            R"("dry_run":{"type":"boolean"},)"
            R"("paths":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3},)"
            R"("tags":{"type":"array","items":{"type":"string"}},)"
            R"("ports":{"type":"array","items":{"type":"integer","minimum":1,"maximum":65535},)"
            R"("minItems":1,"maxItems":2},)"
            R"("items":{"type":"array","items":{"type":"object"}},"any":{"type":"object"}},)"
            R"("required":["target"],"additionalProperties":false})");
}

TEST(InputSchema, OfNoParameters) {
  EXPECT_EQ(InputSchema({}), R"({"type":"object","properties":{},"additionalProperties":false})");
}

// A JSON Schema validator for exactly the words that InputSchema prints; any other word fails.
class Schema {
 public:
  static bool Accepts(const JsonValue& schema, const JsonValue& value) {
    return std::ranges::all_of(schema.Members(), [&](const JsonValue::Member& rule) {
      return Obeys(schema, rule.first, rule.second, value);
    });
  }

 private:
  static bool IsType(const std::string& type, const JsonValue& value) {
    if (type == "integer") {
      return value.IsNumber() && (value.AsInteger() || value.NumberToken().size() > 18);
    }
    return value.KindName() == type;
  }

  static bool Obeys(const JsonValue& schema, const std::string& word, const JsonValue& rule,
                    const JsonValue& value) {
    const auto count = value.IsArray() ? static_cast<std::int64_t>(value.Items().size()) : 0;
    if (word == "type") return IsType(rule.AsString(), value);
    if (word == "description" || word == "default" || word == "pattern") return true;
    if (word == "enum") {
      return value.IsString() && std::ranges::any_of(rule.Items(), [&](const JsonValue& name) {
               return name.AsString() == value.AsString();
             });
    }
    if (word == "minimum") return value.AsInteger().value_or(0) >= *rule.AsInteger();
    if (word == "maximum") return value.AsInteger().value_or(INT64_MAX) <= *rule.AsInteger();
    if (word == "minItems") return count >= *rule.AsInteger();
    if (word == "maxItems") return count <= *rule.AsInteger();
    if (word == "items") {
      return !value.IsArray() || std::ranges::all_of(value.Items(), [&](const JsonValue& item) {
        return Accepts(rule, item);
      });
    }
    return ObeysAsObject(schema, word, rule, value);
  }

  static bool ObeysAsObject(const JsonValue& schema, const std::string& word, const JsonValue& rule,
                            const JsonValue& value) {
    if (!value.IsObject()) return true;
    if (word == "required") {
      return std::ranges::all_of(rule.Items(), [&](const JsonValue& name) {
        return value.FindSet(name.AsString()) != nullptr;
      });
    }
    if (word == "properties") {
      return std::ranges::all_of(rule.Members(), [&](const JsonValue::Member& property) {
        const JsonValue* member = value.FindSet(property.first);
        return member == nullptr || Accepts(property.second, *member);
      });
    }
    if (word == "additionalProperties") {
      return std::ranges::all_of(value.Members(), [&](const JsonValue::Member& member) {
        return schema.Find("properties")->Find(member.first) != nullptr;
      });
    }
    ADD_FAILURE() << "the test's validator does not know " << word;
    return false;
  }
};

// But for null, which the schema does not have and which is absent.
TEST(OneTruth, SchemaAndValidatorAgree) {
  Result<JsonValue> schema = ParseJson(InputSchema(kParams));
  ASSERT_TRUE(schema);
  int accepted = 0;
  int refused = 0;
  const auto compare = [&](const std::string& json) {
    Result<JsonValue> document = ParseJson(json);
    ASSERT_TRUE(document) << json;
    const bool accepts = ValidateArguments(kParams, &*document).has_value();
    const JsonValue said = document->IsNull() ? JsonValue::Object({}) : *document;
    EXPECT_EQ(accepts, Schema::Accepts(*schema, said)) << json;
    ++(accepts ? accepted : refused);
  };
  constexpr const char* kValues[] = {"null",
                                     "true",
                                     "false",
                                     "0",
                                     "1",
                                     "-1",
                                     "7",
                                     "7.0",
                                     "7.5",
                                     "1e2",
                                     "1e-2",
                                     "600000",
                                     "600001",
                                     "9007199254740991",
                                     "9007199254740992",
                                     "123456789012345678901234567890",
                                     "\"\"",
                                     "\"a\"",
                                     "\"go\"",
                                     "\"Go\"",
                                     "[]",
                                     "[\"a\"]",
                                     "[0]",
                                     "[1,65535]",
                                     "[1,65536]",
                                     "[1.5]",
                                     "[1,2,3]",
                                     "[{}]",
                                     "[\"a\",\"b\",\"c\"]",
                                     "[\"a\",\"b\",\"c\",\"d\"]",
                                     "[1]",
                                     "[\"a\",null]",
                                     "[[]]",
                                     "{}",
                                     "{\"a\":1}"};
  for (const char* value : kValues) {
    compare(value);
    for (const Param& param : kParams) {
      const std::string member = "\"" + std::string(param.name) + "\":" + value;
      compare("{" + member + "}");
      if (param.name != "target") compare("{\"target\":\"all\"," + member + "}");
    }
    compare("{\"target\":\"all\",\"unknown\":" + std::string(value) + "}");
  }
  EXPECT_GT(accepted, 20);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace pa
