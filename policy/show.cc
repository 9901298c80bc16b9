#include <algorithm>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "policy/effective.h"
#include "policy/keys.h"
#include "policy/load.h"

namespace pa::policy {
namespace {

std::string ValueJson(const Key& key, const PolicyFragment& fragment) {
  JsonWriter writer;
  WriteValue(writer, key, fragment);
  return std::move(writer).Take();
}

// Then the list that is shown is two lists, and reading it as one would be wrong.
bool HasRulesOfBoth(const Policy& policy) {
  const auto administrator = [](const Rule& rule) { return rule.administrator; };
  return std::ranges::any_of(policy.permissions, administrator) &&
         !std::ranges::all_of(policy.permissions, administrator);
}

// Of what is not one plain word of YAML in any case.
bool IsQuoted(Type type) {
  return type == Type::kPath || type == Type::kFile || type == Type::kUrl || type == Type::kText;
}

std::string ItemName(const Key& key, const Item& item) {
  if (key.type != Type::kSubjects) return item.name;
  JsonWriter name;
  name.String(item.name);
  return std::move(name).Take();
}

// Lists and mappings an item a line; JSON's spelling of each item is also YAML's.
void AppendYaml(std::string& out, const Key& key, const PolicyFragment& fragment) {
  const std::string indent = key.Section().empty() ? "" : "  ";
  const std::string from = "  # " + PlaceOf(key, fragment).Format() + '\n';
  const std::string json = ValueJson(key, fragment);
  out += indent + std::string(key.Word()) + ':';
  const std::vector<Item> items = ItemsOf(key, fragment);
  if (!items.empty()) {
    out += from;
    for (const Item& item : items) {
      out += indent + "  " + (item.name.empty() ? "- " : ItemName(key, item) + ": ") + item.json;
      out += "  # " + item.at.Format() + '\n';
    }
  } else if (json.starts_with('"') && !IsQuoted(key.type)) {
    out += ' ' + json.substr(1, json.size() - 2) + from;  // durations, sizes, choices: plain words
  } else {
    out += ' ' + json + from;
  }
}

// Remarks, because they follow from filesystem.toolchains and are no keys.
void AppendCaches(std::string& out, const Caches& caches) {
  if (caches.base.empty()) return;
  out += "\n# Caches of toolchains, one directory a project, in " + RepairUtf8(caches.base, true);
  for (const auto& [name, value] : caches.variables) {
    out += "\n#   " + name + '=' + RepairUtf8(value, true);
  }
}

std::string ShowYaml(const Policy& policy) {
  std::string out = "# The policy in force.";
  for (const std::string& file : policy.sources) out += "\n# From " + RepairUtf8(file, true);
  if (HasRulesOfBoth(policy)) {
    out += "\n# The administrator's permissions and the others' are asked apart; both must allow.";
  }
  AppendCaches(out, policy.caches);
  for (const Relaxation& relaxation : policy.relaxations) {
    out += "\n# Relaxed: " + relaxation.Format();
  }
  out += "\nversion: 1\n";
  std::string_view section;
  for (const Key& key : PolicyKeys()) {
    if (!HasValue(key, *policy.effective)) continue;
    if (key.Section() != section) {
      section = key.Section();
      if (!section.empty()) out += std::string(section) + ":\n";
    }
    AppendYaml(out, key, *policy.effective);
  }
  return out;
}

void WriteSources(JsonWriter& w, const Policy& policy) {
  w.Key("sources").BeginArray();
  for (const std::string& file : policy.sources) w.String(file);
  w.EndArray();
}

void WriteCaches(JsonWriter& w, const Caches& caches) {
  w.Key("caches").BeginObject().Field("directory", caches.base);
  w.Key("profiles").BeginArray();
  for (const std::string& name : caches.profiles) w.String(name);
  w.EndArray().Key("variables").BeginObject();
  for (const auto& [name, value] : caches.variables) w.Field(name, value);
  w.EndObject().EndObject();
}

// {"sources": [...], "caches": {...}, "relaxations": [...], "policy": {...},
//  "from": {"limits.memory": "policy.yaml:3:11", ...}}
std::string ShowJson(const Policy& policy) {
  JsonWriter w;
  w.BeginObject();
  WriteSources(w, policy);
  WriteCaches(w, policy.caches);
  w.Key("relaxations");
  WriteRelaxations(w, policy.relaxations);
  w.Key("policy").BeginObject().Field("version", 1);
  std::string_view section;
  for (const Key& key : PolicyKeys()) {
    if (!HasValue(key, *policy.effective)) continue;
    if (key.Section() != section) {
      if (!section.empty()) w.EndObject();
      section = key.Section();
      if (!section.empty()) w.Key(section).BeginObject();
    }
    w.Key(key.Word());
    WriteValue(w, key, *policy.effective);
  }
  if (!section.empty()) w.EndObject();
  w.EndObject().Key("from").BeginObject();
  for (const Key& key : PolicyKeys()) {
    if (!HasValue(key, *policy.effective)) continue;
    w.Field(key.name, PlaceOf(key, *policy.effective).Format());
  }
  w.EndObject().EndObject();
  return std::move(w).Take();
}

}  // namespace

std::string ShowPolicy(const Policy& policy, bool json) {
  return json ? ShowJson(policy) : ShowYaml(policy);
}

}  // namespace pa::policy
