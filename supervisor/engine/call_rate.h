// CallRate: how many calls begin in a minute (limits.calls_per_minute), as a token bucket.
//
//    CallRate rate;
//    if (const auto wait = rate.Take(policy->limits.calls_per_minute, Clock::now())) {
//      return RateLimited(..., *wait);
//    }
//
// Calls that were not made count for ten seconds: so many may come at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace pa {

class CallRate {
 public:
  using Clock = std::chrono::steady_clock;

  // Nothing: the call may begin, and counts. Else in how long one may.
  std::optional<std::chrono::milliseconds> Take(std::uint64_t per_minute, Clock::time_point now);

 private:
  double left_ = 0;
  std::optional<Clock::time_point> at_;  // when that was so; nothing: no call has been made
};

}  // namespace pa
