// Points in time as people write them.
//
//    auto since = ParsePointInTime("2h", Now());               // two hours ago
//    auto until = ParsePointInTime("2026-11-26 14:00", Now());
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <string_view>

namespace pa {

using PointInTime = std::chrono::sys_time<std::chrono::milliseconds>;

// `45s`, `30m`, `2h`, `3d`, `2w` before `now`; `2026-11-26`, `2026-11-26 14:00`,
// `2026-11-26T14:00:05`, of the local time zone unless `Z` or `+01:00` follows. The error says what
// was expected.
std::expected<PointInTime, std::string> ParsePointInTime(std::string_view text, PointInTime now);

}  // namespace pa
