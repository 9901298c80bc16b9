// QueryText: reads the small languages of `result` from left to right: paths of fields and filters.
//
//    QueryText text("status = \"a\"");
//    text.SkipBlanks();
//    if (text.Peek() == '"') { auto value = text.Quoted(); }     // or a QueryError
//    return std::unexpected(text.Error("operator expected"));     // at the place that is reached
//
// Positions are bytes; an error tells its column in characters.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

namespace pa {

inline constexpr std::size_t kMaxQueryBytes = 4U << 10;

// What is wrong with an expression, and where.
struct QueryError {
  std::string message;     // "operator expected"
  std::size_t column = 1;  // in characters, from 1; just behind the end, if something is missing
  // At most 60 characters of the expression around the place, and below them a ^ at it.
  std::string caret;

  // `column 9: operator expected`
  std::string Message() const;
};

template <typename T>
using QueryResult = std::expected<T, QueryError>;

bool IsQueryBlank(char c);  // space and tab; no other white space

class QueryText {
 public:
  explicit QueryText(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  std::string_view Rest() const { return text_.substr(at_); }
  std::size_t at() const { return at_; }
  void Skip(std::size_t bytes) { at_ += bytes; }
  bool SkipBlanks();  // whether there were any

  // A string in " or ' with JSON's escapes and \', whose quote stands here. Behind it afterwards.
  QueryResult<std::string> Quoted();

  QueryError Error(std::string message) const { return ErrorAt(at_, std::move(message)); }
  QueryError ErrorAt(std::size_t at, std::string message) const;

 private:
  QueryResult<void> Escape(std::string& out);
  std::expected<unsigned, QueryError> HexDigits();

  std::string_view text_;
  std::size_t at_ = 0;
};

// As Quoted reads it back; in ".
std::string QuoteForQuery(std::string_view text);

}  // namespace pa
