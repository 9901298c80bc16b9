#include "supervisor/cli/top_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "supervisor/text/columns.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

constexpr std::size_t kNameColumns = 14;
constexpr std::size_t kMaxFailures = 12;
// Of one server: what it says is its own, and is not to hide the others.
constexpr std::size_t kMaxFailuresOfOne = 3;

const ServerStatus* StatusIn(const TopSnapshot* snapshot, const std::string& name) {
  if (snapshot == nullptr) return nullptr;
  const auto found = std::ranges::find(snapshot->servers, name, &WatchedServer::name);
  return found != snapshot->servers.end() && found->status ? &*found->status : nullptr;
}

// Since when the counts of `now` grow, and from where.
struct Span {
  const ServerStatus* before;  // null: from nothing
  double elapsed;
};

Span SpanOf(const TopSnapshot& now, const TopSnapshot* then, const WatchedServer& server) {
  const ServerStatus* before = StatusIn(then, server.name);
  // Another server has its place, whose counts began anew.
  if (before != nullptr && before->started != server.status->started) before = nullptr;
  const auto since_1970 = [](const TopSnapshot& snapshot) {
    return std::chrono::duration<double>(snapshot.at.time_since_epoch()).count();
  };
  const double from =
      before == nullptr ? static_cast<double>(server.status->started) : since_1970(*then);
  return {before, std::max(since_1970(now) - from, 0.001)};
}

double Rate(std::uint64_t now, std::uint64_t before, double elapsed) {
  return now < before ? 0 : static_cast<double>(now - before) / elapsed;
}

std::string ShortRate(double rate) {
  return rate < 100 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate);
}

std::string ShortSize(std::uint64_t bytes) {
  constexpr std::uint64_t kMegabyte = 1U << 20;
  return bytes < 1000 * kMegabyte
             ? fmt::format("{:.1f}M", static_cast<double>(bytes) / kMegabyte)
             : fmt::format("{:.1f}G", static_cast<double>(bytes) / (1024 * kMegabyte));
}

// Of paths the ends differ.
std::string Name(const std::string& name) {
  const std::string all = VisibleText(name);
  return Padded(
      name.contains('/') ? LastColumns(all, kNameColumns) : FirstColumns(all, kNameColumns),
      kNameColumns);
}

std::string Row(const WatchedServer& server, const Span& span) {
  const ServerStatus& now = *server.status;
  const ServerStatus none;
  const ServerStatus& before = span.before == nullptr ? none : *span.before;
  const double cpu = 1e-4 * Rate(now.cpu_us + now.commands_cpu_us,
                                 before.cpu_us + before.commands_cpu_us, span.elapsed);
  return fmt::format("{} {:>6} {:>6} {:>4} {:>4} {:>5} {:>4} {:>4} {:>4} {:>5.0f} {:>7}",
                     Name(server.name), ShortRate(Rate(now.ended(), before.ended(), span.elapsed)),
                     ShortRate(Rate(now.failed(), before.failed(), span.elapsed)), now.calls,
                     now.running, now.waiting, now.jobs, now.sessions, now.connections, cpu,
                     ShortSize(now.memory));
}

struct Failures {
  std::string server, tool, code;
  double rate;
  std::uint64_t count;
};

void AddFailures(std::vector<Failures>& all, const WatchedServer& server, const Span& span) {
  for (const auto& [tool, counts] : server.status->tools) {
    const ToolCounts* before = nullptr;
    if (span.before != nullptr) {
      const auto found = span.before->tools.find(tool);
      if (found != span.before->tools.end()) before = &found->second;
    }
    for (const auto& [code, count] : counts.outcomes) {
      if (code == kCallSucceeded) continue;
      std::uint64_t earlier = 0;
      if (before != nullptr) {
        const auto found = before->outcomes.find(code);
        if (found != before->outcomes.end()) earlier = found->second;
      }
      all.push_back({server.name, tool, code, Rate(count, earlier, span.elapsed), count});
    }
  }
}

// The most frequent now come first.
std::vector<std::string> FailureLines(std::vector<Failures> all) {
  if (all.empty()) return {};
  std::ranges::sort(all, {}, [](const Failures& one) {
    return std::make_tuple(-one.rate, -static_cast<double>(one.count), one.server, one.tool,
                           one.code);
  });
  std::map<std::string, std::size_t> of_one;
  std::erase_if(all, [&](const Failures& one) { return ++of_one[one.server] > kMaxFailuresOfOne; });
  if (all.size() > kMaxFailures) all.resize(kMaxFailures);
  std::vector<std::string> lines = {
      "", fmt::format("{} {:<18} {:<20} {:>8} {:>8}", Padded("FAILED", kNameColumns), "TOOL",
                      "CODE", "A SECOND", "IN ALL")};
  for (const Failures& one : all) {
    lines.push_back(fmt::format("{} {:<18} {:<20} {:>8} {:>8}", Name(one.server), one.tool,
                                one.code, ShortRate(one.rate), one.count));
  }
  return lines;
}

std::string Head(const TopSnapshot& now, const TopSnapshot* before) {
  const auto running = std::ranges::count_if(
      now.servers, [](const WatchedServer& server) { return server.status.has_value(); });
  std::string head =
      fmt::format("{:%H:%M:%S} UTC; servers: {}, running: {}",
                  std::chrono::floor<std::chrono::seconds>(now.at), now.servers.size(), running);
  if (!now.front_door) return head;
  head += "; front door: ";
  if (before == nullptr || !before->front_door) {
    return head + fmt::format("{} requests, {} refused", now.front_door->asked(),
                              now.front_door->refused());
  }
  const double elapsed =
      std::max(std::chrono::duration<double>(now.at - before->at).count(), 0.001);
  return head +
         fmt::format(
             "{} requests a second, {} refused",
             ShortRate(Rate(now.front_door->asked(), before->front_door->asked(), elapsed)),
             ShortRate(Rate(now.front_door->refused(), before->front_door->refused(), elapsed)));
}

}  // namespace

std::string TopFrame(const TopSnapshot& now, const TopSnapshot* before, const TopSize& size) {
  std::vector<std::string> rows;
  std::vector<std::string> waiting;
  std::vector<Failures> failures;
  for (const WatchedServer& server : now.servers) {
    if (server.status) {
      const Span span = SpanOf(now, before, server);
      rows.push_back(Row(server, span));
      AddFailures(failures, server, span);
    } else if (!server.problem.empty()) {
      rows.push_back(fmt::format("{} {}", Name(server.name), VisibleText(server.problem)));
    } else {
      waiting.push_back(Name(server.name) + " does not run: a request starts it");
    }
  }
  rows.insert(rows.end(), waiting.begin(), waiting.end());
  std::vector<std::string> lines = {
      Head(now, before), "",
      fmt::format("{} {:>6} {:>6} {:>4} {:>4} {:>5} {:>4} {:>4} {:>4} {:>5} {:>7}",
                  Padded("SERVER", kNameColumns), "CALL/S", "FAIL/S", "OPEN", "RUN", "WAIT", "JOBS",
                  "SESS", "CONN", "CPU%", "MEMORY")};
  const std::vector<std::string> failed = FailureLines(std::move(failures));
  const std::size_t others = lines.size() + failed.size();
  const std::size_t room = size.height > others ? size.height - others : 1;
  if (rows.size() > room) {
    const std::size_t shown = room - 1;
    const std::string more = fmt::format("and {} more: top --once shows all", rows.size() - shown);
    rows.resize(shown);
    rows.push_back(more);
  }
  lines.insert(lines.end(), rows.begin(), rows.end());
  lines.insert(lines.end(), failed.begin(), failed.end());
  std::string frame;
  for (std::size_t i = 0; i < std::min(lines.size(), size.height); ++i) {
    frame += FirstColumns(lines[i], size.width) + "\n";
  }
  return frame;
}

}  // namespace pa
