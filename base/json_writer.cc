#include "base/json_writer.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"

namespace pa {
namespace {

// Line ends to Python's splitlines() and to JavaScript's readline, though not to JSON: escaped, so
// that one message is one line to every reader.
const char* EscapedLineEnd(std::string_view sequence) {
  if (sequence == "\xC2\x85") return "\\u0085";
  if (sequence == "\xE2\x80\xA8") return "\\u2028";
  if (sequence == "\xE2\x80\xA9") return "\\u2029";
  return nullptr;
}

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// Eight at once. A byte of `word - low` or of an exclusive or that is zero has borrowed: its high
// bit is set, and was not before (Bit Twiddling Hacks, "Determine if a word has a zero byte").
bool AreEightPlain(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  const auto has_zero = [&](std::uint64_t value) { return (value - kOnes) & ~value; };
  const std::uint64_t special = word | ((word - 0x20 * kOnes) & ~word) |
                                has_zero(word ^ '"' * kOnes) | has_zero(word ^ '\\' * kOnes);
  return (special & kHighs) == 0;
}

std::size_t CountPlain(std::string_view bytes) {
  std::size_t plain = 0;
  while (bytes.size() - plain >= 8 && AreEightPlain(bytes.data() + plain)) plain += 8;
  while (plain < bytes.size() && IsPlain(bytes[plain])) ++plain;
  return plain;
}

void AppendEscaped(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default: {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

// One sequence that is not plain; returns how many bytes it was.
std::size_t AppendSpecial(std::string& out, std::string_view bytes) {
  std::size_t invalid = 0;
  const std::size_t length = Utf8SequenceLength(bytes, &invalid);
  if (length == 0) {
    out += "\xEF\xBF\xBD";
    return invalid;
  }
  const std::string_view sequence = bytes.substr(0, length);
  if (length == 1) {
    AppendEscaped(out, sequence[0]);
  } else if (const char* escaped = EscapedLineEnd(sequence)) {
    out += escaped;
  } else {
    out += sequence;
  }
  return length;
}

void AppendString(std::string& out, std::string_view bytes) {
  out += '"';
  while (!bytes.empty()) {
    const std::size_t plain = CountPlain(bytes);
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (!bytes.empty()) bytes.remove_prefix(AppendSpecial(out, bytes));
  }
  out += '"';
}

}  // namespace

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_member_.empty()) return;
  if (has_member_.back()) out_ += ',';
  has_member_.back() = true;
}

JsonWriter& JsonWriter::BeginObject() {
  Separate();
  has_member_.push_back(false);
  out_ += '{';
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  assert(!has_member_.empty() && !after_key_);
  has_member_.pop_back();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  Separate();
  has_member_.push_back(false);
  out_ += '[';
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  assert(!has_member_.empty() && !after_key_);
  has_member_.pop_back();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  assert(!has_member_.empty() && !after_key_);
  Separate();
  AppendString(out_, key);
  out_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view bytes) {
  Separate();
  AppendString(out_, bytes);
  return *this;
}

JsonWriter& JsonWriter::Int(std::int64_t value) { return Raw(std::to_string(value)); }
JsonWriter& JsonWriter::Uint(std::uint64_t value) { return Raw(std::to_string(value)); }
JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

template <typename Json>
JsonWriter& JsonWriter::WriteValue(const Json& value) {
  switch (value.kind()) {
    case JsonValue::Kind::kNull:
      return Null();
    case JsonValue::Kind::kBool:
      return Bool(value.AsBool());
    case JsonValue::Kind::kNumber:
      return Raw(value.NumberToken());
    case JsonValue::Kind::kString:
      return String(value.AsString());
    case JsonValue::Kind::kArray:
      BeginArray();
      for (const auto& item : value.Items()) WriteValue(item);
      return EndArray();
    case JsonValue::Kind::kObject:
      BeginObject();
      for (const auto& [key, member] : value.Members()) Key(key).WriteValue(member);
      return EndObject();
  }
  return *this;
}

JsonWriter& JsonWriter::Value(const JsonValue& value) { return WriteValue(value); }
JsonWriter& JsonWriter::Value(const JsonView& value) { return WriteValue(value); }

JsonWriter& JsonWriter::Reserve(std::size_t bytes) {
  out_.reserve(bytes);
  return *this;
}

std::string JsonWriter::Take() && {
  assert(has_member_.empty() && !after_key_);
  return std::move(out_);
}

}  // namespace pa
