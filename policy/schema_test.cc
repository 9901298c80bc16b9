#include <algorithm>
#include <regex>

#include "base/json.h"
#include "policy/keys.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

JsonValue Schema() {
  Result<JsonValue> schema = ParseJson(PolicySchema());
  EXPECT_TRUE(schema.has_value());
  return schema ? std::move(*schema) : JsonValue();
}

// The schema of a key, or null.
const JsonValue* Find(const JsonValue& schema, const Key& key) {
  const JsonValue* properties = schema.Find("properties");
  if (!key.Section().empty()) {
    const JsonValue* section = properties->Find(key.Section());
    properties = section == nullptr ? nullptr : section->Find("properties");
  }
  return properties == nullptr ? nullptr : properties->Find(key.Word());
}

TEST(Schema, IsOneClosedObjectOfTheDialect) {
  const JsonValue schema = Schema();
  EXPECT_EQ(schema.Find("$schema")->AsString(), "https://json-schema.org/draft/2020-12/schema");
  EXPECT_FALSE(schema.Find("additionalProperties")->AsBool());
  ASSERT_EQ(schema.Find("required")->Items().size(), 1u);
  for (const auto& [name, section] : schema.Find("properties")->Members()) {
    if (section.Find("properties") == nullptr) continue;
    EXPECT_FALSE(section.Find("additionalProperties")->AsBool()) << name;
  }
}

TEST(Schema, HoldsEveryKeyThatIsBuiltAndNoOther) {
  const JsonValue schema = Schema();
  for (const Key& key : PolicyKeys()) {
    const JsonValue* found = Find(schema, key);
    if (key.type == Type::kNotBuilt) {
      EXPECT_EQ(found, nullptr) << key.name;
      continue;
    }
    ASSERT_NE(found, nullptr) << key.name;
    EXPECT_FALSE(found->Find("description")->AsString().empty()) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
  }
}

TEST(Schema, OffersOnlyChoicesThatAreBuilt) {
  const JsonValue schema = Schema();
  for (const Key& key : PolicyKeys()) {
    if (key.type != Type::kChoice) continue;
    for (const JsonValue& name : Find(schema, key)->Find("enum")->Items()) {
      const auto choice = std::ranges::find(key.choices, name.AsString(), &Choice::name);
      ASSERT_NE(choice, key.choices.end());
      EXPECT_TRUE(choice->not_built.empty()) << key.name << ' ' << choice->name;
    }
  }
  EXPECT_EQ(Find(schema, *FindKey("network"))->Find("enum")->Items().size(), 3u);
  EXPECT_EQ(Find(schema, *FindKey("git.signing"))->Find("enum")->Items().size(), 1u);
}

TEST(Schema, AllIsNoToolOfAPipeline) {
  const JsonValue schema = Schema();
  const JsonValue* items = Find(schema, *FindKey("pipeline.tools"))->Find("items");
  ASSERT_NE(items->Find("not"), nullptr);
  EXPECT_EQ(items->Find("not")->Find("const")->AsString(), "all");
  EXPECT_EQ(Find(schema, *FindKey("tools.enable"))->Find("items")->Find("not"), nullptr);
}

TEST(Schema, DefaultsAreThoseOfTheProgram) {
  const JsonValue schema = Schema();
  const Limits limits;
  EXPECT_EQ(Find(schema, *FindKey("limits.wall_time"))->Find("default")->AsString(), "10m");
  EXPECT_EQ(Find(schema, *FindKey("limits.memory"))->Find("default")->AsString(), "4GiB");
  EXPECT_EQ(Find(schema, *FindKey("limits.queue"))->Find("default")->AsInteger(),
            static_cast<std::int64_t>(limits.queue));
  EXPECT_EQ(Find(schema, *FindKey("network"))->Find("default")->AsString(), "none");
  for (const Key& key : PolicyKeys()) {
    const JsonValue* pattern = key.IsNumber() ? Find(schema, key)->Find("pattern") : nullptr;
    if (pattern == nullptr) continue;
    const std::string value = Find(schema, key)->Find("default")->AsString();
    EXPECT_TRUE(std::regex_search(value, std::regex(pattern->AsString()))) << key.name;
  }
}

}  // namespace
}  // namespace pa::policy
