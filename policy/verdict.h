// Verdict: what a rule of `permissions` says about a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pa::policy {

// The strictest first.
enum class Verdict : std::uint8_t { kDeny, kAsk, kAllow };

// As a policy writes it.
constexpr std::string_view VerdictName(Verdict verdict) {
  constexpr std::string_view kNames[] = {"deny", "ask", "allow"};
  return kNames[static_cast<std::uint8_t>(verdict)];
}

constexpr std::optional<Verdict> VerdictOf(std::string_view name) {
  for (const Verdict verdict : {Verdict::kDeny, Verdict::kAsk, Verdict::kAllow}) {
    if (name == VerdictName(verdict)) return verdict;
  }
  return std::nullopt;
}

}  // namespace pa::policy
