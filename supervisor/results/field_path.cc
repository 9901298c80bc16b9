#include "supervisor/results/field_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/try.h"
#include "base/utf8.h"

namespace pa {
namespace {

using StepKind = PathStep::Kind;

// Unicode's White_Space and Cc, and what has a meaning here.
bool IsNameCharacter(std::uint32_t point) {
  constexpr std::string_view kOthers = ".[]\"'=!<> \x7F";
  if (point < 0x80) return point >= 0x20 && !kOthers.contains(static_cast<char>(point));
  return point > 0xA0 && point != 0x1680 && (point < 0x2000 || point > 0x200A) && point != 0x2028 &&
         point != 0x2029 && point != 0x202F && point != 0x205F && point != 0x3000;
}

// How many bytes at the beginning can be a name.
std::size_t NameLength(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t invalid = 0;
    const std::size_t size = Utf8SequenceLength(text.substr(at), &invalid);
    if (size == 0 || !IsNameCharacter(CodePointOf(text.substr(at, size)))) break;
    at += size;
  }
  return at;
}

bool IsName(std::string_view text) { return !text.empty() && NameLength(text) == text.size(); }

QueryResult<PathStep> ReadName(QueryText& text) {
  const std::size_t length = NameLength(text.Rest());
  if (length == 0) return std::unexpected(text.Error("field name expected"));
  std::string name(text.Rest().substr(0, length));
  text.Skip(length);
  return PathStep{.kind = StepKind::kName, .name = std::move(name), .index = 0};
}

// What stands between the brackets, without a sign or leading zeros.
QueryResult<PathStep> ReadIndex(QueryText& text) {
  const std::size_t begin = text.at();
  const auto bad = [&] {
    return std::unexpected(text.ErrorAt(begin, R"([0], [*] or ["name"] expected)"));
  };
  text.Skip(1);
  PathStep step{.kind = StepKind::kIndex, .name = "", .index = 0};
  const char first = text.Peek();
  if (first == '*') {
    step.kind = StepKind::kEach;
    text.Skip(1);
  } else if (first == '"' || first == '\'') {
    step.kind = StepKind::kName;
    PA_TRY(step.name, text.Quoted());
  } else {
    const std::string_view rest = text.Rest();
    const auto [end, error] = std::from_chars(rest.begin(), rest.end(), step.index);
    const auto digits = static_cast<std::size_t>(end - rest.begin());
    if (error != std::errc() || digits == 0 || (first == '0' && digits > 1)) return bad();
    text.Skip(digits);
  }
  if (text.Peek() != ']' || text.AtEnd()) return bad();
  text.Skip(1);
  return step;
}

}  // namespace

QueryResult<FieldPath> ReadFieldPath(QueryText& text) {
  FieldPath path;
  const std::string_view rest = text.Rest();
  if (rest.starts_with('.') &&
      (rest.size() == 1 || IsQueryBlank(rest[1]) || std::string_view("=!<>").contains(rest[1]))) {
    text.Skip(1);
    return path;
  }
  do {
    if (text.Peek() == '[') {
      PA_TRY(PathStep step, ReadIndex(text));
      path.steps.push_back(std::move(step));
      continue;
    }
    if (!path.steps.empty()) text.Skip(1);  // the point
    PA_TRY(PathStep step, ReadName(text));
    path.steps.push_back(std::move(step));
  } while (text.Peek() == '.' || text.Peek() == '[');
  return path;
}

QueryResult<FieldPath> ParseFieldPath(std::string_view text) {
  QueryText reader(text);
  if (text.size() > kMaxQueryBytes) {
    return std::unexpected(reader.Error(fmt::format("at most {} bytes", kMaxQueryBytes)));
  }
  PA_TRY(FieldPath path, ReadFieldPath(reader));
  if (!reader.AtEnd()) return std::unexpected(reader.Error("the path ends here"));
  return path;
}

std::string FieldPath::Print() const {
  if (steps.empty()) return ".";
  std::string text;
  for (const PathStep& step : steps) {
    if (step.kind == StepKind::kEach) {
      text += "[*]";
    } else if (step.kind == StepKind::kIndex) {
      text += fmt::format("[{}]", step.index);
    } else if (!IsName(step.name)) {
      text += '[' + QuoteForQuery(step.name) + ']';
    } else {
      text.append(text.empty() ? "" : ".").append(step.name);
    }
  }
  return text;
}

bool NamesEach(std::span<const PathStep> steps) {
  return std::ranges::find(steps, PathStep::Kind::kEach, &PathStep::kind) != steps.end();
}

}  // namespace pa
