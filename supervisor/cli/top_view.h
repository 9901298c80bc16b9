// TopView: servers as `project-actions top` shows them: what each does now, and which of its calls
// fail.
//
//    const std::string frame = TopFrame(now, &before, 100);
//
// Names and errors are those of others: nothing in them reaches the terminal but what it can show.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/engine/server_status.h"
#include "supervisor/text/front_door_status.h"

namespace pa {

struct WatchedServer {
  std::string name;                    // of the tenant, or the address
  std::optional<ServerStatus> status;  // nothing: it does not run, or see `problem`
  std::string problem = {};
};

struct TopSnapshot {
  std::chrono::system_clock::time_point at;
  std::vector<WatchedServer> servers;
  std::optional<FrontDoorStatus> front_door;
};

struct TopSize {
  std::size_t width;
  std::size_t height = std::numeric_limits<std::size_t>::max();
};

// At most `height` lines of at most `width` columns; servers that wait for a request give way
// first. Rates are those since `before`; null: since each server began.
std::string TopFrame(const TopSnapshot& now, const TopSnapshot* before, const TopSize& size);

}  // namespace pa
