#include "supervisor/mcp/request_states.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/random.h"
#include "supervisor/call/approval.h"

namespace pa {
namespace {

// Of the states: hexadecimal digits throughout.
constexpr std::size_t kTagDigits = 64;
constexpr std::size_t kNonceDigits = 32;
constexpr std::size_t kTimeDigits = 16;
constexpr std::size_t kHeadDigits = kNonceDigits + kTimeDigits + kTagDigits;
constexpr std::string_view kStateVersion = "1";

std::string HexOf(std::uint64_t value) {
  std::string digits(kTimeDigits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4) {
    *digit = "0123456789abcdef"[value & 15];
  }
  return digits;
}

std::uint64_t FromHexDigits(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// A client that reads and writes its request again orders members as it likes, leaves out what is
// null and writes `7.0` as `7`: it is the same call.
JsonValue Canonical(const JsonValue& value) {
  if (value.IsArray()) {
    std::vector<JsonValue> items;
    for (const JsonValue& item : value.Items()) items.push_back(Canonical(item));
    return JsonValue::Array(std::move(items));
  }
  if (value.IsObject()) {
    std::vector<JsonValue::Member> members;
    for (const auto& [name, member] : value.Members()) {
      if (!member.IsNull()) members.emplace_back(name, Canonical(member));
    }
    std::ranges::sort(members, {}, &JsonValue::Member::first);
    return JsonValue::Object(std::move(members));
  }
  const std::optional<std::int64_t> integer = value.AsInteger();
  return integer ? JsonValue::Number(std::to_string(*integer)) : value;
}

}  // namespace

Digest DigestOfCall(std::string_view tool, const JsonValue* arguments) {
  const bool any = arguments != nullptr && !arguments->IsNull();
  return Sha256Of(std::string(tool) + '\0' + (any ? Canonical(*arguments).Dump() : "{}"));
}

// VERSION TAG NONCE TIME CALL QUESTION...
std::string RequestStates::Issue(const Digest& call, std::span<const Digest> questions,
                                 Time now) const {
  const Time expires = now + kAnswerPatience;
  std::string text = RandomHex(kNonceDigits / 2);
  text += HexOf(static_cast<std::uint64_t>(expires.time_since_epoch().count())) + Hex(call);
  for (const Digest& question : questions) text += Hex(question);
  return std::string(kStateVersion) + Hex(HmacSha256(key_, text)) + text;
}

std::expected<std::vector<Digest>, StateProblem> RequestStates::Redeem(std::string_view state,
                                                                       const Digest& call,
                                                                       Time now) {
  const std::size_t head = kStateVersion.size() + kTagDigits + kHeadDigits;
  if (!state.starts_with(kStateVersion) || state.size() < head ||
      (state.size() - head) % kTagDigits != 0) {
    return std::unexpected(StateProblem::kForged);
  }
  const std::optional<Digest> tag = FromHex(state.substr(kStateVersion.size(), kTagDigits));
  const std::string_view text = state.substr(kStateVersion.size() + kTagDigits);
  if (!tag || !SameDigest(*tag, HmacSha256(key_, text))) {
    return std::unexpected(StateProblem::kForged);
  }
  const std::string nonce(text.substr(0, kNonceDigits));
  const Time expires{Time::duration(FromHexDigits(text.substr(kNonceDigits, kTimeDigits)))};
  if (text.substr(kNonceDigits + kTimeDigits, kTagDigits) != Hex(call)) {
    return std::unexpected(StateProblem::kNotThis);
  }
  if (now >= expires) return std::unexpected(StateProblem::kExpired);
  used_.erase(used_.begin(), used_.lower_bound({now, ""}));
  if (used_.size() >= kMaxUsed || !used_.emplace(expires, nonce).second) {
    return std::unexpected(StateProblem::kUsed);
  }
  std::vector<Digest> questions;
  for (std::string_view rest = text.substr(kHeadDigits); !rest.empty();
       rest.remove_prefix(kTagDigits)) {
    questions.push_back(FromHex(rest.substr(0, kTagDigits)).value_or(Digest{}));
  }
  return questions;
}

}  // namespace pa
