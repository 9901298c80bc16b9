#include "supervisor/engine/server_status.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/try.h"
#include "supervisor/jobs/jobs.h"
#include "supervisor/results/result_store.h"
#include "supervisor/run/runner.h"

namespace pa {
namespace {

using Type = OpenMetrics::Type;

struct Number {
  const char* key;  // in JSON
  std::uint64_t ServerStatus::* value;
  const char* metric;
  Type type;
  double unit;  // of the value, in that of the metric
  const char* help;
};

constexpr Number kNumbers[] = {
    {"started", &ServerStatus::started, "project_actions_server_start_time_seconds", Type::kGauge,
     1, "When the server began, in seconds since 1970."},
    {"cpu_us", &ServerStatus::cpu_us, "project_actions_server_cpu_seconds", Type::kCounter, 1e-6,
     "Processor time of the server itself."},
    {"commands_cpu_us", &ServerStatus::commands_cpu_us, "project_actions_commands_cpu_seconds",
     Type::kCounter, 1e-6, "Processor time of commands that have ended."},
    {"memory", &ServerStatus::memory, "project_actions_server_resident_memory_bytes", Type::kGauge,
     1, "Resident memory of the server itself."},
    {"open_files", &ServerStatus::open_files, "project_actions_server_open_fds", Type::kGauge, 1,
     "Descriptors that the server has open."},
    {"connections", &ServerStatus::connections, "project_actions_connections", Type::kGauge, 1,
     "Connections of HTTP."},
    {"sessions", &ServerStatus::sessions, "project_actions_sessions", Type::kGauge, 1,
     "Sessions of clients, without those of requests of MCP 2026-07-28."},
    {"calls", &ServerStatus::calls, "project_actions_calls_open", Type::kGauge, 1,
     "Calls that have not ended, jobs in the background included."},
    {"running", &ServerStatus::running, "project_actions_commands_running", Type::kGauge, 1,
     "Commands that run, the server's own searches included."},
    {"waiting", &ServerStatus::waiting, "project_actions_commands_waiting", Type::kGauge, 1,
     "Commands and calls that wait for a place."},
    {"jobs", &ServerStatus::jobs, "project_actions_jobs_running", Type::kGauge, 1,
     "Jobs that run."},
    {"results", &ServerStatus::results, "project_actions_results", Type::kGauge, 1,
     "Outputs that are kept."},
    {"result_bytes", &ServerStatus::result_bytes, "project_actions_results_bytes", Type::kGauge, 1,
     "Bytes of outputs that are kept or written."},
};

// More than there are tools and codes.
constexpr std::size_t kMaxNames = 64;
constexpr std::size_t kMaxName = 64;

std::uint64_t Microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

std::uint64_t CpuOf(int who) {
  rusage usage{};
  if (getrusage(who, &usage) != 0) return 0;
  return Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime);
}

// proc(5): the second number of statm is the resident set, in pages. Without a descriptor for it
// the largest that it has been.
std::uint64_t ResidentMemory() {
  const Result<std::string> text = ReadFile("/proc/self/statm", 256);
  if (!text) {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) << 10
                                               : 0;
  }
  const std::string_view rest = std::string_view(*text).substr(text->find(' ') + 1);
  std::uint64_t pages = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), pages);
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// As many as there may be, if there is none left to count them with.
std::uint64_t OpenFiles() {
  const Result<std::vector<std::string>> names = ReadNames("/proc/self/fd", 0);
  if (names) return names->size();
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

std::uint64_t Sum(const ToolCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [outcome, count] : counts.outcomes) sum += count;
  return sum;
}

std::unexpected<Error> NoStatus() {
  return std::unexpected(Error("read", "the status of a server", EBADMSG));
}

Result<std::uint64_t> NumberIn(const JsonValue* value) {
  const auto number = value == nullptr ? std::nullopt : value->AsCount();
  if (!number) return NoStatus();
  return *number;
}

Result<const std::vector<JsonValue::Member>*> NamesIn(const JsonValue* object) {
  if (object == nullptr || !object->IsObject()) return NoStatus();
  const auto& members = object->Members();
  const bool named = std::ranges::all_of(members, [](const JsonValue::Member& member) {
    return !member.first.empty() && member.first.size() <= kMaxName &&
           std::ranges::all_of(member.first, [](char c) {
             return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                    (c >= 'a' && c <= 'z');
           });
  });
  if (!named || members.size() > kMaxNames) return NoStatus();
  return &members;
}

Result<ToolCounts> ReadCounts(const JsonValue& tool) {
  ToolCounts counts;
  PA_TRY(const auto* outcomes, NamesIn(tool.Find("outcomes")));
  for (const auto& [name, count] : *outcomes) {
    PA_TRY(counts.outcomes[name], NumberIn(&count));
  }
  PA_TRY(counts.total_time_us, NumberIn(tool.Find("total_time_us")));
  const JsonValue* const times = tool.Find("times");
  if (times == nullptr || !times->IsArray()) return NoStatus();
  if (times->Items().size() != counts.times.size()) return NoStatus();
  for (std::size_t i = 0; i < counts.times.size(); ++i) {
    PA_TRY(counts.times[i], NumberIn(&times->Items()[i]));
  }
  return counts;
}

OpenMetrics::Labels With(const OpenMetrics::Labels& labels, OpenMetrics::Labels more) {
  more.insert(more.begin(), labels.begin(), labels.end());
  return more;
}

void AddTimes(OpenMetrics& metrics, const OpenMetrics::Labels& labels, const std::string& tool,
              const ToolCounts& counts) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts.times.size(); ++i) {
    below += counts.times[i];
    const std::string bound =
        i < kTimeBounds.size()
            ? fmt::format("{}", std::chrono::duration<double>(kTimeBounds[i]).count())
            : "+Inf";
    metrics.Sample("_bucket", With(labels, {{"tool", tool}, {"le", bound}}),
                   static_cast<double>(below));
  }
  metrics.Sample("_count", With(labels, {{"tool", tool}}), static_cast<double>(below));
  metrics.Sample("_sum", With(labels, {{"tool", tool}}),
                 static_cast<double>(counts.total_time_us) * 1e-6);
}

}  // namespace

ServerStatus StatusOf(const Services& services) {
  const auto began = services.counts.began().time_since_epoch();
  return {.started = static_cast<std::uint64_t>(
              std::chrono::duration_cast<std::chrono::seconds>(began).count()),
          .cpu_us = CpuOf(RUSAGE_SELF),
          .commands_cpu_us = CpuOf(RUSAGE_CHILDREN),
          .memory = ResidentMemory(),
          .open_files = OpenFiles(),
          .running = services.runner.running(),
          .waiting = services.runner.waiting(),
          .jobs = services.jobs.running(),
          .results = services.results.size(),
          .result_bytes = services.results.bytes(),
          .tools = services.counts.tools()};
}

std::uint64_t ServerStatus::ended() const {
  std::uint64_t sum = 0;
  for (const auto& [name, counts] : tools) sum += Sum(counts);
  return sum;
}

std::uint64_t ServerStatus::failed() const {
  std::uint64_t sum = ended();
  for (const auto& [name, counts] : tools) {
    const auto succeeded = counts.outcomes.find(kCallSucceeded);
    if (succeeded != counts.outcomes.end()) sum -= succeeded->second;
  }
  return sum;
}

std::string FormatStatus(const ServerStatus& status) {
  JsonWriter w;
  w.BeginObject();
  for (const Number& number : kNumbers) w.Field(number.key, status.*number.value);
  w.Key("tools").BeginObject();
  for (const auto& [name, counts] : status.tools) {
    w.Key(name).BeginObject().Key("outcomes").BeginObject();
    for (const auto& [outcome, count] : counts.outcomes) w.Field(outcome, count);
    w.EndObject().Field("total_time_us", counts.total_time_us).Key("times").BeginArray();
    for (const std::uint64_t count : counts.times) w.Uint(count);
    w.EndArray().EndObject();
  }
  w.EndObject().EndObject();
  return std::move(w).Take();
}

Result<ServerStatus> ParseStatus(std::string_view text) {
  PA_TRY(const JsonValue json, ParseJson(text, {.max_bytes = kMaxStatusBytes, .max_depth = 5}));
  ServerStatus status;
  for (const Number& number : kNumbers) {
    PA_TRY(status.*number.value, NumberIn(json.Find(number.key)));
  }
  PA_TRY(const auto* tools, NamesIn(json.Find("tools")));
  for (const auto& [name, tool] : *tools) {
    PA_TRY(status.tools[name], ReadCounts(tool));
  }
  return status;
}

void AddMetrics(OpenMetrics& metrics, const std::vector<LabelledStatus>& all) {
  for (const Number& number : kNumbers) {
    metrics.Begin(number.metric, number.type, number.help);
    for (const LabelledStatus& one : all) {
      metrics.Sample(number.type == Type::kCounter ? "_total" : "", one.labels,
                     static_cast<double>(one.status.*number.value) * number.unit);
    }
  }
  metrics.Begin("project_actions_calls", Type::kCounter,
                "Calls that have ended, by the tool and the code of the error.");
  for (const LabelledStatus& one : all) {
    for (const auto& [tool, counts] : one.status.tools) {
      for (const auto& [outcome, count] : counts.outcomes) {
        metrics.Sample("_total", With(one.labels, {{"tool", tool}, {"outcome", outcome}}),
                       static_cast<double>(count));
      }
    }
  }
  metrics.Begin("project_actions_call_seconds", Type::kHistogram, "How long calls took.");
  for (const LabelledStatus& one : all) {
    for (const auto& [tool, counts] : one.status.tools) {
      AddTimes(metrics, one.labels, tool, counts);
    }
  }
}

}  // namespace pa
