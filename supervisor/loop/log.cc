#include "supervisor/loop/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/utf8.h"

namespace pa {

void StartLog(bool verbose, const char* program) {
  // The single-threaded sink: everything that logs runs on the loop's thread.
  auto logger =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%n: %l: %v");
  logger->set_level(verbose ? spdlog::level::info : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

// Not through "{}": formatting that nobody needs is compiled here then, with warnings of GCC 13.
void LogInfo(std::string_view text) { spdlog::info(spdlog::string_view_t(RepairUtf8(text, true))); }
void LogWarning(std::string_view text) {
  spdlog::warn(spdlog::string_view_t(RepairUtf8(text, true)));
}
void LogError(std::string_view text) {
  spdlog::error(spdlog::string_view_t(RepairUtf8(text, true)));
}

}  // namespace pa
