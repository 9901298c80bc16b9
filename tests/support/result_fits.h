// WhyUnfit: checks a result's data against the table that prints its schema, in both directions:
// for missing fields and for fields that are not in the table.
//
//    EXPECT_EQ(testing::WhyUnfit(tool.data, *ParseJson(result.data)), "");
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "base/json.h"
#include "supervisor/call/result_schema.h"

namespace pa::testing {

std::string WhyUnfit(std::span<const ResultField> fields, const JsonValue& data);

// "" if `value` fits its field.
inline std::string WhyUnfit(const ResultField& field, const JsonValue& value) {
  const std::string name(field.name);
  const auto each = [&](auto why_not) -> std::string {
    if (!value.IsArray()) return name + " is no array";
    for (const JsonValue& item : value.Items()) {
      if (const std::string why = why_not(item); !why.empty()) return name + "[]: " + why;
    }
    return "";
  };
  switch (field.kind) {
    case FieldKind::kString:
      if (!value.IsString()) return name + " is no string";
      return field.one_of.empty() ||
                     std::ranges::find(field.one_of, value.AsString()) != field.one_of.end()
                 ? ""
                 : name + " is none of the names: " + value.AsString();
    case FieldKind::kInteger:
      return value.AsInteger().has_value() ? "" : name + " is no integer";
    case FieldKind::kBoolean:
      return value.IsBool() ? "" : name + " is no boolean";
    case FieldKind::kObject:
      return value.IsObject() ? WhyUnfit(field.fields, value) : name + " is no object";
    case FieldKind::kStringArray:
      return each([](const JsonValue& item) { return item.IsString() ? "" : "no string"; });
    case FieldKind::kObjectArray:
      return each([&](const JsonValue& item) {
        return item.IsObject() ? WhyUnfit(field.fields, item) : "no object";
      });
  }
  return name + " is of no kind";
}

inline std::string WhyUnfit(std::span<const ResultField> fields, const JsonValue& data) {
  if (fields.empty()) return "";  // anything
  for (const ResultField& field : fields) {
    const JsonValue* value = data.Find(field.name);
    if (value == nullptr && field.required) return std::string(field.name) + " is missing";
    if (value == nullptr) continue;
    if (const std::string why = WhyUnfit(field, *value); !why.empty()) return why;
  }
  for (const JsonValue::Member& member : data.Members()) {
    if (std::ranges::find(fields, member.first, &ResultField::name) == fields.end()) {
      return member.first + " is not in the schema";
    }
  }
  return "";
}

}  // namespace pa::testing
