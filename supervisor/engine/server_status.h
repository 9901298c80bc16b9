// ServerStatus: how a server is: what it does now, and what it has done. GET /metrics gives it to
// Prometheus, and as JSON to `project-actions top`.
//
//    ServerStatus status = StatusOf(services);
//    std::string line = FormatStatus(status);
//    Result<ServerStatus> read = ParseStatus(line);           // of a server that may be hostile
//    OpenMetrics metrics;
//    AddMetrics(metrics, {{{}, status}});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "supervisor/engine/call_counts.h"
#include "supervisor/engine/services.h"
#include "supervisor/text/open_metrics.h"

namespace pa {

struct ServerStatus {
  std::uint64_t started = 0;          // seconds since 1970
  std::uint64_t cpu_us = 0;           // processor time of the server itself
  std::uint64_t commands_cpu_us = 0;  // and of its commands that have ended
  std::uint64_t memory = 0;           // bytes: resident, of the server itself
  std::uint64_t open_files = 0;
  std::uint64_t connections = 0;  // of HTTP
  std::uint64_t sessions = 0;     // of HTTP; and clients that speak in lines
  std::uint64_t calls = 0;        // that have not ended, jobs in the background included
  std::uint64_t running = 0;      // commands
  std::uint64_t waiting = 0;      // commands, and calls that are to begin
  std::uint64_t jobs = 0;         // that run
  std::uint64_t results = 0;      // that are kept
  std::uint64_t result_bytes = 0;
  CountsOfTools tools;
  bool operator==(const ServerStatus&) const = default;

  std::uint64_t ended() const;   // calls
  std::uint64_t failed() const;  // of them, without success
};

// Of this process. The caller adds what the doors know: connections, sessions and calls.
ServerStatus StatusOf(const Services& services);

inline constexpr std::size_t kMaxStatusBytes = 256U << 10;

// One line of JSON.
std::string FormatStatus(const ServerStatus& status);
// Refuses what lacks a member that FormatStatus writes; those of later releases are passed over.
// Names hold letters, digits and `_` alone.
Result<ServerStatus> ParseStatus(std::string_view text);

struct LabelledStatus {
  OpenMetrics::Labels labels;  // of all its samples: whose it is
  ServerStatus status;
};
void AddMetrics(OpenMetrics& metrics, const std::vector<LabelledStatus>& all);

}  // namespace pa
