#include "base/units.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/words.h"

namespace pa {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Ascending; the last one that divides a value spells it shortest.
constexpr Unit kDurations[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
constexpr Unit kByteSizes[] = {
    {"B", 1}, {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}, {"TiB", 1ull << 40}};

// "24KiB" apart: digits and the rest.
struct Quantity {
  std::string_view digits;
  std::string_view unit;
};
Quantity Split(std::string_view text) {
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; });
  const auto length = static_cast<std::size_t>(end - text.begin());
  return {text.substr(0, length), text.substr(length)};
}

const Unit* FindUnit(std::span<const Unit> units, std::string_view name) {
  const auto unit = std::ranges::find(units, name, &Unit::name);
  return unit == units.end() ? nullptr : &*unit;
}

// Nothing when it does not fit.
std::optional<std::uint64_t> Multiply(std::string_view digits, std::uint64_t factor) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  std::uint64_t product = 0;
  if (error != std::errc() || __builtin_mul_overflow(count, factor, &product)) return std::nullopt;
  return product;
}

const Unit& ShortestUnit(std::span<const Unit> units, std::uint64_t value) {
  const Unit* shortest = &units.front();
  for (const Unit& unit : units) {
    if (value % unit.factor == 0) shortest = &unit;
  }
  return *shortest;
}

}  // namespace

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const Quantity quantity = Split(text);
  const Unit* unit = FindUnit(kDurations, quantity.unit);
  if (quantity.digits.empty() || unit == nullptr) {
    return std::unexpected(Error(
        "parse duration",
        Quoted(text) + " is not a whole number and a unit (ms, s, m, h), such as 500ms or 10m"));
  }
  const std::optional<std::uint64_t> value = Multiply(quantity.digits, unit->factor);
  if (!value || *value > static_cast<std::uint64_t>(std::chrono::milliseconds::max().count())) {
    return std::unexpected(Error("parse duration", Quoted(text) + " is too large"));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(*value));
}

std::string FormatDuration(std::chrono::milliseconds value) {
  if (value.count() == 0) return "0s";
  const bool negative = value.count() < 0;
  const auto bits = static_cast<std::uint64_t>(value.count());
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  const Unit& unit = ShortestUnit(kDurations, magnitude);
  return (negative ? "-" : "") + std::to_string(magnitude / unit.factor) + std::string(unit.name);
}

Result<std::uint64_t> ParseByteSize(std::string_view text) {
  const Quantity quantity = Split(text);
  const Unit* unit = FindUnit(kByteSizes, quantity.unit);
  if (quantity.digits.empty() || unit == nullptr) {
    std::string problem =
        Quoted(text) + " is not a whole number and a unit (B, KiB, MiB, GiB, TiB), such as 24KiB";
    // KB is 1000 to some and 1024 to others; a limit must not be guessed.
    for (const Unit& binary : std::span(kByteSizes).subspan(1)) {
      const std::string decimal = {binary.name[0], 'B'};
      if (!quantity.digits.empty() && quantity.unit == decimal) {
        problem = Quoted(text) + ": write " + std::string(quantity.digits) +
                  std::string(binary.name) + "; " + decimal + " is ambiguous";
      }
    }
    return std::unexpected(Error("parse byte size", problem));
  }
  const std::optional<std::uint64_t> value = Multiply(quantity.digits, unit->factor);
  if (!value) return std::unexpected(Error("parse byte size", Quoted(text) + " is too large"));
  return *value;
}

std::string FormatByteSize(std::uint64_t value) {
  if (value == 0) return "0B";
  const Unit& unit = ShortestUnit(kByteSizes, value);
  return std::to_string(value / unit.factor) + std::string(unit.name);
}

}  // namespace pa
