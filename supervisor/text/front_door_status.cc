#include "supervisor/text/front_door_status.h"

#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr std::size_t kMaxBytes = 64U << 10;

std::unexpected<Error> NoFrontDoorStatus() {
  return std::unexpected(Error("read", "the status of the front door", EBADMSG));
}

Result<std::uint64_t> CountIn(const JsonValue* value) {
  const auto number = value == nullptr ? std::nullopt : value->AsCount();
  if (!number) return NoFrontDoorStatus();
  return *number;
}

}  // namespace

std::uint64_t FrontDoorStatus::asked() const {
  std::uint64_t sum = 0;
  for (const auto& [status, count] : answers) sum += count;
  return sum;
}

std::uint64_t FrontDoorStatus::refused() const {
  const auto passed = answers.find(200);
  return asked() - (passed == answers.end() ? 0 : passed->second);
}

std::string FormatStatus(const FrontDoorStatus& status) {
  JsonWriter w;
  w.BeginObject().Field("tenants", status.tenants).Key("answers").BeginObject();
  for (const auto& [code, count] : status.answers) w.Field(std::to_string(code), count);
  w.EndObject().EndObject();
  return std::move(w).Take();
}

Result<FrontDoorStatus> ParseFrontDoorStatus(std::string_view text) {
  PA_TRY(const JsonValue json, ParseJson(text, {.max_bytes = kMaxBytes, .max_depth = 3}));
  FrontDoorStatus status;
  PA_TRY(status.tenants, CountIn(json.Find("tenants")));
  const JsonValue* const answers = json.Find("answers");
  if (answers == nullptr || !answers->IsObject()) return NoFrontDoorStatus();
  for (const auto& [code, count] : answers->Members()) {
    int number = 0;
    const auto [end, failed] = std::from_chars(code.data(), code.data() + code.size(), number);
    const bool whole = failed == std::errc() && end == code.data() + code.size();
    if (!whole || number < 100 || number > 599) return NoFrontDoorStatus();
    PA_TRY(status.answers[number], CountIn(&count));
  }
  return status;
}

void AddMetrics(OpenMetrics& metrics, const FrontDoorStatus& status) {
  metrics.Begin("project_actions_tenants", OpenMetrics::Type::kGauge, "Tenants of the machine.");
  metrics.Sample("", {}, static_cast<double>(status.tenants));
  metrics.Begin("project_actions_front_door_requests", OpenMetrics::Type::kCounter,
                "Requests that the front door has judged, by the status for the client.");
  for (const auto& [code, count] : status.answers) {
    metrics.Sample("_total", {{"status", std::to_string(code)}}, static_cast<double>(count));
  }
}

}  // namespace pa
