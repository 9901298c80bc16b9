#include "supervisor/call/call_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "supervisor/call/tool_result.h"

namespace pa {
namespace {

constexpr std::array<std::string_view, 8> kLogLevels = {"debug", "info",     "notice", "warning",
                                                        "error", "critical", "alert",  "emergency"};

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  return kLogLevels[static_cast<std::size_t>(level)];
}

std::optional<LogLevel> FindLogLevel(std::string_view name) {
  const auto found = std::ranges::find(kLogLevels, name);
  if (found == kLogLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLogLevels.begin());
}

std::string_view LogLevelNames() {
  static const std::string names = fmt::format("{}", fmt::join(kLogLevels, ", "));
  return names;
}

void LogOutcome(const CallLog& log, std::string_view tool, const ToolResult& result,
                std::chrono::microseconds took) {
  if (!log) return;
  for (const std::string& denial : result.denials) log(LogLevel::kWarning, tool, denial);
  for (const std::string& warning : result.warnings) log(LogLevel::kWarning, tool, warning);
  const bool fault = result.error && result.error->code == ErrorCode::kInternal;
  const std::string how =
      result.error ? fmt::format("{}: {}", CodeText(result.error->code), result.error->message)
                   : "success";
  log(fault ? LogLevel::kError : LogLevel::kInfo, tool,
      fmt::format("{}, {} ms", how, took.count() / 1000));
}

}  // namespace pa
