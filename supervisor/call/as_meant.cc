#include "supervisor/call/as_meant.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "base/words.h"

namespace pa {
namespace {

using Meant = std::expected<std::optional<JsonValue>, ToolError>;

// What other programs call the same thing, as Plain has it: the tools of Claude Code, Gemini CLI
// and VS Code, Anthropic's text editor tool, the filesystem server of the MCP project.
struct Synonym {
  std::string_view written, param;
};
constexpr Synonym kSynonyms[] = {
    {"filepath", "path"}, {"oldstring", "old"}, {"oldtext", "old"}, {"oldstr", "old"},
    {"newstring", "new"}, {"newtext", "new"},   {"newstr", "new"},  {"arguments", "args"},
};

std::string Plain(std::string_view name) {
  std::string plain = Lowered(name);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
  return plain;
}

// The parameter that `name` means; null: none.
const Param* ParamFor(std::span<const Param> params, std::string_view name) {
  constexpr std::size_t kLongest = 64;
  if (name.size() > kLongest) return nullptr;
  const auto exact = std::ranges::find(params, name, &Param::name);
  if (exact != params.end()) return &*exact;
  const std::string plain = Plain(name);
  const auto synonym = std::ranges::find(kSynonyms, plain, &Synonym::written);
  for (const Param& param : params) {
    const bool same = synonym != std::end(kSynonyms) && synonym->param == param.name;
    if (same || Plain(param.name) == plain) return &param;
  }
  return nullptr;
}

// A member of an object, under the name of its parameter.
struct Entry {
  std::string name;
  const JsonValue* given;               // borrowed
  std::optional<JsonValue> meant = {};  // in place of it
  const JsonValue& value() const { return meant ? *meant : *given; }
};
using Entries = std::vector<Entry>;

ToolError TwoValues(std::string_view written, std::string_view param) {
  const std::string what =
      written == param
          ? fmt::format("argument '{}' is there twice", param)
          : fmt::format("argument '{}' means '{}', which is there, too", written, param);
  return InvalidArgument(what + ", and the two values differ",
                         fmt::format("Call again with one value for '{}'.", param));
}

// Null counts as absent.
std::expected<void, ToolError> Add(Entries& entries, Entry entry, std::string_view written) {
  const auto there = std::ranges::find(entries, entry.name, &Entry::name);
  if (there == entries.end()) {
    entries.push_back(std::move(entry));
  } else if (there->value().IsNull()) {
    *there = std::move(entry);
  } else if (!entry.value().IsNull() && entry.value().Dump() != there->value().Dump()) {
    return std::unexpected(TwoValues(written, entry.name));
  }
  return {};
}

JsonValue ObjectOf(const Entries& entries) {
  std::vector<JsonValue::Member> members;
  for (const Entry& entry : entries) members.emplace_back(entry.name, entry.value());
  return JsonValue::Object(std::move(members));
}

// Of a number or a boolean; Python's `True`, too.
std::optional<JsonValue> Unquoted(const JsonValue& value, JsonValue::Kind wanted) {
  constexpr std::size_t kLongest = 32;
  if (!value.IsString() || value.AsString().size() > kLongest) return std::nullopt;
  Result<JsonValue> parsed = ParseJson(Lowered(value.AsString()));
  if (!parsed || parsed->kind() != wanted) return std::nullopt;
  return *std::move(parsed);
}

std::optional<JsonValue> MeantStrings(const JsonValue& value) {
  if (!value.IsString()) return std::nullopt;
  if (!value.AsString().starts_with('[')) return JsonValue::Array({value});
  Result<JsonValue> parsed = ParseJson(value.AsString());
  if (!parsed) return std::nullopt;
  return *std::move(parsed);
}

// `3000`, `"3000"` or `"[3000]"` for `[3000]`.
std::optional<JsonValue> MeantPorts(const JsonValue& value) {
  if (value.kind() == JsonValue::Kind::kNumber) return JsonValue::Array({value});
  if (!value.IsString()) return std::nullopt;
  Result<JsonValue> parsed = ParseJson(value.AsString());
  if (!parsed) return std::nullopt;
  if (parsed->kind() == JsonValue::Kind::kNumber) return JsonValue::Array({*std::move(parsed)});
  return *std::move(parsed);
}

Meant MeantObject(std::span<const Param> params, const JsonValue& object);

Meant MeantObjects(const Param& param, const JsonValue& value) {
  std::optional<JsonValue> list;
  if (value.IsString()) {
    Result<JsonValue> parsed = ParseJson(value.AsString());
    if (!parsed) {
      return std::unexpected(InvalidArgument(
          fmt::format("argument '{}': expected an array of objects, got a string that is no JSON: "
                      "{}",
                      param.name, parsed.error().Message()),
          fmt::format("Pass '{}' as an array, not as a string.", param.name)));
    }
    if (parsed->IsArray() || parsed->IsObject()) list = *std::move(parsed);
  }
  if ((list ? *list : value).IsObject()) list = JsonValue::Array({list ? *list : value});
  const JsonValue& array = list ? *list : value;
  const auto most = static_cast<std::size_t>(param.maximum);
  if (!array.IsArray() || (most != 0 && array.Items().size() > most)) return list;
  std::vector<std::optional<JsonValue>> items;
  bool changed = false;
  for (const JsonValue& item : array.Items()) {
    Meant meant;
    if (item.IsObject()) meant = MeantObject(param.fields, item);
    if (!meant) return meant;
    changed = changed || *meant;
    items.push_back(*std::move(meant));
  }
  if (!changed) return list;
  std::vector<JsonValue> all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    all.push_back(items[i] ? *std::move(items[i]) : array.Items()[i]);
  }
  return JsonValue::Array(std::move(all));
}

// An object that is the text of a JSON object.
std::optional<JsonValue> MeantAnyObject(const JsonValue& value) {
  if (!value.IsString()) return std::nullopt;
  Result<JsonValue> parsed = ParseJson(value.AsString());
  if (!parsed || !parsed->IsObject()) return std::nullopt;
  return *std::move(parsed);
}

Meant MeantValue(const Param& param, const JsonValue& value) {
  switch (param.kind) {
    case ParamKind::kString:
      return std::nullopt;
    case ParamKind::kInteger:
      return Unquoted(value, JsonValue::Kind::kNumber);
    case ParamKind::kBoolean:
      return Unquoted(value, JsonValue::Kind::kBool);
    case ParamKind::kStringArray:
      return MeantStrings(value);
    case ParamKind::kPortArray:
      return MeantPorts(value);
    case ParamKind::kObjectArray:
      return MeantObjects(param, value);
    case ParamKind::kResult:
    case ParamKind::kObject:
      return MeantAnyObject(value);
  }
  return std::nullopt;
}

// `scattered` are members that each object of the list lacks, or that are the only one.
std::expected<JsonValue, ToolError> Gathered(const JsonValue* list, const Entries& scattered) {
  if (list == nullptr) return JsonValue::Array({ObjectOf(scattered)});
  std::vector<JsonValue> items;
  for (const JsonValue& item : list->Items()) {
    if (!item.IsObject()) {
      items.push_back(item);
      continue;
    }
    Entries entries;
    for (const auto& [name, value] : item.Members()) entries.push_back({name, &value});
    for (const Entry& entry : scattered) PA_TRY_VOID(Add(entries, entry, entry.name));
    items.push_back(ObjectOf(entries));
  }
  return JsonValue::Array(std::move(items));
}

// Puts `scattered` where they belong: into the objects of the list.
std::expected<void, ToolError> Gather(Entries& entries, const Param& list,
                                      const Entries& scattered) {
  auto there = std::ranges::find(entries, list.name, &Entry::name);
  const bool absent = there == entries.end() || there->value().IsNull();
  if (!absent && !there->value().IsArray()) return {};  // which is refused
  PA_TRY(JsonValue gathered, Gathered(absent ? nullptr : &there->value(), scattered));
  if (there == entries.end()) {
    there = entries.insert(there, {.name = std::string(list.name), .given = nullptr});
  }
  there->meant = std::move(gathered);
  return {};
}

Meant MeantObject(std::span<const Param> params, const JsonValue& object) {
  constexpr std::size_t kMostMembers = 64;  // no tool has so many: it is refused in any case
  if (object.Members().size() > kMostMembers) return std::nullopt;
  const auto list = std::ranges::find(params, ParamKind::kObjectArray, &Param::kind);
  Entries entries;
  Entries scattered;
  bool changed = false;
  for (const auto& [name, value] : object.Members()) {
    const Param* param = ParamFor(params, name);
    const bool inner = param == nullptr && list != params.end();
    if (inner) param = ParamFor(list->fields, name);
    Entry entry{.name = param != nullptr ? std::string(param->name) : name, .given = &value};
    if (param != nullptr) {
      PA_TRY(entry.meant, MeantValue(*param, value));
    }
    const bool moved = inner && param != nullptr;
    changed = changed || moved || entry.meant || entry.name != name;
    PA_TRY_VOID(Add(moved ? scattered : entries, std::move(entry), name));
  }
  if (!scattered.empty()) PA_TRY_VOID(Gather(entries, *list, scattered));
  if (!changed) return std::nullopt;
  return ObjectOf(entries);
}

}  // namespace

std::expected<std::optional<JsonValue>, ToolError> AsMeant(std::span<const Param> params,
                                                           const JsonValue* arguments) {
  if (arguments == nullptr || !arguments->IsObject()) return std::nullopt;
  return MeantObject(params, *arguments);
}

}  // namespace pa
