#include "supervisor/results/query_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

constexpr bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7F'; }

// How many characters begin in `bytes`.
std::size_t CharactersIn(std::string_view bytes) {
  return static_cast<std::size_t>(
      std::ranges::count_if(bytes, [](char c) { return (c & 0xC0) != 0x80; }));
}

// The bytes of the last `characters`.
std::string_view LastCharacters(std::string_view bytes, std::size_t characters) {
  std::size_t begin = bytes.size();
  while (begin > 0 && characters > 0) {
    --begin;
    if ((bytes[begin] & 0xC0) != 0x80) --characters;
  }
  return bytes.substr(begin);
}

bool IsHighSurrogate(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string QueryError::Message() const { return fmt::format("column {}: {}", column, message); }

bool IsQueryBlank(char c) { return c == ' ' || c == '\t'; }

bool QueryText::SkipBlanks() {
  const std::size_t before = at_;
  while (!AtEnd() && IsQueryBlank(Peek())) ++at_;
  return at_ != before;
}

QueryError QueryText::ErrorAt(std::size_t at, std::string message) const {
  constexpr std::size_t kBefore = 40;
  constexpr std::size_t kShown = 60;
  const std::string_view before = text_.substr(0, at);
  const std::string_view left = LastCharacters(before, kBefore);
  const std::string_view right =
      Utf8Prefix(text_.substr(at), kShown - std::min(kShown, CharactersIn(left)));
  const std::string_view dots = left.size() < before.size() ? "..." : "";
  const std::string shown = std::string(dots) + VisibleText(left);
  return {.message = std::move(message),
          .column = CharactersIn(before) + 1,
          .caret = fmt::format("{}{}{}\n{:>{}}", shown, VisibleText(right),
                               at + right.size() < text_.size() ? "..." : "", "^",
                               CharactersIn(shown) + 1)};
}

std::expected<unsigned, QueryError> QueryText::HexDigits() {
  constexpr std::size_t kDigits = 4;
  unsigned unit = 0;
  const std::string_view digits = Rest().substr(0, kDigits);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), unit, 16);
  if (error != std::errc() || digits.size() != kDigits || end != digits.end()) {
    return std::unexpected(Error("four hexadecimal digits expected"));
  }
  Skip(kDigits);
  return unit;
}

QueryResult<void> QueryText::Escape(std::string& out) {
  constexpr std::string_view kLetters = "\"'\\/bfnrt";
  constexpr std::string_view kMeanings = "\"'\\/\b\f\n\r\t";
  const std::size_t begin = at_ - 1;  // of the backslash
  const char letter = Peek();
  if (const std::size_t found = kLetters.find(letter);
      !AtEnd() && found != std::string_view::npos) {
    out += kMeanings[found];
    Skip(1);
    return {};
  }
  if (letter != 'u') {
    return std::unexpected(
        ErrorAt(begin, R"(no such escape: \\ \" \' \/ \b \f \n \r \t \uXXXX expected)"));
  }
  Skip(1);
  auto unit = HexDigits();
  if (!unit) return std::unexpected(std::move(unit.error()));
  unsigned point = *unit;
  if (IsHighSurrogate(point) && Rest().starts_with("\\u")) {
    Skip(2);
    unit = HexDigits();
    if (!unit) return std::unexpected(std::move(unit.error()));
    if (IsLowSurrogate(*unit)) point = 0x10000 + ((point - 0xD800) << 10) + (*unit - 0xDC00);
  }
  if (IsHighSurrogate(point) || IsLowSurrogate(point)) {
    return std::unexpected(ErrorAt(begin, "half a surrogate pair is no character"));
  }
  AppendUtf8(point, out);
  return {};
}

QueryResult<std::string> QueryText::Quoted() {
  const std::size_t begin = at_;
  const char quote = Peek();
  std::string value;
  for (Skip(1); !AtEnd();) {
    const char c = Peek();
    if (IsControl(c) && c != '\t') {
      return std::unexpected(Error("control character: write it as an escape"));
    }
    Skip(1);
    if (c == quote) return value;
    if (c != '\\') {
      value += c;
    } else if (auto escaped = Escape(value); !escaped) {
      return std::unexpected(std::move(escaped.error()));
    }
  }
  return std::unexpected(ErrorAt(begin, "quote not closed"));
}

std::string QuoteForQuery(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (IsControl(c)) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace pa
