// Filter: one condition on a row, "field OPERATOR value".
//
//    QueryResult<Filter> filter = ParseFilter("contact.email STARTS_WITH a@");
//    filter->Matches(row)
//    filter->Print()                       // as ParseFilter reads it back: the canonical form
//
//    filter = path OPERATOR [ value ]      = != > < >= <= CONTAINS STARTS_WITH IS_NULL IS_NOT_NULL
//    value  = "text" | 'text' | a JSON number, true, false, null | any other text to the end
//
// A quoted value is a string and nothing else. A number, true, false or null without quotes is that
// JSON value, or a string of exactly that text. Strings compare by bytes; numbers exactly as 64-bit
// integers, else as doubles. A path with [*] has several values: one that holds is enough. `!=` is
// not `=`, of a row that has a value other than null: what is missing matches IS_NULL alone.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "supervisor/results/field_path.h"

namespace pa {

// A JSON number. Integers of 64 bits are kept exactly.
using JsonNumber = std::variant<std::int64_t, std::uint64_t, double>;

// Nothing: it is no JSON number, or it is too large for a double.
std::optional<JsonNumber> ParseJsonNumber(std::string_view token);
// As a three-way comparison of what both mean.
std::partial_ordering CompareNumbers(const JsonNumber& left, const JsonNumber& right);

class Filter {
 public:
  enum class Operator {
    kEqual,
    kNotEqual,
    kGreater,
    kLess,
    kGreaterOrEqual,
    kLessOrEqual,
    kContains,
    kStartsWith,
    kIsNull,
    kIsNotNull
  };
  // What a row is compared with, as it was written.
  struct Operand {
    enum class Kind { kString, kNumber, kTrue, kFalse, kNull };
    Kind kind = Kind::kString;
    std::string text;   // of a string its content, else the word
    JsonNumber number;  // of kNumber

    bool operator==(const Operand&) const = default;
  };

  Filter(FieldPath path, Operator op, Operand operand)
      : path_(std::move(path)), operator_(op), operand_(std::move(operand)) {}

  // Of a JsonValue or a JsonView.
  template <typename Json>
  bool Matches(const Json& row) const;
  // The same for a line of text, which is a string.
  bool MatchesLine(std::string_view line) const;

  const FieldPath& path() const { return path_; }
  Operator op() const { return operator_; }
  std::string Print() const;
  bool operator==(const Filter&) const = default;

 private:
  template <typename Json>
  bool Holds(const Json& value) const;
  template <typename Json>
  bool Equals(const Json& value) const;
  bool StringHolds(std::string_view text) const;
  bool IsOrdered(std::partial_ordering order) const;

  FieldPath path_;
  Operator operator_;
  Operand operand_;
};

QueryResult<Filter> ParseFilter(std::string_view text);

}  // namespace pa
