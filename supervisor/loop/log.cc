#include "supervisor/loop/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "base/json_writer.h"
#include "base/utf8.h"

namespace pa {
namespace {

// %* is a Priority, %? a JsonText.
constexpr char kPlain[] = "%n: %l: %v";
constexpr char kJournal[] = "<%*>%l: %v";
constexpr char kJson[] =
    R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","program":"%n","pid":%P,"message":%?})";

// The severities of syslog (RFC 5424, 6.2.1).
class Priority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const bool error = message.level >= spdlog::level::err;
    const bool warning = message.level == spdlog::level::warn;
    out.push_back(error ? '3' : warning ? '4' : '6');
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

// The message as a string of JSON.
class JsonText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    JsonWriter w;
    w.String({message.payload.data(), message.payload.size()});
    const std::string text = std::move(w).Take();
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonText>();
  }
};

// systemd.exec(5): the variable names the device and the inode of the journal's stream, and may be
// inherited by those whose stderr is another one.
bool IsJournal(int fd) {
  const char* const named = std::getenv("JOURNAL_STREAM");
  struct stat file{};
  if (named == nullptr || fstat(fd, &file) != 0) return false;
  return std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino) == named;
}

// Not through "{}": formatting that nobody needs is compiled here then, with warnings of GCC 13.
void Log(spdlog::level::level_enum level, std::string_view text) {
  spdlog::log(level, spdlog::string_view_t(RepairUtf8(text, true)));
}

}  // namespace

void StartLog(const LogOptions& options) {
  // The single-threaded sink: everything that logs runs on the loop's thread.
  auto logger = std::make_shared<spdlog::logger>(options.program,
                                                 std::make_shared<spdlog::sinks::stderr_sink_st>());
  const char* const pattern = options.json ? kJson : IsJournal(STDERR_FILENO) ? kJournal : kPlain;
  auto formatter =
      std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc, "\n");
  formatter->add_flag<Priority>('*').add_flag<JsonText>('?').set_pattern(pattern);
  logger->set_formatter(std::move(formatter));
  logger->set_level(options.verbose ? spdlog::level::info : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void LogInfo(std::string_view text) { Log(spdlog::level::info, text); }
void LogNotice(std::string_view text) {
  const spdlog::level::level_enum level = spdlog::get_level();
  spdlog::default_logger()->set_level(spdlog::level::info);
  LogInfo(text);
  spdlog::default_logger()->set_level(level);
}
void LogWarning(std::string_view text) { Log(spdlog::level::warn, text); }
void LogError(std::string_view text) { Log(spdlog::level::err, text); }

}  // namespace pa
