#include "supervisor/clients/jsonc.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/utf8.h"

namespace pa {
namespace {

constexpr std::string_view kValues =
    "expected a value: a string in double quotes, a number, true, false, null, [ or {";

class Scanner {
 public:
  Scanner(std::string_view text, JsonDialect dialect) : text_(text), dialect_(dialect) {}

  std::expected<JsoncDocument, TextProblem> Read() {
    if (!CheckText() || !Space() || !Value(1, document_.root) || !Space()) {
      return std::unexpected(std::move(problem_));
    }
    if (at_ != text_.size()) {
      Refuse(at_, "expected the end of the file: a document is one value");
      return std::unexpected(std::move(problem_));
    }
    return std::move(document_);
  }

 private:
  bool Refuse(std::size_t at, std::string message) {
    problem_ = {.at = at, .message = std::move(message)};
    return false;
  }

  // NUL at the end, which no text has in a place where it is asked for.
  char Next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Of a \r alone readers differ in whether it ends a line, and so a comment.
  bool CheckText() {
    for (std::size_t at = 0; at < text_.size();) {
      if (text_[at] == '\r' && text_.substr(at + 1, 1) != "\n") {
        return Refuse(at, "expected lines that end in \\n or \\r\\n, not in \\r");
      }
      std::size_t invalid = 0;
      const std::size_t length = Utf8SequenceLength(text_.substr(at), &invalid);
      if (length == 0) return Refuse(at, "expected text in UTF-8");
      at += length;
    }
    return true;
  }

  bool Space() {
    while (true) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (Next() != '/') return true;
      if (!Comment()) return false;
    }
  }

  bool Comment() {
    const std::size_t begin = at_;
    const std::string_view mark = text_.substr(at_, 2);
    if (mark != "//" && mark != "/*") return Refuse(at_, std::string(kValues));
    if (dialect_ == JsonDialect::kPlain) {
      return Refuse(at_, "expected plain JSON: this client reads no comments, so remove it");
    }
    if (mark == "//") {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    } else {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return Refuse(at_, "expected */ after this comment");
      at_ = end + 2;
    }
    document_.comments.push_back({begin, at_});
    return true;
  }

  bool Value(std::size_t depth, JsoncValue& out) {
    if (depth > JsonLimits{}.max_depth) {
      return Refuse(at_, "expected fewer than " + std::to_string(depth) + " values in each other");
    }
    out.begin = at_;
    const bool read = Next() == '{'   ? Object(depth, out)
                      : Next() == '[' ? Array(depth, out)
                      : Next() == '"' ? String(nullptr)
                                      : Word();
    out.end = at_;
    return read;
  }

  // Behind its first quote there is another, whatever the parser says of what stands between.
  bool String(std::string* decoded) {
    const std::size_t begin = at_++;
    bool escapes = false;
    while (Next() != '"') {
      if (at_ == text_.size()) return Refuse(begin, "expected a closing \" of this string");
      if (static_cast<unsigned char>(Next()) < 0x20) {
        return Refuse(at_, "expected no line end, tab or control character in a string");
      }
      if (Next() == '\\') {
        escapes = true;
        ++at_;
        if (at_ == text_.size()) continue;
      }
      ++at_;
    }
    const std::string_view token = text_.substr(begin, ++at_ - begin);
    if (!escapes) {
      if (decoded != nullptr) *decoded = token.substr(1, token.size() - 2);
      return true;
    }
    const Result<JsonValue> value = ParseJson(token);
    if (!value) return Refuse(begin, "expected a string with the escapes of JSON");
    if (decoded != nullptr) *decoded = value->AsString();
    return true;
  }

  bool Word() {
    const std::size_t begin = at_;
    const auto ends = [](char c) { return std::string_view(" \t\r\n,:[]{}\"/").contains(c); };
    while (at_ < text_.size() && !ends(Next())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty() || !ParseJson(word)) return Refuse(begin, std::string(kValues));
    return true;
  }

  bool Array(std::size_t depth, JsoncValue& out) {
    out.kind = JsoncValue::Kind::kArray;
    return List(']', out, [&] { return Value(depth + 1, out.items.emplace_back()); });
  }

  bool Object(std::size_t depth, JsoncValue& out) {
    out.kind = JsoncValue::Kind::kObject;
    std::set<std::string> keys;
    return List('}', out, [&] {
      JsoncMember& member = out.members.emplace_back();
      if (!Member(depth, member)) return false;
      return keys.insert(member.key).second ||
             Refuse(member.begin, "expected '" + member.key +
                                      "' once in this object: parsers disagree which one counts, "
                                      "so remove one of them");
    });
  }

  bool Member(std::size_t depth, JsoncMember& out) {
    out.begin = at_;
    if (Next() != '"') return Refuse(at_, "expected a key in double quotes, or }");
    if (!String(&out.key) || !Space()) return false;
    out.colon = at_;
    if (Next() != ':') return Refuse(at_, "expected : after the key '" + out.key + "'");
    ++at_;
    return Space() && Value(depth + 1, out.value);
  }

  // What stands between brackets, with commas between.
  template <typename Element>
  bool List(char closing, JsoncValue& out, const Element& element) {
    ++at_;
    if (!Space()) return false;
    while (Next() != closing) {
      if (!element() || !Space()) return false;
      if (Next() == closing) break;
      if (Next() != ',') return Refuse(at_, std::string("expected , or ") + closing);
      const std::size_t comma = at_++;
      if (!Space()) return false;
      if (Next() != closing) continue;
      if (dialect_ != JsonDialect::kCommentsAndCommas) {
        return Refuse(comma, std::string("expected no comma before ") + closing);
      }
      out.trailing_comma = comma;
      document_.trailing_commas.push_back(comma);
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  JsonDialect dialect_;
  std::size_t at_ = 0;
  JsoncDocument document_;
  TextProblem problem_;
};

}  // namespace

const JsoncMember* JsoncValue::Find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &JsoncMember::key);
  return found == members.end() ? nullptr : &*found;
}

bool JsoncDocument::HasComment(const JsoncValue& within) const {
  return std::ranges::any_of(comments, [&](const Range& comment) {
    return comment.begin >= within.begin && comment.end <= within.end;
  });
}

std::expected<JsoncDocument, TextProblem> ReadJsonc(std::string_view text, JsonDialect dialect) {
  return Scanner(text, dialect).Read();
}

std::string PlainJson(std::string_view text, const JsoncDocument& document) {
  std::string plain(text);
  for (const JsoncDocument::Range& comment : document.comments) {
    for (std::size_t i = comment.begin; i < comment.end; ++i) {
      if (plain[i] != '\n') plain[i] = ' ';
    }
  }
  for (const std::size_t comma : document.trailing_commas) plain[comma] = ' ';
  return plain;
}

}  // namespace pa
