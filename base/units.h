// Durations and byte sizes as people write them in the policy: `10m`, `1500ms`, `24KiB`.
//
//    Result<std::chrono::milliseconds> limit = ParseDuration("10m");
//    FormatByteSize(24u << 10)   // "24KiB"
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pa {

// `500ms`, `30s`, `10m`, `2h`; a whole number and a unit, nothing else. Errors say what was
// expected.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
std::string FormatDuration(std::chrono::milliseconds value);  // the shortest exact spelling

// `512B`, `24KiB`, `4GiB` (powers of 1024); KB, MB and GB are refused with the binary unit named.
Result<std::uint64_t> ParseByteSize(std::string_view text);
std::string FormatByteSize(std::uint64_t value);  // the shortest exact spelling

}  // namespace pa
