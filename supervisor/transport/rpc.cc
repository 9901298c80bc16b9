#include "supervisor/transport/rpc.h"

#include "base/json_writer.h"
#include "base/lone_surrogates.h"
#include "base/try.h"
#include "supervisor/transport/outline_scanner.h"

namespace pa::rpc {
namespace {

std::unexpected<Failure> Invalid(std::string message, std::optional<Id> id = std::nullopt) {
  return std::unexpected(
      Failure{kInvalidRequest, "Invalid request: " + std::move(message), "", std::move(id)});
}

Result<JsonValue> Parse(std::string_view text) {
  const std::optional<std::string> mended = ReplaceLoneSurrogates(text);
  return ParseJson(mended ? *mended : text);
}

std::vector<Outline> ScanOutlines(std::string_view line) {
  OutlineScanner scanner(line.size());
  scanner.Feed(line);
  return scanner.Take();
}

JsonWriter BeginMessage() {
  JsonWriter writer;
  writer.BeginObject().Field("jsonrpc", "2.0");
  return writer;
}

// The params of a request. An array is lawful JSON-RPC that no MCP method takes: hence another
// code.
std::expected<JsonValue, Failure> RequestParams(JsonValue message, const Id& id) {
  std::optional<JsonValue> params = std::move(message).Take("params");
  if (!params || params->IsNull()) return JsonValue::Object({});
  if (params->IsObject()) return *std::move(params);
  const std::string problem = std::string("params must be an object, got ") + params->KindName();
  if (!params->IsArray()) return Invalid(problem, id);
  return std::unexpected(Failure{kInvalidParams, "Invalid params: " + problem, "", id});
}

// A notification is never answered, not even to say that its params are wrong (JSON-RPC 2.0, 4.1):
// those count as absent.
Notification MakeNotification(std::string method, JsonValue message) {
  std::optional<JsonValue> params = std::move(message).Take("params");
  if (!params || !params->IsObject()) params = JsonValue::Object({});
  return Notification{std::move(method), *std::move(params)};
}

Response MakeResponse(JsonValue message) {
  const JsonValue* id = message.Find("id");
  Response response{.id = id != nullptr ? Id::FromJson(*id) : std::nullopt, .result = {}};
  if (message.Find("error") == nullptr) response.result = std::move(message).Take("result");
  return response;
}

// U+FFFD may stand for half a surrogate pair, which the client knows as it wrote it.
std::optional<Id> IdOf(const JsonValue& value, std::string_view line) {
  std::optional<Id> id = Id::FromJson(value);
  if (!id || id->token().find("\uFFFD") == std::string::npos) return id;
  const std::vector<Outline> outlines = ScanOutlines(line);
  return !outlines.empty() && outlines[0].id == id ? outlines[0].id : id;
}

// `line`: of a message that is alone in it.
Parsed ReadMessage(JsonValue message, std::string_view line = {}) {
  if (!message.IsObject()) {
    return Invalid(std::string("a message must be an object, got ") + message.KindName());
  }
  const JsonValue* id_value = message.Find("id");
  const JsonValue* method = message.Find("method");
  const bool answers = message.Find("result") != nullptr || message.Find("error") != nullptr;
  // First of all: an error reply to a response could hit a request of the client's with the same
  // id.
  if (method == nullptr && answers) return MakeResponse(std::move(message));

  const std::optional<Id> id = id_value != nullptr ? IdOf(*id_value, line) : std::nullopt;
  const JsonValue* version = message.Find("jsonrpc");
  if (version == nullptr || !version->IsString() || version->AsString() != "2.0") {
    return Invalid("jsonrpc must be \"2.0\"", id);
  }
  if (id_value != nullptr && !id) {
    return Invalid(std::string("id must be a string or a number, got ") + id_value->KindName());
  }
  if (method == nullptr) return Invalid("method is missing", id);
  if (!method->IsString()) {
    return Invalid(std::string("method must be a string, got ") + method->KindName(), id);
  }
  if (answers) return Invalid("a message with a method has neither result nor error", id);

  std::string name = method->AsString();
  if (!id) return MakeNotification(std::move(name), std::move(message));
  PA_TRY(auto params, RequestParams(std::move(message), *id));
  return Request{*id, std::move(name), std::move(params)};
}

}  // namespace

std::optional<Id> Id::FromJson(const JsonValue& value) {
  if (value.IsString()) return Id(value.Dump());
  if (!value.IsNumber()) return std::nullopt;
  Id id(value.NumberToken());
  if (const auto integer = value.AsInteger()) id.value_ = std::to_string(*integer);
  return id;
}

std::optional<Id> Id::FromToken(std::string_view json) {
  const Result<JsonValue> value = Parse(json);
  std::optional<Id> id = value ? FromJson(*value) : std::nullopt;
  if (id && id->token_.find("\uFFFD") != std::string::npos) id->token_ = json;
  return id;
}

Line ParseLine(std::string_view line) {
  Result<JsonValue> value = Parse(line);
  if (!value) {
    const Failure failure{kParseError, "Parse error: " + value.error().subject, "", {}};
    return UnreadableLine(ScanOutlines(line), failure);
  }
  Line parsed;
  parsed.batch = value->IsArray() && !value->Items().empty();
  if (!parsed.batch) {
    parsed.messages.push_back(ReadMessage(*std::move(value), line));
    return parsed;
  }
  for (const JsonValue& item : value->Items()) parsed.messages.push_back(ReadMessage(item));
  return parsed;
}

Line UnreadableLine(const std::vector<Outline>& outlines, const Failure& failure) {
  Line line;
  for (const Outline& outline : outlines) {
    if (outline.answers && !outline.asks) {
      line.messages.emplace_back(Response{.id = outline.id, .result = {}});
    } else if (outline.id) {
      line.messages.emplace_back(std::unexpected(failure)).error().id = outline.id;
    }
  }
  if (line.messages.empty()) line.messages.emplace_back(std::unexpected(failure));
  return line;
}

std::string RequestLine(const Id& id, std::string_view method, std::string_view params_json) {
  JsonWriter writer = BeginMessage();
  writer.Key("id").Raw(id.token()).Field("method", method).Key("params").Raw(params_json);
  return std::move(writer.EndObject()).Take();
}

std::string ResultLine(const Id& id, std::string_view result_json) {
  JsonWriter writer = BeginMessage();
  constexpr std::size_t kFrame = 40;  // {"jsonrpc":"2.0","id":,"result":}
  writer.Reserve(result_json.size() + id.token().size() + kFrame);
  writer.Key("id").Raw(id.token()).Key("result").Raw(result_json).EndObject();
  return std::move(writer).Take();
}

std::string ErrorLine(const std::optional<Id>& id, const Failure& failure) {
  JsonWriter writer = BeginMessage();
  // Left out when unknown: no revision's schema allows null, and the newer ones allow no id.
  if (id) writer.Key("id").Raw(id->token());
  writer.Key("error").BeginObject();
  writer.Field("code", failure.code).Field("message", failure.message);
  if (!failure.data.empty()) writer.Key("data").Raw(failure.data);
  writer.EndObject().EndObject();
  return std::move(writer).Take();
}

std::string NotificationLine(std::string_view method, std::string_view params_json) {
  JsonWriter writer = BeginMessage();
  writer.Field("method", method);
  if (!params_json.empty()) writer.Key("params").Raw(params_json);
  writer.EndObject();
  return std::move(writer).Take();
}

}  // namespace pa::rpc
