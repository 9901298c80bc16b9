// CallLog: what a call tells its client beside its result, by severity: the levels of syslog
// (RFC 5424, 6.2.1), as MCP has them.
//
//    if (call.log) call.log(LogLevel::kInfo, "make", "half of it is done");
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace pa {

struct ToolResult;  // supervisor/call/tool_result.h

// In order of severity.
enum class LogLevel : std::uint8_t {
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency
};
std::string_view LogLevelName(LogLevel level);  // `debug`, ...
std::optional<LogLevel> FindLogLevel(std::string_view name);
// `debug, info, ...`, for whoever has named another one.
std::string_view LogLevelNames();

using CallLog =
    std::function<void(LogLevel level, std::string_view tool, std::string_view message)>;

// Tells how a call has ended: what the sandbox refused and what else it warns of as warnings, a
// fault of the server as an error, all else for information. `log` may be null.
void LogOutcome(const CallLog& log, std::string_view tool, const ToolResult& result,
                std::chrono::microseconds took);

}  // namespace pa
