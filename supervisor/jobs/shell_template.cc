#include "supervisor/jobs/shell_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/try.h"
#include "supervisor/text/quote_command.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameCharacter(char c) { return IsNameStart(c) || IsDigit(c); }

bool Among(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// ---- what bash makes of words ----

// Behind these another command begins.
constexpr std::string_view kKeywords[] = {"if",    "then", "else", "elif", "do", "while",
                                          "until", "!",    "time", "{",    "&&", "||"};
// The next word that is no option, number or assignment is a command, too.
constexpr std::string_view kWrappers[] = {"builtin", "chroot", "command", "env",  "exec",   "nice",
                                          "nohup",   "setsid", "stdbuf",  "sudo", "timeout"};
// They take a program, or names with indexes that are evaluated, in any argument.
constexpr std::string_view kEvaluate[] = {".",   "declare", "eval", "let",     "local", "source",
                                          "ssh", "su",      "trap", "typeset", "xargs"};
// The argument behind one of these options is a program, or a name that is evaluated.
struct ProgramOption {
  std::string_view command;
  std::string_view letters;  // of a short option; also the last of several: -ec
};
constexpr ProgramOption kProgramOptions[] = {
    {"ash", "c"},     {"bash", "c"},    {"dash", "c"},  {"fish", "c"}, {"ksh", "c"},
    {"sh", "c"},      {"zsh", "c"},     {"perl", "eE"}, {"php", "r"},  {"python", "c"},
    {"python3", "c"}, {"python2", "c"}, {"node", "ep"}, {"lua", "e"},  {"ruby", "e"},
    {"printf", "v"},  {"test", "v"},    {"[", "v"}};
constexpr std::string_view kLongProgramOptions[] = {"--command", "--eval", "--print"};
constexpr std::string_view kAwks[] = {"awk", "gawk", "mawk", "nawk", "original-awk"};
// In [[ ]] they evaluate both sides as arithmetic.
constexpr std::string_view kArithmeticTests[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"};

constexpr const char* kArithmeticProblem =
    "-eq and the like evaluate a value as arithmetic, and -v as a name; compare with =";

// `NAME=...`, `NAME+=...`, `NAME[...]=...`.
bool IsAssignment(std::string_view word) {
  if (word.empty() || !IsNameStart(word[0])) return false;
  std::size_t at = 0;
  while (at < word.size() && IsNameCharacter(word[at])) ++at;
  if (at < word.size() && word[at] == '[') {
    at = word.find(']', at);
    if (at == std::string_view::npos) return false;
    ++at;
  }
  if (at < word.size() && word[at] == '+') ++at;
  return at < word.size() && word[at] == '=';
}

// `NAME[` without its `]`.
bool IsInIndex(std::string_view word) {
  if (word.empty() || !IsNameStart(word[0])) return false;
  std::size_t at = 0;
  while (at < word.size() && IsNameCharacter(word[at])) ++at;
  return at < word.size() && word[at] == '[' && word.find(']', at) == std::string_view::npos;
}

bool IsNumberOrOption(std::string_view word) {
  return word.starts_with('-') || std::ranges::all_of(word, [](char c) {
           return IsDigit(c) || c == '.' || c == 's' || c == 'm' || c == 'h';
         });
}

std::string_view BaseName(std::string_view word) { return word.substr(word.rfind('/') + 1); }

// One simple command, as far as it was read.
struct SimpleCommand {
  bool named = false;  // its first word was read
  std::string name;
  bool program_next = false;  // the next word is a program
  bool takes_value = false;   // awk: the next word belongs to an option
  bool awk = false;           // its program was not read yet

  void EndWord(std::string_view word) {
    if (!named) {
      if (Among(kKeywords, word) || IsAssignment(word)) return;
      if (!name.empty() && IsNumberOrOption(word)) return;  // of a wrapper
      name = BaseName(word);
      named = !Among(kWrappers, name);
      awk = program_next = Among(kAwks, name);
      return;
    }
    if (awk) return EndWordOfAwk(word);
    program_next = IsProgramOption(word);
  }

  bool IsProgramOption(std::string_view word) const {
    const bool versioned = name.starts_with("python") || name.starts_with("lua");
    if (Among(kLongProgramOptions, word)) return true;
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') return false;
    return std::ranges::any_of(kProgramOptions, [&](const ProgramOption& one) {
      const bool same = one.command == name || (versioned && name.starts_with(one.command));
      return same && one.letters.contains(word.back());
    });
  }

  void EndWordOfAwk(std::string_view word) {
    const bool value = std::exchange(takes_value, word == "-v" || word == "-F");
    const bool in_file = word == "-f";
    if (!value && (in_file || !word.starts_with('-'))) awk = false;
    if (value) takes_value = false;
    program_next = awk && !takes_value;
  }
};

enum class Quote { kNone, kSingle, kDouble, kAnsi };

// Where bash is: the innermost of what is open.
struct ShellLevel {
  // kSubshell: what else stands in parentheses, too, such as those of a function.
  enum class Kind { kTop, kCommands, kSubshell, kArray, kBrace, kArithmetic, kTest, kBackticks };
  Kind kind = Kind::kTop;
  Quote quote = Quote::kNone;  // within this level
  SimpleCommand command = {};
  bool arithmetic_test = false;  // kTest
  bool has_value = false;        // kTest: a template stands in it
};

struct HereDocument {
  std::string delimiter;
  bool quoted = false;
  bool strips_tabs = false;
};

class ShellScanner {
 public:
  explicit ShellScanner(std::string variable) : variable_(std::move(variable)) {}

  void Text(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) Step(text[i], text.substr(i + 1));
  }
  // Whether the value stands in quotes.
  std::expected<bool, std::string> Value(std::size_t number);
  // What was found to be wrong with a value behind it; "" = nothing.
  const std::string& problem() const { return problem_; }
  const std::string& program() const { return program_; }

 private:
  using Kind = ShellLevel::Kind;

  ShellLevel& level() { return levels_.back(); }
  void Step(char c, std::string_view next);
  void Unquoted(char c, std::string_view next);
  void Operator(char c, std::string_view next);
  void Quoted(char c, std::string_view next);
  bool Dollar(std::string_view next);
  void Open(std::string_view next);
  void CloseParenthesis();
  void Close(char c, std::string_view next);
  void EndWord();
  void EndCommand();
  void LineOfBody(char c);
  void BeginBody();
  void Push(Kind kind) { levels_.push_back({.kind = kind}); }
  void Pop() {
    if (levels_.size() > 1) levels_.pop_back();
  }
  std::optional<std::string> WhyNot();

  std::string variable_;
  std::string program_;
  std::string problem_;
  std::vector<ShellLevel> levels_ = {ShellLevel{}};
  std::string word_;  // of the present word, what stands in the text
  bool in_word_ = false;
  bool redirects_ = false;  // the word names a file
  bool escaped_ = false;    // by a backslash just now
  bool comment_ = false;
  int skip_ = 0;  // characters that were taken with the one before
  // Here-documents: `<<` was read and its delimiter comes; those that begin after this line; the
  // one whose lines come now.
  bool delimiter_next_ = false;
  HereDocument coming_;
  std::vector<HereDocument> pending_;
  std::optional<HereDocument> body_;
  std::string body_line_;
};

void ShellScanner::Step(char c, std::string_view next) {
  program_ += c;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  if (body_) return LineOfBody(c);
  if (comment_) {
    comment_ = c != '\n';
    if (comment_) return;
  }
  if (escaped_) {
    escaped_ = false;
    if (c != '\n') {
      word_ += c;
      in_word_ = true;
    }
    return;
  }
  if (level().quote == Quote::kNone) {
    Unquoted(c, next);
  } else {
    Quoted(c, next);
  }
}

void ShellScanner::Quoted(char c, std::string_view next) {
  ShellLevel& here = level();
  if (here.quote == Quote::kSingle) {
    if (c == '\'')
      here.quote = Quote::kNone;
    else
      word_ += c;
    return;
  }
  if (c == '\\') {
    escaped_ = true;
    if (delimiter_next_) coming_.quoted = true;
    return;
  }
  const char end = here.quote == Quote::kDouble ? '"' : '\'';
  if (c == end) {
    here.quote = Quote::kNone;
  } else if (here.quote == Quote::kDouble && c == '`') {
    Push(Kind::kBackticks);
  } else if (here.quote == Quote::kDouble && c == '$' && Dollar(next)) {
    return;
  } else {
    word_ += c;
  }
}

// `$(`, `$((`, `${`, `$'`: what begins there.
bool ShellScanner::Dollar(std::string_view next) {
  if (next.starts_with("((")) {
    Push(Kind::kArithmetic);
    skip_ = 2;
  } else if (next.starts_with("(")) {
    Push(Kind::kCommands);
    skip_ = 1;
  } else if (next.starts_with("{")) {
    Push(Kind::kBrace);
    skip_ = 1;
  } else if (level().quote == Quote::kNone && next.starts_with("'")) {
    level().quote = Quote::kAnsi;
    skip_ = 1;
  } else {
    return false;
  }
  in_word_ = true;
  return true;
}

void ShellScanner::Unquoted(char c, std::string_view next) {
  switch (c) {
    case '\\':
      escaped_ = true;
      in_word_ = true;
      if (delimiter_next_) coming_.quoted = true;
      return;
    case '\'':
    case '"':
      level().quote = c == '"' ? Quote::kDouble : Quote::kSingle;
      in_word_ = true;
      if (delimiter_next_) coming_.quoted = true;
      return;
    case '$':
      if (Dollar(next)) return;
      break;
    case '`':
      if (level().kind == Kind::kBackticks) {
        EndWord();
        return Pop();
      }
      in_word_ = true;
      return Push(Kind::kBackticks);
    case '#':
      if (!in_word_ && level().kind != Kind::kBrace && level().kind != Kind::kArithmetic) {
        comment_ = true;
        return;
      }
      break;
    default:
      break;
  }
  if (level().kind == Kind::kBrace || level().kind == Kind::kArithmetic) return Close(c, next);
  if (std::string_view(" \t\n;&|<>()").contains(c)) return Operator(c, next);
  word_ += c;
  in_word_ = true;
}

// Within ${ } and (( )): until what ends it.
void ShellScanner::Close(char c, std::string_view next) {
  const bool brace = level().kind == Kind::kBrace;
  if (brace && c == '}') return Pop();
  if (brace && c == '{') return Push(Kind::kBrace);
  if (!brace && c == '(') return Push(Kind::kArithmetic);
  if (!brace && c == ')') {
    // The outer one ends with two; an inner one with one.
    const bool outer = levels_.size() < 2 || levels_[levels_.size() - 2].kind != Kind::kArithmetic;
    if (outer && next.starts_with(")")) skip_ = 1;
    Pop();
  }
}

void ShellScanner::Operator(char c, std::string_view next) {
  if (c == '(') return Open(next);
  EndWord();
  switch (c) {
    case '\n':
    case ';':
    case '&':
    case '|':
      EndCommand();
      if (c == '\n') BeginBody();
      return;
    case ')':
      EndCommand();
      CloseParenthesis();
      return;
    case '<':
      if (next.starts_with("<<")) {  // a here-string
        skip_ = 2;
      } else if (next.starts_with("<")) {
        coming_ = {.strips_tabs = next.starts_with("<-")};
        skip_ = coming_.strips_tabs ? 2 : 1;
        delimiter_next_ = true;
        return;
      }
      redirects_ = true;
      return;
    case '>':
      redirects_ = true;
      return;
    default:
      return;
  }
}

void ShellScanner::CloseParenthesis() {
  const Kind kind = level().kind;
  if (kind != Kind::kCommands && kind != Kind::kSubshell && kind != Kind::kArray) return;
  Pop();
  if (kind == Kind::kSubshell) level().command = {};  // the body of a function comes
}

void ShellScanner::Open(std::string_view next) {
  if (level().kind == Kind::kTest) return;
  if (std::exchange(redirects_, false) && !in_word_) {  // <( ) and >( ) are words
    in_word_ = true;
    return Push(Kind::kCommands);
  }
  const bool array = in_word_ && word_.ends_with('=');
  const bool begins = !in_word_ && !level().command.named;
  if (begins && next.starts_with("(")) {
    skip_ = 1;
    return Push(Kind::kArithmetic);
  }
  if (array) return Push(Kind::kArray);
  EndWord();
  Push(Kind::kSubshell);
}

void ShellScanner::EndWord() {
  if (!in_word_) return;
  const std::string word = std::exchange(word_, {});
  in_word_ = false;
  if (delimiter_next_) {
    delimiter_next_ = false;
    coming_.delimiter = word;
    pending_.push_back(std::exchange(coming_, {}));
    return;
  }
  if (std::exchange(redirects_, false)) return;
  ShellLevel& here = level();
  if (here.kind == Kind::kArray) return;
  if (here.kind == Kind::kTest) {
    if (word == "]]") return Pop();
    here.arithmetic_test = here.arithmetic_test || Among(kArithmeticTests, word);
    if (here.arithmetic_test && here.has_value) problem_ = kArithmeticProblem;
    return;
  }
  if (!here.command.named && word == "[[") return Push(Kind::kTest);
  here.command.EndWord(word);
}

void ShellScanner::EndCommand() {
  if (level().kind == Kind::kTest) return;  // && and || join conditions there
  if (level().kind != Kind::kArray) level().command = {};
  redirects_ = false;
}

void ShellScanner::BeginBody() {
  if (pending_.empty()) return;
  body_ = std::move(pending_.front());
  pending_.erase(pending_.begin());
  body_line_.clear();
}

void ShellScanner::LineOfBody(char c) {
  if (c != '\n') {
    body_line_ += c;
    return;
  }
  std::string_view line = body_line_;
  while (body_->strips_tabs && line.starts_with('\t')) line.remove_prefix(1);
  const bool ends = line == body_->delimiter;
  body_line_.clear();
  if (!ends) return;
  body_.reset();
  BeginBody();
}

// Why a value must not stand here; nothing: it may.
std::optional<std::string> ShellScanner::WhyNot() {
  if (body_) {
    if (!body_->quoted) return std::nullopt;
    return "in a here-document with a quoted delimiter nothing is replaced; leave the quotes out";
  }
  if (escaped_) return "a \\ stands right before it";
  if (comment_) return std::nullopt;
  for (const ShellLevel& one : levels_) {
    if (one.kind == Kind::kBackticks) return "it stands in `...`; write $(...)";
    if (one.kind == Kind::kArithmetic) {
      return "in arithmetic a value is evaluated once more; check it in a step before";
    }
    if (one.kind == Kind::kBrace) return "it stands in ${...}; assign it to a variable first";
  }
  const ShellLevel& here = levels_.back();
  if (here.kind == Kind::kTest && here.arithmetic_test) return kArithmeticProblem;
  if (here.kind == Kind::kTest || here.kind == Kind::kArray) return std::nullopt;
  if (delimiter_next_) return "it stands in the delimiter of a here-document";
  if (redirects_) return std::nullopt;
  const SimpleCommand& command = here.command;
  if (IsInIndex(word_)) return "an index of an array is evaluated once more";
  if (!command.named && !IsAssignment(word_)) {
    return "it is the first word of a command, which it would choose";
  }
  if (Among(kEvaluate, command.name)) {
    return fmt::format("{} evaluates its arguments once more", command.name);
  }
  if (command.program_next || command.IsProgramOption(word_)) {
    return fmt::format("it would be part of a program for {}", command.name);
  }
  return std::nullopt;
}

std::expected<bool, std::string> ShellScanner::Value(std::size_t number) {
  if (auto why = WhyNot()) return std::unexpected(*std::move(why));
  const std::string value = fmt::format("${{{}{}}}", variable_, number);
  if (body_ || comment_) {
    program_ += value;
    body_line_ += '\0';  // no delimiter has it
    return true;
  }
  if (level().kind == Kind::kTest) level().has_value = true;
  const Quote quote = level().quote;
  switch (quote) {
    case Quote::kNone:
      program_ += '"' + value + '"';
      break;
    case Quote::kDouble:
      program_ += value;
      break;
    case Quote::kSingle:
      program_ += "'\"" + value + "\"'";
      break;
    case Quote::kAnsi:
      program_ += "'\"" + value + "\"$'";
      break;
  }
  in_word_ = true;
  word_ += '\0';  // no word of bash's own has it
  return quote != Quote::kNone;
}

// A name that the command does not use itself: it has more `_` than any that begins like it.
std::string FreeName(std::string_view command) {
  std::string name = "__v";
  std::size_t longest = 0;
  for (std::size_t at = command.find(name); at != std::string_view::npos;
       at = command.find(name, at + 1)) {
    const std::string_view rest = command.substr(at + name.size());
    longest = std::max(longest, 1 + std::min(rest.find_first_not_of('_'), rest.size()));
  }
  return name.append(longest, '_');
}

TemplateProblem Refused(const StepReference& reference, std::string_view why) {
  return {.message = fmt::format("{} cannot stand here: {}. A value can always be read from stdin, "
                                 "or be an argument of the inner program",
                                 reference.Print(), why)};
}

constexpr std::size_t kShownHead = 3U << 10;
constexpr std::size_t kShownTail = 1U << 10;

std::string Cut(const std::string& value) {
  if (value.size() <= kShownHead + kShownTail) return value;
  const std::string_view head = Utf8Head(value, kShownHead);
  const std::string_view tail = Utf8Tail(value, kShownTail);
  return fmt::format("{}[... {} bytes ...]{}", head, value.size() - head.size() - tail.size(),
                     tail);
}

}  // namespace

std::string ShellTemplate::Shown(std::span<const std::string> values) const {
  std::string shown;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string value = Cut(values[i]);
    shown.append(texts[i].before).append(texts[i].quoted ? value : QuoteWord(value));
  }
  return shown + after;
}

std::expected<ShellTemplate, TemplateProblem> ParseShellTemplate(
    std::string_view command, std::span<const std::string> earlier,
    std::span<const std::string> all) {
  PA_TRY(const TemplateText text, ParseTemplateText(command, earlier, all));
  ShellTemplate shell;
  const std::string variable = FreeName(command);
  ShellScanner scanner(variable);
  for (const TemplatePart& part : text.parts) {
    if (!part.reference) {
      scanner.Text(part.text);
      shell.after = part.text;
      continue;
    }
    const auto quoted = scanner.Value(shell.references.size());
    if (!quoted) return std::unexpected(Refused(*part.reference, quoted.error()));
    shell.references.push_back(*part.reference);
    shell.texts.push_back({std::exchange(shell.after, {}), *quoted});
  }
  if (!scanner.problem().empty()) {
    return std::unexpected(Refused(shell.references.back(), scanner.problem()));
  }
  if (shell.references.empty()) {
    shell.program = scanner.program();
    return shell;
  }
  for (std::size_t i = 0; i < shell.references.size(); ++i) {
    shell.program += fmt::format("{}{}=${{{}}} ", variable, i, i + 1);
  }
  shell.program.back() = ';';
  shell.program += " set --; " + scanner.program();
  return shell;
}

}  // namespace pa
