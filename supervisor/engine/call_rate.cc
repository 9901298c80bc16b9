#include "supervisor/engine/call_rate.h"

#include <algorithm>
#include <cmath>

namespace pa {

std::optional<std::chrono::milliseconds> CallRate::Take(std::uint64_t per_minute,
                                                        Clock::time_point now) {
  constexpr double kSecondsKept = 10;
  const double per_second = static_cast<double>(per_minute) / 60;
  const double most = std::max(1.0, per_second * kSecondsKept);
  const double passed = at_ ? std::chrono::duration<double>(now - *at_).count() : kSecondsKept;
  left_ = at_ ? std::min(most, left_ + passed * per_second) : most;
  at_ = now;
  if (left_ >= 1) {
    left_ -= 1;
    return std::nullopt;
  }
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil((1 - left_) / per_second * 1000)));
}

}  // namespace pa
