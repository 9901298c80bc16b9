#include "supervisor/results/result_data.h"

#include <algorithm>

#include "base/json_view.h"
#include "base/json_writer.h"
#include "base/try.h"

namespace pa {
namespace {

// Of our own making, as large as a tool makes it.
constexpr JsonLimits kDataLimits{.max_bytes = 256U << 20, .max_values = 64U << 20};

// `stdout_omitted_bytes` is about a text that no longer stands there.
bool IsAbout(std::string_view name, std::string_view member) {
  return name.starts_with(member) && name.substr(member.size()).starts_with("_omitted_");
}

void WriteChanged(const JsonView& object, std::span<const PathStep> path,
                  std::optional<std::string_view> replacement, JsonWriter& writer) {
  writer.BeginObject();
  for (const auto& [name, value] : object.Members()) {
    if (path.size() == 1 && IsAbout(name, path[0].name)) continue;
    if (name != path[0].name) {
      writer.Key(name).Value(value);
    } else if (path.size() > 1 && value.IsObject()) {
      WriteChanged(value, path.subspan(1), replacement, writer.Key(name));
    } else if (replacement) {
      writer.Key(name).Raw(*replacement);
    }
  }
  writer.EndObject();
}

// Strings as they are, everything else as JSON, one on each line.
std::string ListText(const JsonView& list) {
  std::string text;
  for (const JsonView item : list.Items()) {
    if (item.IsString()) {
      text.append(item.AsString()) += '\n';
    } else {
      JsonWriter writer;
      writer.Value(item);
      text += std::move(writer).Take() + '\n';
    }
  }
  return text;
}

// What every headline says in other words.
constexpr std::string_view kInHeadline[] = {"command", "working_dir", "outcome", "mode"};

std::string OtherText(std::string_view name, const JsonView& value, bool is_item,
                      std::string_view told) {
  const auto below = [&](std::string text) {
    if (text.empty()) return text;
    if (!text.ends_with('\n')) text += '\n';
    return "--- " + std::string(name) + " ---\n" + text;
  };
  if (value.IsArray() && is_item) return below(ListText(value));
  if (!value.IsString()) return "";
  const std::string_view text = value.AsString();
  if (is_item || text.contains('\n')) return below(std::string(text));
  const bool known = text.empty() || told.contains(text) ||
                     std::ranges::find(kInHeadline, name) != std::end(kInHeadline);
  return known ? "" : std::string(name) + ": " + std::string(text) + "\n";
}

}  // namespace

Result<ChangedData> ChangeData(std::string_view data, const DataChange& change,
                               std::span<const std::string_view> names, std::string_view told) {
  JsonReader reader(kDataLimits);
  PA_TRY(const JsonView root, reader.Read(data));
  ChangedData changed;
  JsonWriter writer;
  WriteChanged(root, change.path, change.replacement, writer);
  changed.data = std::move(writer).Take();
  for (const auto& [name, value] : root.Members()) {
    if (name == change.path[0].name) continue;
    changed.cut =
        changed.cut || (name.ends_with("_omitted_bytes") && !IsAbout(name, change.path[0].name));
    const bool is_item = std::ranges::find(names, name) != names.end();
    changed.others += OtherText(name, value, is_item, told);
  }
  return changed;
}

Result<DataMember> FindMember(std::string_view data, std::span<const PathStep> path) {
  JsonReader reader(kDataLimits);
  PA_TRY(const JsonView root, reader.Read(data));
  DataMember member;
  ForEachAt(root, path, [&](const JsonView& value) {
    member.kind = value.IsString()  ? DataMember::Kind::kText
                  : value.IsArray() ? DataMember::Kind::kList
                                    : DataMember::Kind::kOther;
    if (value.IsString()) member.text = value.AsString();
    return false;
  });
  return member;
}

}  // namespace pa
