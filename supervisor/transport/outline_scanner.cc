#include "supervisor/transport/outline_scanner.h"

#include <charconv>
#include <utility>

namespace pa {
namespace {

// Of the names that matter, each character may be written as \u00XX.
constexpr std::size_t kMaxName = 64;

// A name as it was meant, as far as ASCII goes: `"\u0069d"` is `id`.
std::string PlainName(std::string_view token) {
  if (token.ends_with(' ')) token.remove_suffix(1);
  if (token.size() < 2) return {};
  token = token.substr(1, token.size() - 2);
  std::string name;
  while (!token.empty()) {
    unsigned unit = 0;
    const bool escape = token.starts_with("\\u00") && token.size() >= 6;
    const bool read = escape && std::from_chars(token.data() + 4, token.data() + 6, unit, 16).ptr ==
                                    token.data() + 6;
    name += read ? static_cast<char>(unit) : token[0];
    token.remove_prefix(read ? 6 : 1);
  }
  return name;
}

}  // namespace

void OutlineScanner::Feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (ended_) return;
    in_string_ ? StepString(c) : Step(c);
  }
}

std::vector<rpc::Outline> OutlineScanner::Take() {
  return std::exchange(*this, OutlineScanner(max_id_)).outlines_;
}

void OutlineScanner::StepString(char c) {
  Collect(c);
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
  }
}

void OutlineScanner::Step(char c) {
  switch (c) {
    case '"':
      in_string_ = true;
      return Collect(c);
    case '{':
    case '[':
      Collect(c);  // no id begins with it
      return Open(c);
    case '}':
    case ']':
      return Close();
    case ':':
      return InMessage() && part_ == Part::kName ? EndName() : Collect(c);
    case ',':
      return InMessage() ? EndValue() : void();
    case ' ':
    case '\t':
    case '\r':
    case '\n':  // in a body of HTTP
      // `1 2` is not 12.
      return token_.empty() || token_.back() == ' ' ? void() : Collect(' ');
    default:
      return Collect(c);
  }
}

void OutlineScanner::Open(char c) {
  if (++depth_ == 1) level_ = c == '{' ? 1 : 2;
  if (depth_ != level_) return;
  is_object_ = c == '{' && outlines_.size() < kMaxOutlines;
  if (is_object_) outlines_.emplace_back();
}

void OutlineScanner::Close() {
  if (depth_ == 0) return;
  if (InMessage()) {
    EndValue();
    is_object_ = false;
  }
  ended_ = --depth_ == 0;
}

void OutlineScanner::EndName() {
  const std::string name = too_long_ ? "" : PlainName(token_);
  part_ = name == "id" ? Part::kId : Part::kOther;
  if (name == "method") outlines_.back().asks = true;
  if (name == "result" || name == "error") outlines_.back().answers = true;
  token_.clear();
  too_long_ = false;
}

void OutlineScanner::EndValue() {
  if (part_ == Part::kId) {
    outlines_.back().id = too_long_ ? std::nullopt : rpc::Id::FromToken(token_);
  }
  part_ = Part::kName;
  token_.clear();
  too_long_ = false;
}

void OutlineScanner::Collect(char c) {
  if (!InMessage() || part_ == Part::kOther) return;
  if (token_.size() < (part_ == Part::kId ? max_id_ : kMaxName)) {
    token_ += c;
  } else {
    too_long_ = true;
  }
}

}  // namespace pa
