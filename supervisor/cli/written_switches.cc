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

// What cannot be read is as if nothing had been written: then nothing is taken away.
std::vector<JsonValue::Member> MembersOf(const std::string& text) {
  const Result<JsonValue> value = ParseJson(text);
  if (!value || !value->IsObject()) return {};
  return value->Members();
}

}  // namespace

std::vector<std::string> ReadWrittenSwitches(const std::string& record, const std::string& file) {
  std::vector<std::string> names;
  const Result<UserFile> kept = ReadUserFile(record, DirectoryOf(record));
  if (!kept) return names;
  for (const auto& [path, value] : MembersOf(kept->content)) {
    if (path != file || !value.IsArray()) continue;
    for (const JsonValue& name : value.Items()) {
      if (name.IsString()) names.push_back(name.AsString());
    }
  }
  return names;
}

Result<void> KeepWrittenSwitches(const std::string& record, const std::string& file,
                                 const std::vector<std::string>& names) {
  PA_TRY_VOID(MakeStateDirectory(DirectoryOf(record)));
  PA_TRY(const UserFile kept, ReadUserFile(record, DirectoryOf(record)));
  std::vector<JsonValue::Member> members = MembersOf(kept.content);
  std::erase_if(members, [&](const JsonValue::Member& member) { return member.first == file; });
  std::vector<JsonValue> items;
  for (const std::string& name : names) items.push_back(JsonValue::String(name));
  if (!items.empty()) members.emplace_back(file, JsonValue::Array(std::move(items)));
  return ReplaceUserFile(kept, JsonValue::Object(std::move(members)).Dump() + "\n");
}

}  // namespace pa
