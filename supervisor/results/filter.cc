#include "supervisor/results/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/json_view.h"
#include "base/try.h"

namespace pa {
namespace {

// Not find(), which a hostile text makes quadratic.
bool HoldsText(std::string_view text, std::string_view part) {
  if (part.empty() || part.size() > text.size()) return part.empty();
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

using Operator = Filter::Operator;
using Operand = Filter::Operand;
using OperandKind = Operand::Kind;

struct OperatorWord {
  std::string_view word;
  Operator op;
};

constexpr OperatorWord kSymbols[] = {
    {"=", Operator::kEqual}, {"!=", Operator::kNotEqual},       {">", Operator::kGreater},
    {"<", Operator::kLess},  {">=", Operator::kGreaterOrEqual}, {"<=", Operator::kLessOrEqual}};
constexpr OperatorWord kWords[] = {{"CONTAINS", Operator::kContains},
                                   {"STARTS_WITH", Operator::kStartsWith},
                                   {"IS_NULL", Operator::kIsNull},
                                   {"IS_NOT_NULL", Operator::kIsNotNull}};

bool IsUnary(Operator op) { return op == Operator::kIsNull || op == Operator::kIsNotNull; }

bool IsOrder(Operator op) {
  return op == Operator::kGreater || op == Operator::kLess || op == Operator::kGreaterOrEqual ||
         op == Operator::kLessOrEqual;
}

std::string_view WordOf(Operator op) {
  for (const OperatorWord& row : kSymbols) {
    if (row.op == op) return row.word;
  }
  return std::ranges::find(kWords, op, &OperatorWord::op)->word;
}

char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), AsciiUpper);
  return upper;
}

// Of a number that is out of a double's range: whether it is next to nothing, and not too large.
bool IsTiny(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  const std::size_t e = std::min(token.find_first_of("eE"), token.size());
  const std::string_view mantissa = token.substr(0, e);
  std::string_view exponent = token.substr(std::min(e + 1, token.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto [end, error] = std::from_chars(exponent.begin(), exponent.end(), power);
  if (error == std::errc::result_out_of_range) return exponent.starts_with('-');
  // Where the first digit stands that is not 0: so many before the point, or, negative, behind it.
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first =
      static_cast<std::int64_t>(std::min(mantissa.find_first_not_of("0."), mantissa.size()));
  constexpr std::int64_t kMost = 1'000'000'000;  // no text is as long
  return point - first + std::clamp(power, -kMost, kMost) < 0;
}

template <typename T>
std::optional<T> Whole(std::string_view token) {
  T value{};
  const auto [end, error] = std::from_chars(token.begin(), token.end(), value);
  if (error != std::errc() || end != token.end()) return std::nullopt;
  return value;
}

// A word between blanks that would join two conditions; its position.
std::optional<std::size_t> JoinIn(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool joins = word == "AND" || word == "OR" || word == "&&" || word == "||";
    if (joins && at > 0 && end < text.size()) return at;
    at = end + 1;
  }
  return std::nullopt;
}

constexpr std::string_view kOneCondition = "one condition only; quote the value if it is text";

QueryResult<Operator> ReadSymbol(QueryText& text) {
  const std::string_view rest = text.Rest();
  const std::string_view run = rest.substr(0, rest.find_first_not_of("=!<>"));
  const auto* found = std::ranges::find(kSymbols, run, &OperatorWord::word);
  if (found == std::end(kSymbols)) {
    return std::unexpected(text.Error(fmt::format("no operator {}", run)));
  }
  text.Skip(run.size());
  return found->op;
}

QueryResult<Operator> ReadWord(QueryText& text) {
  const std::string_view rest = text.Rest();
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  const std::string upper = Upper(word);
  const auto* found = std::ranges::find(kWords, std::string_view(upper), &OperatorWord::word);
  if (found == std::end(kWords)) {
    return std::unexpected(text.Error(fmt::format("no operator {}", word)));
  }
  text.Skip(word.size());
  return found->op;
}

QueryResult<Operator> ReadOperator(QueryText& text) {
  const bool blanks = text.SkipBlanks();
  if (std::string_view("=!<>").contains(text.Peek()) && !text.AtEnd()) return ReadSymbol(text);
  if (text.AtEnd() || !blanks) return std::unexpected(text.Error("operator expected"));
  return ReadWord(text);
}

QueryResult<void> ExpectEnd(QueryText& text, std::string_view behind) {
  text.SkipBlanks();
  if (text.AtEnd()) return {};
  const std::size_t joined = JoinIn(fmt::format(" {} ", text.Rest())).value_or(0);
  return std::unexpected(text.Error(joined == 1 ? std::string(kOneCondition)
                                                : fmt::format("nothing may follow {}", behind)));
}

QueryResult<Operand> ReadBare(QueryText& text) {
  const std::size_t begin = text.at();
  std::string_view rest = text.Rest();
  while (IsQueryBlank(rest.back())) rest.remove_suffix(1);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7F) {
      return std::unexpected(text.ErrorAt(begin + i,
                                          "control character: quote the value and write "
                                          "it as an escape"));
    }
  }
  if (const auto join = JoinIn(rest)) {
    return std::unexpected(text.ErrorAt(begin + *join, std::string(kOneCondition)));
  }
  Operand operand{.kind = OperandKind::kString, .text = std::string(rest), .number = {}};
  const std::string word = Upper(rest);
  if (word == "TRUE") operand.kind = OperandKind::kTrue;
  if (word == "FALSE") operand.kind = OperandKind::kFalse;
  if (word == "NULL") operand.kind = OperandKind::kNull;
  if (IsJsonNumber(rest)) {
    const auto number = ParseJsonNumber(rest);
    if (!number) return std::unexpected(text.Error("number out of range"));
    operand.kind = OperandKind::kNumber;
    operand.number = *number;
  }
  return operand;
}

QueryResult<Operand> ReadOperand(QueryText& text, Operator op) {
  text.SkipBlanks();
  if (text.AtEnd()) {
    return std::unexpected(text.Error(R"(value expected; an empty string is "")"));
  }
  const std::size_t begin = text.at();
  if (text.Peek() == '"' || text.Peek() == '\'') {
    PA_TRY(std::string value, text.Quoted());
    PA_TRY_VOID(ExpectEnd(text, "the quoted value"));
    return Operand{.kind = OperandKind::kString, .text = std::move(value), .number = {}};
  }
  PA_TRY(Operand operand, ReadBare(text));
  const bool ordered = operand.kind == OperandKind::kString || operand.kind == OperandKind::kNumber;
  if (IsOrder(op) && !ordered) {
    return std::unexpected(text.ErrorAt(
        begin, fmt::format("{} has no order; quote the value if it is text", operand.text)));
  }
  return operand;
}

}  // namespace

std::optional<JsonNumber> ParseJsonNumber(std::string_view token) {
  if (!IsJsonNumber(token)) return std::nullopt;
  if (const auto value = Whole<std::int64_t>(token)) return *value;
  if (const auto value = Whole<std::uint64_t>(token)) return *value;
  double value = 0;
  const auto [end, error] = std::from_chars(token.begin(), token.end(), value);
  if (error == std::errc()) return value;
  return IsTiny(token) ? std::optional<JsonNumber>(0.0) : std::nullopt;
}

std::partial_ordering CompareNumbers(const JsonNumber& left, const JsonNumber& right) {
  return std::visit(
      [](auto a, auto b) -> std::partial_ordering {
        if constexpr (std::is_integral_v<decltype(a)> && std::is_integral_v<decltype(b)>) {
          if (std::cmp_equal(a, b)) return std::partial_ordering::equivalent;
          return std::cmp_less(a, b) ? std::partial_ordering::less : std::partial_ordering::greater;
        } else {
          // Holds every integer of 64 bits exactly.
          static_assert(std::numeric_limits<long double>::digits >= 64);
          return static_cast<long double>(a) <=> static_cast<long double>(b);
        }
      },
      left, right);
}

bool Filter::IsOrdered(std::partial_ordering order) const {
  switch (operator_) {
    case Operator::kGreater:
      return order > 0;
    case Operator::kLess:
      return order < 0;
    case Operator::kGreaterOrEqual:
      return order >= 0;
    case Operator::kLessOrEqual:
      return order <= 0;
    default:
      return order == 0;
  }
}

bool Filter::StringHolds(std::string_view text) const {
  switch (operator_) {
    case Operator::kContains:
      return HoldsText(text, operand_.text);
    case Operator::kStartsWith:
      return text.starts_with(operand_.text);
    case Operator::kEqual:
    case Operator::kNotEqual:
      return text == operand_.text;
    default:
      break;
  }
  if (operand_.kind != OperandKind::kNumber)
    return IsOrdered(text <=> std::string_view(operand_.text));
  const auto number = ParseJsonNumber(text);
  return number && IsOrdered(CompareNumbers(*number, operand_.number));
}

template <typename Json>
bool Filter::Equals(const Json& value) const {
  switch (value.kind()) {
    case JsonValue::Kind::kString:
      return value.AsString() == operand_.text;
    case JsonValue::Kind::kNull:
      return operand_.kind == OperandKind::kNull;
    case JsonValue::Kind::kBool:
      return operand_.kind == (value.AsBool() ? OperandKind::kTrue : OperandKind::kFalse);
    case JsonValue::Kind::kNumber: {
      if (operand_.kind != OperandKind::kNumber) return false;
      const auto number = ParseJsonNumber(value.NumberToken());
      return number && CompareNumbers(*number, operand_.number) == 0;
    }
    default:
      return false;
  }
}

// Of one value, for the operators that ask for one; `!=` asks whether it is equal.
template <typename Json>
bool Filter::Holds(const Json& value) const {
  if (value.IsString()) return StringHolds(value.AsString());
  if (operator_ == Operator::kEqual || operator_ == Operator::kNotEqual) return Equals(value);
  if (operator_ == Operator::kContains && value.IsArray()) {
    for (const auto& item : value.Items()) {
      if (Equals(item)) return true;
    }
    return false;
  }
  if (!IsOrder(operator_) || !value.IsNumber() || operand_.kind != OperandKind::kNumber)
    return false;
  const auto number = ParseJsonNumber(value.NumberToken());
  return number && IsOrdered(CompareNumbers(*number, operand_.number));
}

template <typename Json>
bool Filter::Matches(const Json& row) const {
  bool some = false;  // a value that is not null
  bool holds = false;
  ForEachAt(row, path_.steps, [&](const Json& value) {
    some = some || !value.IsNull();
    holds = holds || (!IsUnary(operator_) && Holds(value));
    // Of `!=` the first that is equal decides, of the others the first that holds.
    return IsUnary(operator_) ? !some : !holds;
  });
  switch (operator_) {
    case Operator::kIsNull:
      return !some;
    case Operator::kIsNotNull:
      return some;
    case Operator::kNotEqual:
      return some && !holds;
    default:
      return holds;
  }
}

template bool Filter::Matches(const JsonValue& row) const;
template bool Filter::Matches(const JsonView& row) const;

bool Filter::MatchesLine(std::string_view line) const {
  if (!path_.steps.empty()) return operator_ == Operator::kIsNull;
  if (IsUnary(operator_)) return operator_ == Operator::kIsNotNull;
  return StringHolds(line) != (operator_ == Operator::kNotEqual);
}

std::string Filter::Print() const {
  std::string text = fmt::format("{} {}", path_.Print(), WordOf(operator_));
  if (IsUnary(operator_)) return text;
  const bool is_string = operand_.kind == OperandKind::kString;
  return text + ' ' + (is_string ? QuoteForQuery(operand_.text) : operand_.text);
}

QueryResult<Filter> ParseFilter(std::string_view text) {
  QueryText reader(text);
  if (text.size() > kMaxQueryBytes) {
    return std::unexpected(reader.Error(fmt::format("at most {} bytes", kMaxQueryBytes)));
  }
  reader.SkipBlanks();
  if (reader.AtEnd()) return std::unexpected(reader.ErrorAt(0, "empty filter: leave `filter` out"));
  PA_TRY(FieldPath path, ReadFieldPath(reader));
  PA_TRY(const Operator op, ReadOperator(reader));
  if (IsUnary(op)) {
    PA_TRY_VOID(ExpectEnd(reader, WordOf(op)));
    return Filter(std::move(path), op, {});
  }
  PA_TRY(Operand operand, ReadOperand(reader, op));
  return Filter(std::move(path), op, std::move(operand));
}

}  // namespace pa
