// CallCounts: how many calls of each tool have ended since the server began, how, and how long they
// took.
//
//    CallCounts counts;
//    counts.Add("make", "ok", took);
//    const std::map<std::string, ToolCounts, std::less<>>& all = counts.tools();
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace pa {

// Upper bounds of the times that are counted apart; longer ones come last.
inline constexpr std::array<std::chrono::microseconds, 11> kTimeBounds = {
    std::chrono::milliseconds(1),  std::chrono::milliseconds(5),   std::chrono::milliseconds(10),
    std::chrono::milliseconds(50), std::chrono::milliseconds(100), std::chrono::milliseconds(500),
    std::chrono::seconds(1),       std::chrono::seconds(5),        std::chrono::seconds(10),
    std::chrono::minutes(1),       std::chrono::minutes(10)};

// The outcome of a call that has not failed; the others are codes of errors (call/error_code.h).
inline constexpr std::string_view kCallSucceeded = "ok";
// In place of the name of a tool that there is not.
inline constexpr std::string_view kNoSuchTool = "unknown";

struct ToolCounts {
  std::map<std::string, std::uint64_t, std::less<>> outcomes;
  std::array<std::uint64_t, kTimeBounds.size() + 1> times{};  // of calls; not cumulative
  std::uint64_t total_time_us = 0;
  bool operator==(const ToolCounts&) const = default;
};
using CountsOfTools = std::map<std::string, ToolCounts, std::less<>>;

class CallCounts {
 public:
  void Add(std::string_view tool, std::string_view outcome, std::chrono::microseconds took);
  const CountsOfTools& tools() const { return tools_; }
  std::chrono::system_clock::time_point began() const { return began_; }

 private:
  const std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  CountsOfTools tools_;
};

}  // namespace pa
