// TopView: servers as `project-actions top` shows them: what each does now, and which of its calls
// fail.
//
//    const std::string frame = TopFrame(now, &before, 100);
//
// Names and errors are those of others: nothing in them reaches the terminal but what it can show.
#pragma once

#include <chrono>
#include <cstddef>
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

// Lines of at most `width` columns. Rates are those since `before`; null: since each server began.
std::string TopFrame(const TopSnapshot& now, const TopSnapshot* before, std::size_t width);

}  // namespace pa
