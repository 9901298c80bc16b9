// A line from a client: whatever it is, it is read or refused, what we send back can be read, and
// who waits for an answer gets it.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/lone_surrogates.h"
#include "base/utf8.h"
#include "supervisor/mcp/questions.h"
#include "supervisor/transport/outline_scanner.h"
#include "supervisor/transport/rpc.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

// One line, and the same value when it is read and written again.
void CheckLine(const std::string& line) {
  Check(line.find_first_of("\r\n") == std::string::npos);
  // An id is echoed with half a surrogate pair, if that is how it came.
  const std::optional<std::string> mended = ReplaceLoneSurrogates(line);
  const Result<JsonValue> value = ParseJson(mended ? *mended : line, {.max_bytes = SIZE_MAX});
  Check(value.has_value());
  const std::string once = value->Dump();
  Check(ParseJson(once, {.max_bytes = SIZE_MAX})->Dump() == once);
}

void CheckWriter(std::string_view bytes) {
  JsonWriter writer;
  writer.String(bytes);
  const std::string json = std::move(writer).Take();
  CheckLine(json);
  Check(ParseJson(json, {.max_bytes = SIZE_MAX})->AsString() == RepairUtf8(bytes));
}

void CheckMessage(const rpc::Message& message) {
  if (const auto* request = std::get_if<rpc::Request>(&message)) {
    Check(request->params.IsObject());
    Check(rpc::Id::FromToken(request->id.token()) == request->id);
    CheckLine(rpc::ResultLine(request->id, request->params.Dump()));
  } else if (const auto* notification = std::get_if<rpc::Notification>(&message)) {
    Check(notification->params.IsObject());
    CheckLine(rpc::NotificationLine(notification->method, notification->params.Dump()));
  } else if (const auto* response = std::get_if<rpc::Response>(&message)) {
    if (response->id) CheckLine(rpc::RequestLine(*response->id, "elicitation/create", "{}"));
    if (response->result) (void)AnswerIn(*response->result);
  }
}

// Whether it is a request, a notification, a response or nothing that we know.
std::optional<rpc::Id> IdOf(const rpc::Parsed& message) {
  if (!message) return message.error().id;
  if (const auto* request = std::get_if<rpc::Request>(&*message)) return request->id;
  const auto* response = std::get_if<rpc::Response>(&*message);
  return response != nullptr ? response->id : std::nullopt;
}

// An id that a reader without our limits finds in a line is in what we make of it, once; and the
// scanner finds it, too, however the bytes come.
void CheckId(std::string_view line, const rpc::Line& parsed) {
  const std::optional<std::string> mended = ReplaceLoneSurrogates(line);
  const Result<JsonValue> value = ParseJson(
      mended ? *mended : line, {.max_bytes = SIZE_MAX, .max_depth = 1000, .max_values = SIZE_MAX});
  if (!value || !value->IsObject()) return;
  const JsonValue* member = value->Find("id");
  const std::optional<rpc::Id> id = member != nullptr ? rpc::Id::FromJson(*member) : std::nullopt;
  Check(parsed.messages.size() == 1 && IdOf(parsed.messages[0]) == id);
  OutlineScanner scanner(line.size());
  for (std::string_view rest = line; !rest.empty();
       rest.remove_prefix(std::min<std::size_t>(7, rest.size()))) {
    scanner.Feed(rest.substr(0, 7));
  }
  const std::vector<rpc::Outline> outlines = scanner.Take();
  Check(outlines.size() == 1 && outlines[0].id == id);
  Check(outlines[0].asks == (value->Find("method") != nullptr));
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  pa::CheckWriter(line);
  const pa::rpc::Line parsed = pa::rpc::ParseLine(line);
  pa::Check(!parsed.messages.empty());
  for (const pa::rpc::Parsed& message : parsed.messages) {
    if (message) {
      pa::CheckMessage(*message);
    } else {
      pa::CheckLine(pa::rpc::ErrorLine(message.error().id, message.error()));
    }
  }
  if (!parsed.batch) pa::CheckId(line, parsed);
  return 0;
}
