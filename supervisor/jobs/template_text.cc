#include "supervisor/jobs/template_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/did_you_mean.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::size_t kLongestId = 64;

bool IsIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::string_view IdAtStart(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, IsIdCharacter);
  const std::string_view id = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  return IsStepId(id) ? id : std::string_view();
}

// Where the inside of a template ends that begins here, and whether a `}}` stands there. A quoted
// name may hold one, and a `{`, with which otherwise another template may begin. So nothing but
// what is quoted is looked at more than once.
struct InsideEnd {
  std::size_t at;
  bool closed;
};
InsideEnd FindClose(std::string_view inside) {
  char quote = '\0';
  for (std::size_t at = 0; at < inside.size(); ++at) {
    const char c = inside[at];
    if (quote != '\0') {
      if (c == '\\') ++at;
      if (c == quote) quote = '\0';
      continue;
    }
    if (inside.substr(at).starts_with(kClose)) return {at, true};
    if (c == '{') return {at, false};
    const bool opens = (c == '"' || c == '\'') && at > 0 && inside[at - 1] == '[';
    if (opens) quote = c;
  }
  return {inside.size(), false};
}

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && IsQueryBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsQueryBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool Has(std::span<const std::string> ids, std::string_view id) {
  return std::ranges::find(ids, id) != ids.end();
}

class TemplateParser {
 public:
  TemplateParser(std::string_view text, std::span<const std::string> earlier,
                 std::span<const std::string> all)
      : text_(text), earlier_(earlier), all_(all) {}

  std::expected<TemplateText, TemplateProblem> Parse() {
    while (at_ < text_.size()) {
      const std::size_t open = std::min(text_.find(kOpen, at_), text_.size());
      if (open == text_.size()) {
        Add(text_.substr(at_));
        break;
      }
      PA_TRY_VOID(Take(open));
    }
    return std::move(parsed_);
  }

 private:
  // The text up to `open`, where `{{` stands, and what begins there.
  std::expected<void, TemplateProblem> Take(std::size_t open) {
    std::size_t slashes = 0;
    while (open - slashes > at_ && text_[open - slashes - 1] == '\\') ++slashes;
    PA_TRY(std::optional<StepReference> reference, Reference(open, slashes % 2 == 1));
    if (!reference) {
      // With an escaped template half of the backslashes go, otherwise none.
      const std::size_t kept = escaped_ ? slashes / 2 : slashes;
      Add(text_.substr(at_, open - slashes - at_));
      Add(text_.substr(open - slashes, kept));
      Add(kOpen);
      at_ = open + kOpen.size();
      return {};
    }
    Add(text_.substr(at_, open - slashes - at_));
    Add(text_.substr(open - slashes, slashes / 2));
    parsed_.parts.push_back({.text = {}, .reference = std::move(reference)});
    at_ = end_;
    return {};
  }

  // What stands at `open`, as far as it is a template; `end_` is behind it then.
  std::expected<std::optional<StepReference>, TemplateProblem> Reference(std::size_t open,
                                                                         bool escaped) {
    escaped_ = false;
    const std::string_view inside = text_.substr(open + kOpen.size());
    const auto [close, closed] = FindClose(inside);
    const std::string_view content = WithoutBlanks(inside.substr(0, close));
    const std::string_view id = IdAtStart(content);
    const bool meant = !id.empty() && Has(all_, id);
    if (id.empty() || (!closed && !meant)) return std::nullopt;
    auto path = PathOf(content.substr(id.size()));
    const bool formed = closed && path.has_value();
    escaped_ = escaped && (formed || meant);
    if (escaped || (!formed && !meant)) return std::nullopt;
    if (!formed) {
      const std::string why = closed ? path.error().message : "there is no }} after it";
      return Wrong(open, fmt::format("{{{{{}: {}; to write it as text put \\ before it",
                                     content.substr(0, 40), why));
    }
    if (!meant) return Wrong(open, "there is no step '" + std::string(id) + "'" + Meant(id));
    if (!Has(earlier_, id)) {
      return Wrong(open, fmt::format("step '{}' does not come before this one", id));
    }
    end_ = open + kOpen.size() + close + kClose.size();
    return StepReference{.id = std::string(id), .path = std::move(path->steps)};
  }

  static QueryResult<FieldPath> PathOf(std::string_view rest) {
    if (rest.empty()) return FieldPath{};
    if (rest[0] == '[') return ParseFieldPath(rest);
    if (rest[0] != '.' || rest.size() == 1) {
      return std::unexpected(QueryError{.message = ". or [ expected after the id"});
    }
    return ParseFieldPath(rest.substr(1));
  }

  std::string Meant(std::string_view id) const {
    const std::vector<std::string_view> names(all_.begin(), all_.end());
    return DidYouMean(id, names);
  }

  static std::unexpected<TemplateProblem> Wrong(std::size_t at, std::string message) {
    return std::unexpected(TemplateProblem{.message = std::move(message), .at = at});
  }

  void Add(std::string_view text) {
    if (text.empty()) return;
    const bool goes_on = !parsed_.parts.empty() && !parsed_.parts.back().reference;
    if (!goes_on) parsed_.parts.emplace_back();
    parsed_.parts.back().text += text;
  }

  std::string_view text_;
  std::span<const std::string> earlier_;
  std::span<const std::string> all_;
  TemplateText parsed_;
  std::size_t at_ = 0;    // what is before it was taken
  std::size_t end_ = 0;   // of the last reference
  bool escaped_ = false;  // of the last one: a backslash has made text of it
};

}  // namespace

bool IsStepId(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId && std::ranges::all_of(text, IsIdCharacter) &&
         (text[0] < '0' || text[0] > '9') && text[0] != '-';
}

std::string StepReference::Print() const {
  std::string printed = "{{" + id;
  for (const PathStep& step : path) {
    const bool name = step.kind == PathStep::Kind::kName;
    // In a template a brace ends more than a name.
    const std::string one = name && step.name.find_first_of("{}") != std::string::npos
                                ? "[" + QuoteForQuery(step.name) + "]"
                                : FieldPath{{step}}.Print();
    printed += (one.starts_with('[') ? "" : ".") + one;
  }
  return printed + "}}";
}

const StepReference* TemplateText::Whole() const {
  return parts.size() == 1 && parts[0].reference ? &*parts[0].reference : nullptr;
}

std::expected<TemplateText, TemplateProblem> ParseTemplateText(std::string_view text,
                                                               std::span<const std::string> earlier,
                                                               std::span<const std::string> all) {
  return TemplateParser(text, earlier, all).Parse();
}

}  // namespace pa
