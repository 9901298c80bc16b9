#include "supervisor/engine/call_counts.h"

#include <algorithm>

namespace pa {

void CallCounts::Add(std::string_view tool, std::string_view outcome,
                     std::chrono::microseconds took) {
  ToolCounts& counts = tools_[std::string(tool)];
  ++counts.outcomes[std::string(outcome)];
  const auto bound = std::ranges::lower_bound(kTimeBounds, took);
  ++counts.times[static_cast<std::size_t>(bound - kTimeBounds.begin())];
  counts.total_time_us += static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0));
}

}  // namespace pa
