#include <algorithm>
#include <limits>

#include "base/json_writer.h"
#include "policy/effective.h"
#include "policy/host_files.h"
#include "policy/keys.h"
#include "policy/load.h"
#include "policy/url.h"
#include "policy/variable_name.h"

namespace pa::policy {
namespace {

void WritePaths(JsonWriter& w) {
  w.Field("type", "array").Key("items").BeginObject();
  w.Field("type", "string").Field("minLength", 1);
  w.Field("description", "Absolute, or beginning with ~/ or ${NAME}; no `..`, no wildcards.");
  w.EndObject();
}

void WritePlaces(JsonWriter& w) {
  w.Field("type", "array").Key("items").BeginObject();
  w.Field("type", "string").Field("pattern", "^[^/~]");
  w.Field("description", "Relative to the working directory; no `..`, no wildcards.");
  w.EndObject();
}

void WriteHostFiles(JsonWriter& w) {
  w.Field("type", "array")
      .Key("items")
      .BeginObject()
      .Field("type", "string")
      .Key("enum")
      .BeginArray();
  for (const HostFile& file : HostFiles()) {
    if (!file.ours) w.String(file.path);
  }
  w.EndArray().EndObject();
}

void WriteNames(JsonWriter& w) {
  w.Field("type", "string").Field("pattern", VariableNamePattern());
  w.Key("not").BeginObject().Field("pattern", RefusedVariablePattern()).EndObject();
}

void WriteStrings(JsonWriter& w, Type type) {
  if (type == Type::kPaths) return WritePaths(w);
  if (type == Type::kPlaces) return WritePlaces(w);
  if (type == Type::kHostFiles) return WriteHostFiles(w);
  w.Field("type", "array").Key("items").BeginObject();
  if (type == Type::kNames) {
    WriteNames(w);
  } else if (type == Type::kOrigins) {
    w.Field("type", "string").Field("pattern", OriginPattern());
  } else if (type == Type::kScopes) {
    w.Field("type", "string").Field("pattern", R"(^[!#-\[\]-~]+$)").Field("maxLength", 255);
  } else {
    w.Field("type", "string").Field("minLength", 1);
  }
  if (type == Type::kToolNames) w.Key("not").BeginObject().Field("const", "all").EndObject();
  w.EndObject();
}

void WriteSubjects(JsonWriter& w) {
  w.Field("type", "object").Key("propertyNames").BeginObject();
  w.Field("minLength", 1).Field("maxLength", 255).EndObject();
  w.Key("additionalProperties").BeginObject();
  w.Key("type").BeginArray().String("string").String("number").EndArray();
  w.Field("minLength", 1).EndObject();
}

void WriteVariables(JsonWriter& w) {
  w.Field("type", "object").Key("propertyNames").BeginObject();
  WriteNames(w);
  w.EndObject().Key("additionalProperties").BeginObject();
  // YAML's `DEBUG: 1` reaches the command as the text `1`.
  w.Key("type").BeginArray();
  w.String("string").String("number").String("boolean").EndArray().EndObject();
}

void WriteChoices(JsonWriter& w, const Key& key) {
  w.Key("enum").BeginArray();
  for (const Choice& choice : key.choices) {
    if (choice.not_built.empty()) w.String(choice.name);
  }
  w.EndArray();
}

void WriteLimit(JsonWriter& w, const Key& key) {
  if (key.type == Type::kCount) {
    w.Field("type", "integer").Field("minimum", key.minimum).Field("maximum", key.maximum);
    return;
  }
  w.Field("type", "string");
  if (key.CanBeOff()) {
    w.Field("pattern", "^([0-9]+(ms|s|m|h)|off)$");
  } else if (key.type == Type::kDuration) {
    w.Field("pattern", "^[0-9]+(ms|s|m|h)$");
  } else {
    w.Field("pattern", "^[0-9]+(B|KiB|MiB|GiB|TiB)$");
  }
}

void WriteRule(JsonWriter& w) {
  w.BeginObject().Field("type", "object").Field("additionalProperties", false);
  w.Key("required").BeginArray().String("tool").String("decision").EndArray();
  w.Key("properties").BeginObject();
  for (const RuleKey& key : RuleKeys()) {
    if (!key.not_built.empty()) continue;
    w.Key(key.name).BeginObject().Field("description", key.help);
    if (key.name == "decision") {
      w.Key("enum").BeginArray().String("allow").String("ask").String("deny").EndArray();
    } else if (key.name == "examples") {
      w.Field("type", "array").Key("items").BeginObject();
      w.Field("type", "string").Field("minLength", 1).EndObject();
    } else {
      w.Field("type", "string").Field("minLength", 1);
    }
    w.EndObject();
  }
  w.EndObject();
  w.Key("if").BeginObject().Key("properties").BeginObject().Key("decision").BeginObject();
  w.Field("const", "deny").EndObject().EndObject().EndObject();
  w.Key("then").BeginObject().Key("required").BeginArray().String("reason").EndArray().EndObject();
  w.EndObject();
}

std::string Description(const Key& key) {
  std::string text(key.help);
  for (const Choice& choice : key.choices) {
    if (choice.not_built.empty()) {
      text += " " + std::string(choice.name) + ": " + std::string(choice.help) + ".";
    }
  }
  if (key.type == Type::kDuration || key.type == Type::kByteSize) {
    text += " From " + FormatRange(key) + ".";
  }
  return text;
}

void WriteKey(JsonWriter& w, const Key& key, const PolicyFragment& defaults) {
  w.BeginObject().Field("description", Description(key));
  switch (key.type) {
    case Type::kVersion:
      w.Field("const", 1);
      break;
    case Type::kPaths:
    case Type::kPlaces:
    case Type::kHostFiles:
    case Type::kTools:
    case Type::kToolNames:
    case Type::kNames:
    case Type::kOrigins:
    case Type::kScopes:
      WriteStrings(w, key.type);
      break;
    case Type::kPath:
    case Type::kFile:
      w.Field("type", "string");
      break;
    case Type::kText:
      w.Field("type", "string").Field("pattern", "^[!-~]*$").Field("maxLength", 255);
      break;
    case Type::kSubjects:
      WriteSubjects(w);
      break;
    case Type::kUrl:
      w.Field("type", "string").Field("pattern", UrlPattern());
      break;
    case Type::kSwitch:
      w.Field("type", "boolean");
      break;
    case Type::kVariables:
      WriteVariables(w);
      break;
    case Type::kRules:
      w.Field("type", "array").Key("items");
      WriteRule(w);
      break;
    case Type::kChoice:
      WriteChoices(w, key);
      break;
    case Type::kDuration:
    case Type::kByteSize:
    case Type::kCount:
      WriteLimit(w, key);
      break;
    case Type::kNotBuilt:
      break;
  }
  if (HasValue(key, defaults)) {
    w.Key("default");
    WriteValue(w, key, defaults);
  }
  w.EndObject();
}

// A section such as `limits`: its keys follow one another in the table.
void WriteSection(JsonWriter& w, std::string_view section, const PolicyFragment& defaults) {
  w.BeginObject().Field("type", "object").Field("additionalProperties", false);
  w.Key("properties").BeginObject();
  for (const Key& key : PolicyKeys()) {
    if (key.type == Type::kNotBuilt || key.Section() != section) continue;
    w.Key(key.Word());
    WriteKey(w, key, defaults);
  }
  w.EndObject().EndObject();
}

}  // namespace

std::string PolicySchema() {
  const PolicyFragment defaults = DefaultFragment();
  JsonWriter w;
  w.BeginObject().Field("$schema", "https://json-schema.org/draft/2020-12/schema");
  w.Field("title", "project-actions policy").Field("type", "object");
  w.Field("additionalProperties", false);
  w.Key("required").BeginArray().String("version").EndArray();
  w.Key("properties").BeginObject();
  std::string_view section;
  for (const Key& key : PolicyKeys()) {
    if (key.type == Type::kNotBuilt) continue;
    if (key.Section().empty()) {
      w.Key(key.name);
      WriteKey(w, key, defaults);
    } else if (key.Section() != section) {
      section = key.Section();
      w.Key(section);
      WriteSection(w, section, defaults);
    }
  }
  w.EndObject().EndObject();
  return std::move(w).Take();
}

}  // namespace pa::policy
