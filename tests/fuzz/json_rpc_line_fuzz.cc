// A line from a client: whatever it is, it is read or refused, and what we send back can be read.
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/questions.h"
#include "supervisor/rpc.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

// One line, and the same value when it is read and written again.
void CheckLine(const std::string& line) {
  Check(line.find_first_of("\r\n") == std::string::npos);
  const Result<JsonValue> value = ParseJson(line, {.max_bytes = SIZE_MAX});
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
    Check(rpc::Id::FromJson(*ParseJson(request->id.token())) == request->id);
    CheckLine(rpc::ResultLine(request->id, request->params.Dump()));
  } else if (const auto* notification = std::get_if<rpc::Notification>(&message)) {
    Check(notification->params.IsObject());
    CheckLine(rpc::NotificationLine(notification->method, notification->params.Dump()));
  } else if (const auto* response = std::get_if<rpc::Response>(&message)) {
    if (response->id) CheckLine(rpc::RequestLine(*response->id, "elicitation/create", "{}"));
    if (response->result) (void)AnswerIn(*response->result);
  }
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  pa::CheckWriter(line);
  const auto message = pa::rpc::ParseMessage(line);
  if (message) {
    pa::CheckMessage(*message);
  } else {
    pa::CheckLine(pa::rpc::ErrorLine(message.error().id, message.error()));
  }
  return 0;
}
