#include "supervisor/call/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/did_you_mean.h"
#include "base/json_writer.h"
#include "base/try.h"
#include "base/utf8.h"

namespace pa {

struct ArgumentsMaker {
  static Arguments Make() { return {}; }
  static void Set(Arguments& arguments, std::string_view name, Arguments::Value value) {
    arguments.values_.insert_or_assign(std::string(name), std::move(value));
  }
  static void SetDefault(Arguments& arguments, std::string_view name, Arguments::Value value) {
    arguments.defaults_.emplace(name);
    Set(arguments, name, std::move(value));
  }
};

namespace {

// Where a parameter sets no maximum: integers beyond 2^53 do not survive a JavaScript client.
constexpr std::int64_t kMaxInteger = 9'007'199'254'740'991;

std::int64_t Maximum(const Param& param) {
  return param.maximum != 0 ? param.maximum : kMaxInteger;
}

// "an integer from 1 to 600000": what the schema says, in words.
std::string Expected(const Param& param) {
  switch (param.kind) {
    case ParamKind::kString: {
      if (param.maximum != 0) return fmt::format("a string of at most {} bytes", param.maximum);
      if (param.one_of.empty()) return "a string";
      std::string names;
      for (std::string_view name : param.one_of) names += fmt::format(", '{}'", name);
      return "one of " + names.substr(2);
    }
    case ParamKind::kInteger:
      if (param.maximum == 0) return fmt::format("an integer of at least {}", param.minimum);
      return fmt::format("an integer from {} to {}", param.minimum, param.maximum);
    case ParamKind::kBoolean:
      return "true or false";
    case ParamKind::kStringArray:
    case ParamKind::kPortArray:
    case ParamKind::kObjectArray: {
      const char* items = param.kind == ParamKind::kStringArray ? "strings"
                          : param.kind == ParamKind::kPortArray ? "integers from 1 to 65535"
                                                                : "objects";
      if (param.maximum != 0) {
        return fmt::format("an array of {} to {} {}", param.minimum, param.maximum, items);
      }
      if (param.minimum > 0) return fmt::format("an array of at least {} {}", param.minimum, items);
      return fmt::format("an array of {}", items);
    }
    case ParamKind::kResult:
    case ParamKind::kObject:
      return "an object";
  }
  return "";
}

constexpr std::size_t kQuoted = 60;
constexpr std::int64_t kMaxPort = 65'535;

// A value as JSON, short enough for a message.
std::string Short(const JsonValue& value) {
  const std::string text = value.Dump();
  const std::string_view shown = Utf8Prefix(text, kQuoted);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

std::string Came(const JsonValue& value) {
  if (value.IsNull()) return "null (leave it out instead)";
  if (value.IsArray()) return fmt::format("an array of {}", value.Items().size());
  if (value.IsObject()) return "an object";
  return value.IsBool() ? Short(value) : fmt::format("{} {}", value.KindName(), Short(value));
}

ToolError Mismatch(std::string_view name, std::string message, std::string_view expected,
                   std::string_view came) {
  JsonWriter details;
  details.BeginObject().Field("argument", name);
  details.Field("expected", expected).Field("came", came).EndObject();
  ToolError error = InvalidArgument(std::move(message), "");  // which ValidateArguments adds
  error.details = std::move(details).Take();
  return error;
}

ToolError WrongValue(const Param& param, std::string_view came) {
  const std::string expected = Expected(param);
  return Mismatch(param.name,
                  fmt::format("argument '{}': expected {}, got {}", param.name, expected, came),
                  expected, came);
}

ToolError UnknownArgument(std::span<const Param> params, const std::string& written) {
  std::vector<std::string_view> names;
  for (const Param& param : params) names.push_back(param.name);
  std::string known;
  for (std::string_view name : names) known += fmt::format(", '{}'", name);
  known = known.empty() ? "no arguments" : "one of " + known.substr(2);
  const std::string shown = Short(JsonValue::String(written));
  const bool in_result =
      std::ranges::find(kResultMembers, written) != std::end(kResultMembers) &&
      std::ranges::find(params, ParamKind::kResult, &Param::kind) != params.end();
  const std::string hint = in_result ? " - it is a member of 'result'" : DidYouMean(written, names);
  return Mismatch(Utf8Prefix(written, kQuoted),
                  fmt::format("unknown argument {}{}; expected {}", shown, hint, known), known,
                  shown);
}

// A NUL would end the string early for the kernel and for git: `ok\0/../../x` must not pass as
// `ok`.
bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

std::string Shape(std::span<const Param> params);

std::string TypeOf(const Param& param) {
  switch (param.kind) {
    case ParamKind::kString:
      if (param.one_of.empty()) return "string";
      return fmt::format("\"{}\"", fmt::join(param.one_of, "\" | \""));
    case ParamKind::kInteger:
      return "integer";
    case ParamKind::kBoolean:
      return "boolean";
    case ParamKind::kStringArray:
      return "string[]";
    case ParamKind::kPortArray:
      return "integer[]";
    case ParamKind::kObjectArray:
      return (param.fields.empty() ? "object" : Shape(param.fields)) + "[]";
    case ParamKind::kResult:
    case ParamKind::kObject:
      return "object";
  }
  return "";
}

// As a type of TypeScript, which models know well: `{path: string, limit?: integer}`.
std::string Shape(std::span<const Param> params) {
  std::string members;
  for (const Param& param : params) {
    members += fmt::format("{}{}{}: {}", members.empty() ? "" : ", ", param.name,
                           param.required ? "" : "?", TypeOf(param));
  }
  return "{" + members + "}";
}

ToolError WithAdvice(ToolError error, const Param& param) {
  if (!param.advice.empty()) error.ai_message = param.advice;
  return error;
}

std::expected<std::string, ToolError> ReadString(const Param& param, const JsonValue& value) {
  if (!value.IsString()) return std::unexpected(WrongValue(param, Came(value)));
  const std::string& text = value.AsString();
  if (HasNul(text)) return std::unexpected(WrongValue(param, "a string with a NUL character"));
  if (param.maximum != 0 && text.size() > static_cast<std::size_t>(param.maximum)) {
    return std::unexpected(
        WithAdvice(WrongValue(param, fmt::format("one of {}", text.size())), param));
  }
  if (!param.one_of.empty() && std::ranges::find(param.one_of, text) == param.one_of.end()) {
    const std::string came = Came(value) + DidYouMean(text, param.one_of);
    return std::unexpected(WithAdvice(WrongValue(param, came), param));
  }
  return text;
}

std::expected<std::int64_t, ToolError> ReadInteger(const Param& param, const JsonValue& value) {
  const std::optional<std::int64_t> number = value.AsInteger();
  if (!number || *number < param.minimum || *number > Maximum(param)) {
    return std::unexpected(WrongValue(param, Came(value)));
  }
  return *number;
}

std::expected<bool, ToolError> ReadBoolean(const Param& param, const JsonValue& value) {
  if (!value.IsBool()) return std::unexpected(WrongValue(param, Came(value)));
  return value.AsBool();
}

std::expected<std::vector<std::string>, ToolError> ReadStrings(const Param& param,
                                                               const JsonValue& value) {
  if (!value.IsArray()) return std::unexpected(WrongValue(param, Came(value)));
  const auto count = static_cast<std::int64_t>(value.Items().size());
  if (count < param.minimum || count > Maximum(param)) {
    return std::unexpected(WrongValue(param, Came(value)));
  }
  std::vector<std::string> strings;
  for (const JsonValue& item : value.Items()) {
    const std::string at = fmt::format(" at index {}", strings.size());
    if (!item.IsString()) return std::unexpected(WrongValue(param, Came(item) + at));
    if (HasNul(item.AsString())) {
      return std::unexpected(WrongValue(param, "a string with a NUL character" + at));
    }
    strings.push_back(item.AsString());
  }
  return strings;
}

std::expected<std::vector<std::uint16_t>, ToolError> ReadPorts(const Param& param,
                                                               const JsonValue& value) {
  if (!value.IsArray()) return std::unexpected(WrongValue(param, Came(value)));
  const auto count = static_cast<std::int64_t>(value.Items().size());
  if (count < param.minimum || count > Maximum(param)) {
    return std::unexpected(WrongValue(param, Came(value)));
  }
  std::vector<std::uint16_t> ports;
  for (const JsonValue& item : value.Items()) {
    const std::optional<std::int64_t> port = item.AsInteger();
    if (!port || *port < 1 || *port > kMaxPort) {
      const std::string at = fmt::format(" at index {}", ports.size());
      return std::unexpected(WrongValue(param, Came(item) + at));
    }
    ports.push_back(static_cast<std::uint16_t>(*port));
  }
  return ports;
}

std::expected<Arguments, ToolError> Validated(std::span<const Param> params,
                                              const JsonValue* arguments);

// An array of objects, whatever they hold.
std::expected<JsonValue, ToolError> ReadAnyObjects(const Param& param, const JsonValue& value) {
  if (!value.IsArray()) return std::unexpected(WrongValue(param, Came(value)));
  const auto count = static_cast<std::int64_t>(value.Items().size());
  if (count < param.minimum || count > Maximum(param)) {
    return std::unexpected(WrongValue(param, Came(value)));
  }
  std::size_t index = 0;
  for (const JsonValue& item : value.Items()) {
    const std::string at = fmt::format("{}[{}]", param.name, index++);
    if (!item.IsObject()) return std::unexpected(WrongValue(param, Came(item) + " at " + at));
  }
  return value;
}

// Of one in an array, each name says where: `edits[2].path`.
std::expected<std::vector<Arguments>, ToolError> ReadObjects(const Param& param,
                                                             const JsonValue& value) {
  PA_TRY(const JsonValue array, ReadAnyObjects(param, value));
  std::vector<Arguments> objects;
  for (const JsonValue& item : array.Items()) {
    const std::string at = fmt::format("{}[{}]", param.name, objects.size());
    auto object = Validated(param.fields, &item);
    if (!object) {
      object.error().message = "in " + at + ": " + object.error().message;
      return std::unexpected(std::move(object.error()));
    }
    objects.push_back(*std::move(object));
  }
  return objects;
}

std::expected<JsonValue, ToolError> ReadObject(const Param& param, const JsonValue& value) {
  if (!value.IsObject()) return std::unexpected(WrongValue(param, Came(value)));
  return value;
}

std::expected<ResultOrder, ToolError> ReadResult(const JsonValue& value) {
  auto order = ReadResultOrder(value);
  if (order) return *std::move(order);
  ResultProblem& problem = order.error();
  JsonWriter details;
  details.BeginObject().Field("argument", problem.member).EndObject();
  ToolError error = InvalidArgument(
      fmt::format("argument '{}': {}", problem.member, problem.message), std::move(problem.advice));
  error.details = std::move(details).Take();
  return std::unexpected(std::move(error));
}

// Stores what `read` found.
template <typename T>
std::optional<ToolError> Store(Arguments& arguments, const Param& param,
                               std::expected<T, ToolError> read) {
  if (!read) return std::move(read.error());
  ArgumentsMaker::Set(arguments, param.name, *std::move(read));
  return std::nullopt;
}

std::optional<ToolError> Accept(Arguments& arguments, const Param& param, const JsonValue& value) {
  switch (param.kind) {
    case ParamKind::kString:
      return Store(arguments, param, ReadString(param, value));
    case ParamKind::kInteger:
      return Store(arguments, param, ReadInteger(param, value));
    case ParamKind::kBoolean:
      return Store(arguments, param, ReadBoolean(param, value));
    case ParamKind::kStringArray:
      return Store(arguments, param, ReadStrings(param, value));
    case ParamKind::kPortArray:
      return Store(arguments, param, ReadPorts(param, value));
    case ParamKind::kObjectArray:
      if (param.fields.empty()) return Store(arguments, param, ReadAnyObjects(param, value));
      return Store(arguments, param, ReadObjects(param, value));
    case ParamKind::kResult:
      return Store(arguments, param, ReadResult(value));
    case ParamKind::kObject:
      return Store(arguments, param, ReadObject(param, value));
  }
  return std::nullopt;
}

std::optional<ToolError> AcceptAbsent(Arguments& arguments, const Param& param) {
  if (param.required) {
    return Mismatch(param.name,
                    fmt::format("argument '{}' is required: {}", param.name, Expected(param)),
                    Expected(param), "nothing");
  }
  if (param.default_integer) {
    ArgumentsMaker::SetDefault(arguments, param.name, *param.default_integer);
  }
  return std::nullopt;
}

std::expected<Arguments, ToolError> Validated(std::span<const Param> params,
                                              const JsonValue* arguments) {
  if (arguments != nullptr && arguments->IsNull()) arguments = nullptr;
  if (arguments != nullptr && !arguments->IsObject()) {
    const std::string came = Came(*arguments);
    return std::unexpected(
        Mismatch("", "arguments: expected an object, got " + came, "an object", came));
  }
  if (arguments != nullptr) {
    for (const JsonValue::Member& member : arguments->Members()) {
      if (std::ranges::find(params, member.first, &Param::name) == params.end()) {
        return std::unexpected(UnknownArgument(params, member.first));
      }
    }
  }
  Arguments accepted = ArgumentsMaker::Make();
  for (const Param& param : params) {
    const JsonValue* value = arguments != nullptr ? arguments->FindSet(param.name) : nullptr;
    std::optional<ToolError> refused =
        value != nullptr ? Accept(accepted, param, *value) : AcceptAbsent(accepted, param);
    if (refused) return std::unexpected(*std::move(refused));
  }
  return accepted;
}

void WriteObject(JsonWriter& writer, std::span<const Param> params);

void WriteItems(JsonWriter& writer, const Param& param) {
  writer.Key("items");
  if (param.kind == ParamKind::kObjectArray && param.fields.empty()) {
    writer.BeginObject().Field("type", "object").EndObject();
  } else if (param.kind == ParamKind::kObjectArray) {
    WriteObject(writer, param.fields);
  } else if (param.kind == ParamKind::kPortArray) {
    writer.BeginObject().Field("type", "integer").Field("minimum", 1).Field("maximum", kMaxPort);
    writer.EndObject();
  } else {
    writer.BeginObject().Field("type", "string").EndObject();
  }
  if (param.minimum > 0) writer.Field("minItems", param.minimum);
  if (param.maximum > 0) writer.Field("maxItems", param.maximum);
}

void WriteResultMembers(JsonWriter& writer) {
  writer.Key("properties").BeginObject();
  for (const char* name : {"items", "filter"}) {
    writer.Key(name).BeginObject().Field("type", "string").EndObject();
  }
  writer.Key("limit").BeginObject().Field("type", "number").EndObject();
  writer.Key("fields").BeginObject().Field("type", "array");
  writer.Key("items").BeginObject().Field("type", "string").EndObject().EndObject();
  writer.Key("return_mode").BeginObject().Key("enum").BeginArray();
  for (const std::string_view mode : kReturnModes) writer.String(mode);
  writer.EndArray().EndObject().EndObject();
}

// In JSON Schema.
const char* SchemaType(ParamKind kind) {
  switch (kind) {
    case ParamKind::kString:
      return "string";
    case ParamKind::kInteger:
      return "integer";
    case ParamKind::kBoolean:
      return "boolean";
    case ParamKind::kStringArray:
    case ParamKind::kPortArray:
    case ParamKind::kObjectArray:
      return "array";
    case ParamKind::kResult:
    case ParamKind::kObject:
      break;
  }
  return "object";
}

void WriteProperty(JsonWriter& writer, const Param& param) {
  writer.Key(param.name).BeginObject();
  writer.Field("type", SchemaType(param.kind));
  if (!param.description.empty()) writer.Field("description", param.description);
  if (!param.one_of.empty()) {
    writer.Key("enum").BeginArray();
    for (std::string_view name : param.one_of) writer.String(name);
    writer.EndArray();
  }
  if (!param.pattern.empty()) writer.Field("pattern", param.pattern);
  // Of characters, which are no more than the bytes.
  const bool bounded = param.kind == ParamKind::kString && param.maximum != 0;
  if (bounded) writer.Field("maxLength", param.maximum);
  if (param.kind == ParamKind::kInteger) {
    writer.Field("minimum", param.minimum).Field("maximum", Maximum(param));
    if (param.default_integer) writer.Field("default", *param.default_integer);
  }
  if (SchemaType(param.kind) == std::string_view("array")) WriteItems(writer, param);
  if (param.kind == ParamKind::kResult && param.description.empty()) WriteResultMembers(writer);
  writer.EndObject();
}

void WriteObject(JsonWriter& writer, std::span<const Param> params) {
  writer.BeginObject().Field("type", "object");
  writer.Key("properties").BeginObject();
  for (const Param& param : params) WriteProperty(writer, param);
  writer.EndObject();
  // draft-04, which some clients still check with, refuses an empty `required`.
  if (std::ranges::any_of(params, &Param::required)) {
    writer.Key("required").BeginArray();
    for (const Param& param : params) {
      if (param.required) writer.String(param.name);
    }
    writer.EndArray();
  }
  writer.Field("additionalProperties", false).EndObject();
}

}  // namespace

const std::string* Arguments::String(std::string_view name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? nullptr : std::get_if<std::string>(&value->second);
}

std::optional<std::int64_t> Arguments::Integer(std::string_view name) const {
  const auto value = values_.find(name);
  if (value == values_.end()) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&value->second);
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

bool Arguments::Boolean(std::string_view name) const {
  const auto value = values_.find(name);
  if (value == values_.end()) return false;
  const bool* boolean = std::get_if<bool>(&value->second);
  return boolean != nullptr && *boolean;
}

const std::vector<std::string>* Arguments::Strings(std::string_view name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? nullptr : std::get_if<std::vector<std::string>>(&value->second);
}

const std::vector<std::uint16_t>* Arguments::Ports(std::string_view name) const {
  const auto value = values_.find(name);
  if (value == values_.end()) return nullptr;
  return std::get_if<std::vector<std::uint16_t>>(&value->second);
}

const std::vector<Arguments>* Arguments::Objects(std::string_view name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? nullptr : std::get_if<std::vector<Arguments>>(&value->second);
}

const JsonValue* Arguments::Json(std::string_view name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? nullptr : std::get_if<JsonValue>(&value->second);
}

bool Arguments::Given(std::string_view name) const {
  return values_.contains(name) && !defaults_.contains(name);
}

const ResultOrder* Arguments::result_order() const {
  for (const auto& [name, value] : values_) {
    if (const auto* order = std::get_if<ResultOrder>(&value)) return order;
  }
  return nullptr;
}

std::expected<Arguments, ToolError> ValidateArguments(std::span<const Param> params,
                                                      const JsonValue* arguments) {
  auto valid = Validated(params, arguments);
  if (!valid && valid.error().ai_message.empty()) {
    valid.error().ai_message =
        fmt::format("Call again with arguments of this shape: {}.", Shape(params));
  }
  return valid;
}

std::string InputSchema(std::span<const Param> params) {
  JsonWriter writer;
  WriteObject(writer, params);
  return std::move(writer).Take();
}

}  // namespace pa
