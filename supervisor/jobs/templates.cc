#include "supervisor/jobs/templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/try.h"

namespace pa {
namespace {

// Where a value stands among the arguments.
std::string Inside(std::string_view place, std::string_view name) {
  return place.empty() ? std::string(name) : fmt::format("{}.{}", place, name);
}
std::string Inside(std::string_view place, std::size_t index) {
  return fmt::format("{}[{}]", place, index);
}

// Each string value of a JSON value, with its place.
template <typename Visit>
void ForEachString(const JsonValue& value, const std::string& place, const Visit& visit) {
  if (value.IsString()) return visit(value.AsString(), place);
  if (value.IsArray()) {
    std::size_t index = 0;
    for (const JsonValue& item : value.Items()) ForEachString(item, Inside(place, index++), visit);
  }
  if (value.IsObject()) {
    for (const auto& [name, member] : value.Members()) {
      ForEachString(member, Inside(place, name), visit);
    }
  }
}

class Filler {
 public:
  Filler(std::span<const std::string> earlier, std::span<const std::string> all,
         const ValueOf& value_of)
      : earlier_(earlier), all_(all), value_of_(value_of) {}

  std::expected<JsonValue, TemplateError> Fill(const JsonValue& value, const std::string& place) {
    if (value.IsString()) return FillText(value.AsString(), place);
    if (value.IsArray()) {
      std::vector<JsonValue> items;
      for (const JsonValue& item : value.Items()) {
        PA_TRY(JsonValue filled, Fill(item, Inside(place, items.size())));
        items.push_back(std::move(filled));
      }
      return JsonValue::Array(std::move(items));
    }
    if (!value.IsObject()) return value;
    std::vector<JsonValue::Member> members;
    for (const auto& [name, member] : value.Members()) {
      PA_TRY(JsonValue filled, Fill(member, Inside(place, name)));
      members.emplace_back(name, std::move(filled));
    }
    return JsonValue::Object(std::move(members));
  }

 private:
  std::expected<JsonValue, TemplateError> FillText(const std::string& written,
                                                   const std::string& place) {
    auto text = ParseTemplateText(written, earlier_, all_);
    if (!text) return std::unexpected(TemplateError{place, std::move(text.error().message)});
    if (const StepReference* whole = text->Whole()) return ValueFor(*whole, place);
    std::string filled;
    for (const TemplatePart& part : text->parts) {
      if (!part.reference) {
        filled += part.text;
        continue;
      }
      PA_TRY(const JsonValue value, ValueFor(*part.reference, place));
      filled += value.IsString() ? value.AsString() : value.Dump();
    }
    return JsonValue::String(std::move(filled));
  }

  std::expected<JsonValue, TemplateError> ValueFor(const StepReference& reference,
                                                   const std::string& place) {
    auto value = value_of_(reference);
    if (!value) {
      return std::unexpected(TemplateError{place, std::move(value.error()), reference.Print()});
    }
    return *std::move(value);
  }

  std::span<const std::string> earlier_;
  std::span<const std::string> all_;
  const ValueOf& value_of_;
};

// `a, b, c`: what an object has, as far as that helps.
std::string NamesIn(const JsonValue& value) {
  constexpr std::size_t kMost = 8;
  std::string names;
  std::size_t told = 0;
  if (value.IsObject()) {
    for (const auto& [name, member] : value.Members()) {
      if (told++ == kMost) return names + ", ...";
      names += (names.empty() ? "" : ", ") + FieldPath{{{.name = name}}}.Print();
    }
  }
  return names;
}

}  // namespace

std::vector<TemplateError> CheckTemplates(const JsonValue& arguments,
                                          std::span<const std::string> earlier,
                                          std::span<const std::string> all) {
  std::vector<TemplateError> errors;
  ForEachString(arguments, "", [&](const std::string& text, const std::string& place) {
    auto parsed = ParseTemplateText(text, earlier, all);
    if (!parsed) errors.push_back({place, std::move(parsed.error().message)});
  });
  return errors;
}

std::expected<JsonValue, TemplateError> FillTemplates(const JsonValue& arguments,
                                                      std::span<const std::string> earlier,
                                                      std::span<const std::string> all,
                                                      const ValueOf& value_of) {
  return Filler(earlier, all, value_of).Fill(arguments, "");
}

std::expected<JsonValue, std::string> LookUp(const StepReference& reference, const JsonValue& base,
                                             std::span<const PathStep> path) {
  std::vector<JsonValue> values;
  ForEachAt(base, path, [&](const JsonValue& value) {
    values.push_back(value);
    return true;
  });
  if (NamesEach(path)) return JsonValue::Array(std::move(values));
  if (!values.empty()) return std::move(values[0]);
  const std::string names = NamesIn(base);
  std::string why =
      fmt::format("{}: the result of step '{}' does not have it", reference.Print(), reference.id);
  if (base.IsArray()) why += fmt::format("; the list has {}", base.Items().size());
  return std::unexpected(names.empty() ? why : why + "; it has " + names);
}

}  // namespace pa
