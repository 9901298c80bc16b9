#include "supervisor/call/result_schema.h"

#include <algorithm>

#include "base/json_writer.h"

namespace pa {
namespace {

using enum FieldKind;

constexpr ResultField kError[] = {
    {.name = "code", .required = true},
    {.name = "message", .required = true},
    {.name = "ai_message", .required = true, .description = "what to do next"},
    {.name = "recoverable", .kind = kBoolean, .required = true},
    {.name = "details", .kind = kObject},
};

constexpr ResultField kMeta[] = {
    {.name = "duration_ms", .kind = kInteger, .required = true},
    {.name = "truncated", .kind = kBoolean},
    {.name = "result_uri"},
    {.name = "warnings", .kind = kStringArray},
    {.name = "decision"},
    {.name = "audit_id"},
};

void WriteField(JsonWriter& writer, const ResultField& field);

void WriteObject(JsonWriter& writer, std::span<const ResultField> fields) {
  writer.Field("type", "object");
  if (fields.empty()) return;
  writer.Key("properties").BeginObject();
  for (const ResultField& field : fields) WriteField(writer, field);
  writer.EndObject();
  // draft-04, which some clients still check with, refuses an empty `required`.
  if (std::ranges::none_of(fields, &ResultField::required)) return;
  writer.Key("required").BeginArray();
  for (const ResultField& field : fields) {
    if (field.required) writer.String(field.name);
  }
  writer.EndArray();
}

void WriteField(JsonWriter& writer, const ResultField& field) {
  static constexpr const char* kTypes[] = {"string", "integer", "boolean",
                                           "array",  "object",  "array"};
  writer.Key(field.name).BeginObject();
  if (field.kind == kObject) {
    WriteObject(writer, field.fields);
  } else {
    writer.Field("type", kTypes[static_cast<int>(field.kind)]);
  }
  if (!field.description.empty()) writer.Field("description", field.description);
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
  const ResultField envelope[] = {
      {.name = "success", .kind = kBoolean, .required = true},
      {.name = "data", .kind = kObject, .fields = data},
      {.name = "error", .kind = kObject, .fields = kError},
      {.name = "meta", .kind = kObject, .required = true, .fields = kMeta},
  };
  JsonWriter writer;
  writer.BeginObject();
  WriteObject(writer, envelope);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa
