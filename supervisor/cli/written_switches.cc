#include "supervisor/cli/written_switches.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json.h"
#include "base/try.h"
#include "supervisor/clients/user_file.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

std::string DirectoryOf(const std::string& record) {
  return std::filesystem::path(record).parent_path();
}

bool IsListOfNames(const JsonValue& value) {
  return value.IsArray() && std::ranges::all_of(value.Items(), &JsonValue::IsString);
}

// An empty text is a record of nothing.
Result<std::vector<JsonValue::Member>> MembersOf(const std::string& record,
                                                 const std::string& text) {
  if (text.empty()) return {};
  const Result<JsonValue> value = ParseJson(text);
  if (value && value->IsObject() &&
      std::ranges::all_of(value->Members(), IsListOfNames, &JsonValue::Member::second)) {
    return value->Members();
  }
  return std::unexpected(Error(
      "expected an object of lists of names, as `init --exclusive` writes it; if this file is "
      "removed, init forgets what it has switched off",
      record));
}

}  // namespace

Result<std::vector<std::string>> ReadWrittenSwitches(const std::string& record,
                                                     const std::string& file) {
  PA_TRY(const UserFile kept, ReadUserFile(record, DirectoryOf(record)));
  PA_TRY(const auto members, MembersOf(record, kept.content));
  std::vector<std::string> names;
  for (const auto& [path, value] : members) {
    if (path != file) continue;
    for (const JsonValue& name : value.Items()) names.push_back(name.AsString());
  }
  return names;
}

Result<void> KeepWrittenSwitches(const std::string& record, const std::string& file,
                                 const std::vector<std::string>& names) {
  PA_TRY_VOID(MakeStateDirectory(DirectoryOf(record)));
  PA_TRY(const UserFile kept, ReadUserFile(record, DirectoryOf(record)));
  PA_TRY(auto members, MembersOf(record, kept.content));
  std::erase_if(members, [&](const JsonValue::Member& member) { return member.first == file; });
  std::vector<JsonValue> items;
  for (const std::string& name : names) items.push_back(JsonValue::String(name));
  if (!items.empty()) members.emplace_back(file, JsonValue::Array(std::move(items)));
  return ReplaceUserFile(kept, JsonValue::Object(std::move(members)).Dump() + "\n");
}

}  // namespace pa
