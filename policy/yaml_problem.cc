#include "policy/yaml_problem.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text_place.h"
#include "base/utf8.h"
#include "base/words.h"

namespace pa::policy {
namespace {

using std::string_view;

constexpr std::size_t kNowhere = string_view::npos;

struct Bracket {
  char opener;
  std::size_t at;
};

// What encloses the byte `limit`, as far as it can be told without a parser.
struct Enclosure {
  std::vector<Bracket> brackets;  // open ones, the outermost first
  std::size_t open_quote = kNowhere;
  std::size_t quoted_begin = kNowhere, quoted_end = kNowhere;  // the last quoted value before it
  std::size_t escape = kNowhere;                               // the last backslash in one
};

char Closing(char opener) { return opener == '[' ? ']' : '}'; }

// Reads indicators, quotes and comments. A line that continues a plain value is taken for the
// beginning of one, so a quote there may be misjudged; only messages depend on it.
class EnclosureReader {
 public:
  EnclosureReader(string_view text, std::size_t limit) : text_(text), limit_(limit) {}

  Enclosure Read() && {
    while (at_ < limit_ && found_.open_quote == kNowhere) Step();
    return std::move(found_);
  }

 private:
  bool EndsWord(std::size_t at) const {
    return at >= text_.size() || string_view(" \t\r\n").contains(text_[at]);
  }
  bool InFlow() const { return !found_.brackets.empty(); }

  void Step() {
    const char c = text_[at_];
    if (c == '\n') {
      line_begin_ = ++at_;
      begins_ = after_blank_ = true;
    } else if (EndsWord(at_)) {
      ++at_;
      after_blank_ = true;
    } else if (c == '#' && after_blank_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (begins_ && (c == '"' || c == '\'')) {
      SkipQuoted(c);
    } else if (begins_ && !InFlow() && (c == '|' || c == '>')) {
      SkipBlock();
    } else {
      StepIndicator(c);
    }
  }

  // Sets whether a value begins after it.
  void StepIndicator(char c) {
    after_blank_ = false;
    const bool document = at_ == line_begin_ && text_.substr(at_).starts_with("---");
    const bool dash = begins_ && (c == '-' || c == '?') && EndsWord(at_ + 1);
    const bool opens = (c == '[' || c == '{') && (begins_ || InFlow());
    const bool colon = c == ':' && (EndsWord(at_ + 1) || InFlow());
    if (opens) found_.brackets.push_back({c, at_});
    if (InFlow() && c == Closing(found_.brackets.back().opener)) found_.brackets.pop_back();
    begins_ = document || dash || opens || colon || (c == ',' && InFlow());
    at_ += document ? 3 : 1;
  }

  void SkipQuoted(char quote) {
    const std::size_t begin = at_++;
    for (; at_ < limit_; ++at_) {
      if (quote == '"' && text_[at_] == '\\') {
        found_.escape = at_++;
        continue;
      }
      if (text_[at_] != quote) continue;
      if (quote == '\'' && at_ + 1 < limit_ && text_[at_ + 1] == quote) {
        ++at_;
        continue;
      }
      found_.quoted_begin = begin;
      found_.quoted_end = ++at_;
      begins_ = after_blank_ = false;
      return;
    }
    found_.open_quote = begin;
  }

  // The lines that are indented as far as the first of them, which is further than this one.
  void SkipBlock() {
    const std::size_t outer = Indent(line_begin_);
    std::size_t inner = 0;
    at_ = std::min(text_.find('\n', at_), text_.size());
    while (at_ < text_.size()) {
      const std::size_t line = at_ + 1;
      const std::size_t indent = Indent(line);
      const bool blank = line + indent >= text_.size() || text_[line + indent] == '\n';
      if (!blank && inner == 0 && indent > outer) inner = indent;
      if (!blank && (inner == 0 || indent < inner)) return;
      at_ = std::min(text_.find('\n', line), text_.size());
    }
  }

  std::size_t Indent(std::size_t line) const {
    return std::min(text_.find_first_not_of(' ', line), text_.size()) -
           std::min(line, text_.size());
  }

  string_view text_;
  std::size_t limit_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  bool begins_ = true;  // a value can begin here
  bool after_blank_ = true;
  Enclosure found_;
};

Enclosure EnclosureOf(string_view text, std::size_t limit) {
  return EnclosureReader(text, std::min(limit, text.size())).Read();
}

// `line 3, column 8`
std::string Place(string_view text, std::size_t at) {
  const LineAndColumn place = pa::PlaceOf(text, at);
  return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

// What stands there, for messages: `':'`, `the end of the line`.
std::string FoundAt(string_view text, std::size_t at) {
  if (at >= text.size()) return "the end of the file";
  if (text[at] == '\n' || text[at] == '\r') return "the end of the line";
  return Quoted(Utf8Prefix(text.substr(at), 1));
}

// The closing bracket that is expected, and why.
std::string ExpectedCloser(string_view text, const Bracket& bracket) {
  return std::string{Closing(bracket.opener)} + " here, because of the " + bracket.opener + " at " +
         Place(text, bracket.at);
}

std::size_t LineBeginOf(string_view text, std::size_t at) {
  return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}

string_view IndentOf(string_view text, std::size_t at) {
  const string_view line = text.substr(LineBeginOf(text, at));
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

bool IsFirstOnLine(string_view text, std::size_t at) {
  return LineBeginOf(text, at) + IndentOf(text, at).size() >= at;
}

// Nothing but blanks is left.
bool IsOver(string_view text, std::size_t at) {
  return text.find_first_not_of(" \t\r\n", at) == kNowhere;
}

// `until`: where the value cannot go on.
YamlProblem OpenQuote(string_view text, std::size_t quote, std::size_t until) {
  const std::string end = IsOver(text, until) ? "" : " before " + Place(text, until);
  const std::string sign{text[quote]};
  return {quote, "the value that this " + sign + " begins is not closed" + end + "; write " + sign +
                     " at its end"};
}

YamlProblem OpenBracket(string_view text, const Bracket& bracket, std::size_t until) {
  const std::string end = IsOver(text, until) ? ""
                                              : " before " + Place(text, until) + ", where " +
                                                    FoundAt(text, until) + " cannot stand";
  return {bracket.at, std::string("this ") + bracket.opener + " is not closed" + end + "; write " +
                          Closing(bracket.opener) + " at the end of the " +
                          (bracket.opener == '[' ? "list" : "mapping")};
}

YamlProblem ExplainFlow(string_view text, std::size_t at, const Enclosure& around) {
  if (around.open_quote != kNowhere) return OpenQuote(text, around.open_quote, at);
  if (around.brackets.empty()) return {at, "expected ',' or the closing bracket here"};
  const Bracket& bracket = around.brackets.back();
  const bool same_line = LineBeginOf(text, at) == LineBeginOf(text, bracket.at);
  if (!same_line || IsOver(text, at)) return OpenBracket(text, bracket, at);
  return {at, "expected ',' or " + ExpectedCloser(text, bracket) + ", found " + FoundAt(text, at) +
                  "; put a value that holds ': ', ',' or a bracket in quotes"};
}

YamlProblem ExplainCloser(string_view text, std::size_t at, const Enclosure& around) {
  const std::string closer = FoundAt(text, at);
  if (around.brackets.empty()) {
    return {at, closer + " closes nothing; remove it, or put the value in quotes"};
  }
  return {at, "expected " + ExpectedCloser(text, around.brackets.back()) + ", found " + closer};
}

YamlProblem ExplainColon(string_view text, std::size_t at) {
  const std::size_t begin = LineBeginOf(text, at);
  const std::size_t first = begin + IndentOf(text, at).size();
  const string_view before = text.substr(first, at - first);
  if (before.contains(": ") || before.contains(":\t")) {
    return {at, "a second ': ' in one value; put the value in quotes"};
  }
  return {first,
          "this key is not in the column of the keys above it, or the line above has no ': ' after "
          "its key; indent the keys of one mapping alike, and write ': ' after each"};
}

// In a mapping or a list that has a line for each key or item, something else.
YamlProblem ExplainLine(string_view text, std::size_t at, const Enclosure& around) {
  const std::string found = FoundAt(text, at);
  if (IsFirstOnLine(text, at)) {
    return {at, "expected the next key or '- ' in the column of those above, found " + found};
  }
  const bool after_quoted =
      around.quoted_end <= at && IsOver(text.substr(0, at), around.quoted_end);
  if (after_quoted) {
    return {at, "found " + found + " after the value in quotes that began at " +
                    Place(text, around.quoted_begin) +
                    "; end the line there, or look for a quote that is missing before"};
  }
  return {at, "expected the end of the line after the value, found " + found +
                  "; put the whole value in quotes"};
}

// Of what begins with `sign` before the place at which the parser gave up.
std::size_t SignBefore(string_view text, char sign, std::size_t at) {
  if (at < text.size() && text[at] == sign) return at;
  const std::size_t found = text.substr(0, at).rfind(sign);
  return found == kNowhere ? at : found;
}

YamlProblem ExplainEscape(std::size_t at, const Enclosure& around) {
  return {
      around.escape == kNowhere ? at : around.escape,
      "this is no escape that YAML has; in \"...\" write \\\\ for a backslash, or put the value "
      "in '...'"};
}

YamlProblem Explain(string_view text, YamlFault fault, std::size_t at, const Enclosure& around) {
  switch (fault) {
    case YamlFault::kQuote:
      if (around.open_quote != kNowhere) return OpenQuote(text, around.open_quote, at);
      return {at, "a value in quotes before this place is not closed; write the quote at its end"};
    case YamlFault::kFlow:
      return ExplainFlow(text, at, around);
    case YamlFault::kCloser:
      return ExplainCloser(text, at, around);
    case YamlFault::kColon:
      return ExplainColon(text, at);
    case YamlFault::kDash:
      return {at,
              "a list cannot begin here; write each '- ' at the beginning of a line, in one "
              "column"};
    case YamlFault::kQuestion:
      return {at, "'? ' is not used in a policy: a key is a plain word with ': ' after it"};
    case YamlFault::kLine:
      return ExplainLine(text, at, around);
    case YamlFault::kTab:
      return {at, "expected spaces before the first word of the line, found a tab"};
    case YamlFault::kCharacter:
      return {at, "a value cannot begin with " + FoundAt(text, at) + "; put it in quotes"};
    case YamlFault::kAlias:
      return {SignBefore(text, '*', at), kNoAliases};
    case YamlFault::kAnchor:
      return {SignBefore(text, '&', at), kNoAnchors};
    case YamlFault::kTag:
      return {SignBefore(text, '!', at), kNoTags};
    case YamlFault::kEscape:
      return ExplainEscape(at, around);
    case YamlFault::kDirective:
      return {at,
              "a line that begins with % is a directive of YAML, which a policy does not need; "
              "remove it"};
    case YamlFault::kBlock:
      return {at,
              "after | or > a line holds at most + or -, a digit from 1 to 9 and a comment; "
              "write the value on the next line"};
  }
  return {at, ""};
}

// The tab before the first word of the line, where the parser takes it for anything else.
std::size_t IndentingTab(string_view text, YamlFault fault, std::size_t at) {
  using enum YamlFault;
  if (fault != kColon && fault != kDash && fault != kLine) return kNowhere;
  const std::size_t begin = LineBeginOf(text, at);
  const string_view line = text.substr(begin, at + 1 - begin);
  const std::size_t tab = line.substr(0, line.find_first_not_of(" \t-")).find('\t');
  return tab == kNowhere ? kNowhere : begin + tab;
}

// `0xE9`
std::string HexByte(char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  return {'0', 'x', kDigits[value / 16], kDigits[value % 16]};
}

}  // namespace

YamlProblem ExplainYaml(string_view text, YamlFault fault, std::size_t at) {
  at = std::min(at, text.size());
  const Enclosure around = EnclosureOf(text, at);
  if (around.brackets.empty()) {
    if (const std::size_t tab = IndentingTab(text, fault, at); tab != kNowhere) {
      return Explain(text, YamlFault::kTab, tab, around);
    }
  }
  return Explain(text, fault, at, around);
}

std::optional<YamlProblem> FindUnclosed(string_view text) {
  const Enclosure around = EnclosureOf(text, text.size());
  if (around.open_quote != kNowhere) return OpenQuote(text, around.open_quote, text.size());
  if (around.brackets.empty()) return std::nullopt;
  return OpenBracket(text, around.brackets.back(), text.size());
}

std::optional<YamlProblem> FindBadBytes(string_view text) {
  using namespace std::literals;
  // UTF-32 first: its mark begins as the one of UTF-16 does.
  struct Mark {
    string_view bytes, encoding;
  };
  for (const Mark& mark : {Mark{"\xFF\xFE\0\0"sv, "UTF-32"}, Mark{"\0\0\xFE\xFF"sv, "UTF-32"},
                           Mark{"\xFF\xFE"sv, "UTF-16"}, Mark{"\xFE\xFF"sv, "UTF-16"}}) {
    if (!text.starts_with(mark.bytes)) continue;
    return YamlProblem{
        0, "this file is " + std::string(mark.encoding) + "; a policy is UTF-8: save it as that"};
  }
  if (text.starts_with(kByteOrderMark)) return YamlProblem{0, kNoMark};
  for (std::size_t at = 0, invalid = 0; at < text.size();) {
    const std::size_t length = Utf8SequenceLength(text.substr(at), &invalid);
    if (length == 0) {
      return YamlProblem{at, "the byte " + HexByte(text[at]) +
                                 " is not UTF-8; a policy is UTF-8: save the file as that"};
    }
    if (text[at] == '\0') {
      return YamlProblem{at,
                         "a NUL byte is no text; remove it, or, if the file is UTF-16, save it "
                         "as UTF-8"};
    }
    if (text[at] == '\r' && !text.substr(at + 1).starts_with('\n')) {
      return YamlProblem{at,
                         "a carriage return alone does not end a line; save the file with LF "
                         "or CRLF at the ends of lines"};
    }
    at += length;
  }
  return std::nullopt;
}

}  // namespace pa::policy
