#include "supervisor/call/result_schema.h"

#include <vector>

#include "base/json_writer.h"

namespace pa {
namespace {

using enum FieldKind;

void WriteField(JsonWriter& writer, const ResultField& field);

void WriteObject(JsonWriter& writer, std::span<const ResultField> fields) {
  writer.Field("type", "object");
  if (fields.empty()) return;
  writer.Key("properties").BeginObject();
  for (const ResultField& field : fields) WriteField(writer, field);
  writer.EndObject();
}

// In JSON Schema.
const char* TypeOfField(FieldKind kind) {
  switch (kind) {
    case kString:
      return "string";
    case kInteger:
      return "integer";
    case kBoolean:
      return "boolean";
    case kStringArray:
    case kObjectArray:
      return "array";
    case kObject:
      break;
  }
  return "object";
}

void WriteField(JsonWriter& writer, const ResultField& field) {
  writer.Key(field.name).BeginObject();
  if (field.kind == kObject) {
    WriteObject(writer, field.fields);
  } else {
    writer.Field("type", TypeOfField(field.kind));
  }
  if (!field.one_of.empty()) {
    writer.Key("enum").BeginArray();
    for (std::string_view name : field.one_of) writer.String(name);
    writer.EndArray();
  }
  if (field.kind == kStringArray) {
    writer.Key("items").BeginObject().Field("type", "string").EndObject();
  }
  if (field.kind == kObjectArray) {
    writer.Key("items").BeginObject();
    WriteObject(writer, field.fields);
    writer.EndObject();
  }
  writer.EndObject();
}

}  // namespace

std::string OutputSchema(std::span<const ResultField> data) {
  std::vector<ResultField> all(data.begin(), data.end());
  // What `return_mode` leaves in place of a list. Where anything may stand, they may, too.
  if (!all.empty()) {
    all.push_back({.name = "summary", .kind = kObject});
    all.push_back({.name = "file", .kind = kObject});
  }
  const ResultField envelope[] = {
      {.name = "success", .kind = kBoolean},
      {.name = "data", .kind = kObject, .fields = all},
      {.name = "error", .kind = kObject},
      {.name = "meta", .kind = kObject},
  };
  JsonWriter writer;
  writer.BeginObject();
  WriteObject(writer, envelope);
  writer.Key("required").BeginArray().String("success").EndArray().EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
