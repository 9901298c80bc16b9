#include "policy/git_config.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/words.h"

namespace pa::policy {
namespace {

// Of all names together: each holds that of its section, which can be as long as the text.
constexpr std::size_t kMaxNames = 8u << 20;
constexpr char kEnd = '\0';  // of the text; git has no use for NUL bytes either

bool IsAlpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
}
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  // Nothing: too much.
  std::optional<std::vector<GitVariable>> Read() {
    while (!text_.empty()) {
      if (names_ > kMaxNames) return std::nullopt;
      const char c = Peek();
      if (c == '#' || c == ';') {
        SkipLine();
      } else if (c == '[') {
        if (!ReadSection()) SkipLine();
      } else if (IsAlpha(c)) {
        ReadVariable();
      } else {
        Take();
      }
    }
    return std::move(variables_);
  }

 private:
  // A carriage return before a newline belongs to it.
  char Peek() const {
    if (text_.empty()) return kEnd;
    return text_.starts_with("\r\n") ? '\n' : text_.front();
  }
  char Take() {
    const char c = Peek();
    text_.remove_prefix(std::min<std::size_t>(text_.size(), text_.starts_with("\r\n") ? 2 : 1));
    return c;
  }
  void SkipLine() {
    while (!text_.empty() && Take() != '\n') continue;
  }
  void SkipBlanks() {
    while (IsBlank(Peek())) Take();
  }

  bool ReadSection();
  bool ReadSubsection(std::string& section);
  void ReadVariable();
  std::optional<std::string> ReadValue();
  std::optional<char> ReadEscape();

  std::string_view text_;
  std::string section_;    // with its dot; "" where git would have given up
  std::size_t names_ = 0;  // bytes
  std::vector<GitVariable> variables_;
};

// `[core]`, `[submodule "lib/A"]`, or the old `[submodule.lib]`.
bool ConfigReader::ReadSection() {
  Take();
  std::string section;
  while (IsNameCharacter(Peek()) || Peek() == '.') section += LowerCase(Take());
  section += '.';
  SkipBlanks();
  section_.clear();
  if (Peek() == '"' && !ReadSubsection(section)) return false;
  if (Peek() != ']') return false;
  Take();
  section_ = std::move(section);
  return true;
}

bool ConfigReader::ReadSubsection(std::string& section) {
  Take();
  while (Peek() != '"') {
    if (Peek() == '\\') Take();
    if (Peek() == '\n' || Peek() == kEnd) return false;
    section += Take();
  }
  section += '.';
  return Take() == '"';
}

void ConfigReader::ReadVariable() {
  GitVariable variable{.name = section_};
  while (IsNameCharacter(Peek())) variable.name += LowerCase(Take());
  SkipBlanks();
  if (Peek() == '=') {
    Take();
    std::optional<std::string> value = ReadValue();
    if (!value) return SkipLine();
    variable.value = std::move(*value);
  } else if (Peek() != '\n' && Peek() != kEnd && Peek() != '#' && Peek() != ';') {
    return SkipLine();
  }
  names_ += variable.name.size();
  if (!section_.empty()) variables_.push_back(std::move(variable));
}

// What stands for `\` and what follows it; nothing for what git would not read. NUL: no character.
std::optional<char> ConfigReader::ReadEscape() {
  switch (Take()) {
    case '\n':
      return kEnd;
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case '\\':
      return '\\';
    case '"':
      return '"';
    default:
      return std::nullopt;
  }
}

// To the end of the line, without blanks around it and without a comment, but for what is quoted.
std::optional<std::string> ConfigReader::ReadValue() {
  std::string value;
  std::size_t solid = 0;  // what is not blanks that may turn out to be trailing
  bool quoted = false;
  SkipBlanks();
  while (Peek() != '\n' && Peek() != kEnd) {
    const char c = Take();
    if (!quoted && (c == '#' || c == ';')) {
      SkipLine();
      break;
    }
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '\\') {
      const std::optional<char> escaped = ReadEscape();
      if (!escaped) return std::nullopt;
      if (*escaped != kEnd) value += *escaped;
    } else {
      value += c;
    }
    if (quoted || !IsBlank(c)) solid = value.size();
  }
  if (quoted) return std::nullopt;
  value.resize(solid);
  return value;
}

}  // namespace

std::expected<std::vector<GitVariable>, std::string> ParseGitConfig(std::string_view text) {
  // In a comment git reads on behind it, in a value it ends there; and nobody writes one.
  if (text.contains(kEnd)) return std::unexpected("there is a NUL byte in it");
  auto variables = ConfigReader(text).Read();
  if (!variables) return std::unexpected("the names of its variables take more than 8 MiB");
  return *std::move(variables);
}

}  // namespace pa::policy
