#include "base/json.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "base/json_writer.h"

namespace pa {
namespace {

// A number token as digits * 10^exponent, without leading or trailing zeros in `digits`; zero has
// none.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
};

// Nothing if the exponent does not fit; the token is a JSON number.
std::optional<Decimal> Normalize(std::string_view token) {
  Decimal number;
  number.negative = token.starts_with('-');
  if (number.negative) token.remove_prefix(1);
  const std::string_view mantissa = token.substr(0, token.find_first_of("eE"));
  std::string_view exponent = token.substr(std::min(token.size(), mantissa.size() + 1));
  const std::size_t point = mantissa.find('.');
  number.digits = mantissa.substr(0, point);
  if (point != std::string_view::npos) {
    number.digits += mantissa.substr(point + 1);
    number.exponent =
        static_cast<std::int64_t>(point + 1) - static_cast<std::int64_t>(mantissa.size());
  }
  number.digits.erase(0, number.digits.find_first_not_of('0'));
  while (number.digits.ends_with('0')) {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.digits.empty()) return Decimal{};
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int written = 0;
  if (!exponent.empty() &&
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), written).ec !=
          std::errc()) {
    return std::nullopt;
  }
  number.exponent += written;
  return number;
}

}  // namespace

bool IsJsonNumber(std::string_view token) {
  std::size_t at = 0;
  const auto skip = [&](char c) {
    const bool found = at < token.size() && token[at] == c;
    if (found) ++at;
    return found;
  };
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < token.size() && token[at] >= '0' && token[at] <= '9') ++at;
    return at > start;
  };
  skip('-');
  if (!skip('0') && !digits()) return false;
  if (skip('.') && !digits()) return false;
  if (skip('e') || skip('E')) {
    if (!skip('+')) skip('-');
    if (!digits()) return false;
  }
  return at == token.size();
}

JsonValue JsonValue::Bool(bool value) { return JsonValue(Storage(value)); }
JsonValue JsonValue::Number(std::string token) {
  return JsonValue(Storage(NumberText{std::move(token)}));
}
JsonValue JsonValue::String(std::string value) { return JsonValue(Storage(std::move(value))); }
JsonValue JsonValue::Array(std::vector<JsonValue> items) {
  return JsonValue(Storage(std::move(items)));
}
JsonValue JsonValue::Object(std::vector<Member> members) {
  return JsonValue(Storage(std::move(members)));
}

const char* JsonValue::KindName() const {
  switch (kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kNumber:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
  }
  return "";
}

bool JsonValue::AsBool() const {
  assert(IsBool());
  return *std::get_if<bool>(&storage_);
}

const std::string& JsonValue::AsString() const {
  assert(IsString());
  return *std::get_if<std::string>(&storage_);
}

const std::string& JsonValue::NumberToken() const {
  assert(IsNumber());
  return std::get_if<NumberText>(&storage_)->token;
}

const std::vector<JsonValue>& JsonValue::Items() const {
  assert(IsArray());
  return *std::get_if<std::vector<JsonValue>>(&storage_);
}

const std::vector<JsonValue::Member>& JsonValue::Members() const {
  assert(IsObject());
  return *std::get_if<std::vector<Member>>(&storage_);
}

std::optional<std::int64_t> JsonValue::AsInteger() const {
  if (!IsNumber()) return std::nullopt;
  std::optional<Decimal> number = Normalize(NumberToken());
  if (!number || number->exponent < 0) return std::nullopt;
  if (number->digits.empty()) return 0;
  constexpr std::int64_t kMaxDigits = 19;  // of an int64
  if (number->exponent > kMaxDigits) return std::nullopt;
  number->digits.append(static_cast<std::size_t>(number->exponent), '0');
  if (number->negative) number->digits.insert(0, "-");
  std::int64_t value = 0;
  const char* end = number->digits.data() + number->digits.size();
  if (std::from_chars(number->digits.data(), end, value).ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> JsonValue::AsCount() const {
  const std::optional<std::int64_t> number = AsInteger();
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

const JsonValue* JsonValue::Find(std::string_view key) const {
  if (!IsObject()) return nullptr;
  const auto member = std::ranges::find(Members(), key, &Member::first);
  return member == Members().end() ? nullptr : &member->second;
}

const JsonValue* JsonValue::FindSet(std::string_view key) const {
  const JsonValue* value = Find(key);
  return value == nullptr || value->IsNull() ? nullptr : value;
}

std::optional<JsonValue> JsonValue::Take(std::string_view key) && {
  auto* members = std::get_if<std::vector<Member>>(&storage_);
  if (members == nullptr) return std::nullopt;
  const auto member = std::ranges::find(*members, key, &Member::first);
  if (member == members->end()) return std::nullopt;
  return std::move(member->second);
}

std::string JsonValue::Dump() const {
  JsonWriter writer;
  writer.Value(*this);
  return std::move(writer).Take();
}

}  // namespace pa
