// FrontDoorStatus: what project-actionsd has answered, for Prometheus and `project-actions top`.
//
//    std::string line = FormatStatus(status);
//    Result<FrontDoorStatus> read = ParseFrontDoorStatus(line);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "supervisor/text/open_metrics.h"

namespace pa {

struct FrontDoorStatus {
  std::uint64_t tenants = 0;
  std::map<int, std::uint64_t> answers = {};  // since it began, by the status for the client
  bool operator==(const FrontDoorStatus&) const = default;

  std::uint64_t asked() const;
  std::uint64_t refused() const;  // of them, not 200
};

// One line of JSON.
std::string FormatStatus(const FrontDoorStatus& status);
// As ParseStatus of engine/server_status.h.
Result<FrontDoorStatus> ParseFrontDoorStatus(std::string_view text);
void AddMetrics(OpenMetrics& metrics, const FrontDoorStatus& status);

}  // namespace pa
