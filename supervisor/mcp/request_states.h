// RequestStates: makes and checks what a client carries from a result that asks for input to its
// next request (MCP 2026-07-28, multi-round results): which call it was, and what the user is asked
// about. The client may be hostile, so a state has a MAC, and is valid for this call only, for
// kAnswerPatience, and once.
//
//    std::string state = states.Issue(DigestOfCall(tool, arguments), questions, now);
//    ...
//    std::expected<std::vector<Digest>, StateProblem> questions = states.Redeem(state, call, now);
//
// Only used states are remembered, until they would have expired.
#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/json.h"

namespace pa {

enum class StateProblem {
  kForged,   // not ours, or of an earlier server
  kNotThis,  // of another call
  kUsed,
  kExpired,
};

// Names a call, so that a state for one call is not valid for another. Does not depend on how the
// arguments are written: order of members, null or absent, `7.0` or `7`.
Digest DigestOfCall(std::string_view tool, const JsonValue* arguments);

class RequestStates {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // If so many used states are remembered, none is accepted until some expire.
  static constexpr std::size_t kMaxUsed = 10'000;

  explicit RequestStates(std::string key) : key_(std::move(key)) {}

  std::string Issue(const Digest& call, std::span<const Digest> questions, Time now) const;
  std::expected<std::vector<Digest>, StateProblem> Redeem(std::string_view state,
                                                          const Digest& call, Time now);

 private:
  std::string key_;
  std::set<std::pair<Time, std::string>> used_;  // expiry and nonce of each
};

}  // namespace pa
