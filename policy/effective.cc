#include "policy/effective.h"

#include <cassert>

namespace pa::policy {
namespace {

void Write(JsonWriter& w, const std::string& value) { w.String(value); }

void Write(JsonWriter& w, const Located<std::string>& item) { w.String(item.value); }

void Write(JsonWriter& w, const RuleText& rule) {
  w.BeginObject().Field("tool", rule.tool);
  if (!rule.target.empty()) w.Field("target", rule.target);
  if (!rule.path.empty()) w.Field("path", rule.path);
  if (!rule.command.empty()) w.Field("command", rule.command);
  w.Field("decision", VerdictName(rule.verdict));
  if (!rule.reason.empty()) w.Field("reason", rule.reason);
  if (!rule.examples.empty()) {
    w.Key("examples").BeginArray();
    for (const Located<std::string>& example : rule.examples) Write(w, example);
    w.EndArray();
  }
  w.EndObject();
}

template <typename T>
void Write(JsonWriter& w, const std::vector<T>& list) {
  w.BeginArray();
  for (const T& item : list) Write(w, item);
  w.EndArray();
}

void Write(JsonWriter& w, const std::vector<Variable>& variables) {
  w.BeginObject();
  for (const Variable& variable : variables) w.Field(variable.name.value, variable.value);
  w.EndObject();
}

template <typename T>
std::string Json(const T& value) {
  JsonWriter writer;
  Write(writer, value);
  return std::move(writer).Take();
}

Item MakeItem(const Located<std::string>& item) { return {"", Json(item), item.at}; }
Item MakeItem(const RuleText& rule) { return {"", Json(rule), rule.at}; }
Item MakeItem(const Variable& variable) {
  return {variable.name.value, Json(variable.value), variable.name.at};
}

template <typename T>
std::vector<Item> Items(const std::vector<T>& list) {
  std::vector<Item> items;
  for (const T& item : list) items.push_back(MakeItem(item));
  return items;
}
std::vector<Item> Items(const std::string&) { return {}; }
std::vector<Item> Items(std::uint64_t) { return {}; }

template <typename T>
struct IsFragmentField : std::false_type {};
template <typename T>
struct IsFragmentField<std::optional<Located<T>> PolicyFragment::*> : std::true_type {};

// Calls `use` with the Located value of the key, whatever its type; false if there is none.
template <typename Use>
bool WithValue(const Key& key, const PolicyFragment& fragment, Use use) {
  if (key.IsNumber()) {
    const auto limit = fragment.limits.find(key.name);
    if (limit == fragment.limits.end()) return false;
    use(limit->second);
    return true;
  }
  return std::visit(
      [&](auto field) {
        if constexpr (IsFragmentField<decltype(field)>::value) {
          if (!(fragment.*field)) return false;
          use(*(fragment.*field));
          return true;
        } else {
          return false;
        }
      },
      key.field);
}

}  // namespace

bool HasValue(const Key& key, const PolicyFragment& fragment) {
  return WithValue(key, fragment, [](const auto&) {});
}

const SourceLocation& PlaceOf(const Key& key, const PolicyFragment& fragment) {
  const SourceLocation* place = nullptr;
  WithValue(key, fragment, [&](const auto& located) { place = &located.at; });
  assert(place != nullptr);
  return *place;
}

void WriteValue(JsonWriter& writer, const Key& key, const PolicyFragment& fragment) {
  WithValue(key, fragment, [&](const auto& located) {
    if constexpr (std::is_same_v<decltype(located.value), std::string>) {
      key.type == Type::kSwitch ? writer.Raw(located.value) : writer.String(located.value);
    } else if constexpr (!std::is_same_v<decltype(located.value), std::uint64_t>) {
      Write(writer, located.value);
    } else if (key.type == Type::kCount) {
      writer.Uint(located.value);
    } else {
      writer.String(FormatLimit(key, located.value));
    }
  });
}

std::vector<Item> ItemsOf(const Key& key, const PolicyFragment& fragment) {
  std::vector<Item> items;
  WithValue(key, fragment, [&](const auto& located) { items = Items(located.value); });
  return items;
}

}  // namespace pa::policy
