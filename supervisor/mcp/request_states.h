// RequestStates: what a client carries from the result that asks for input to its next request (MCP
// 2026-07-28, multi-round results): which call it was, and what the user is asked about. The client
// may be hostile, so it is under a MAC, for this call alone, for kAnswerPatience, and good for one
// use.
//
//   std::string state = states.Issue(DigestOfCall(tool, arguments), questions, now);
//   ...
//   std::expected<std::vector<Digest>, StateProblem> questions = states.Redeem(state, call, now);
//
// Nothing is kept of a state but that it was used, until it would have expired anyway.
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
  kForged,   // none of ours, or of a server before us
  kNotThis,  // of another call
  kUsed,
  kExpired,
};

// Of what is called: a state for one call is none for another. However its arguments are written.
Digest DigestOfCall(std::string_view tool, const JsonValue* arguments);

class RequestStates {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kMaxUsed = 10'000;  // beyond that none is taken, until some expire

  explicit RequestStates(std::string key) : key_(std::move(key)) {}

  std::string Issue(const Digest& call, std::span<const Digest> questions, Time now) const;
  std::expected<std::vector<Digest>, StateProblem> Redeem(std::string_view state,
                                                          const Digest& call, Time now);

 private:
  std::string key_;
  std::set<std::pair<Time, std::string>> used_;  // when they expire, and their numbers
};

}  // namespace pa
