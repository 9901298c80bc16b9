// TemplateText: a text of a pipeline's arguments in which templates stand for values of earlier
// steps.
//
//    auto text = ParseTemplateText("see {{build.stdout}}", {"build"}, {"build", "test"});
//    for (const TemplatePart& part : text->parts) ...         // "see ", then build and its path
//
//    template = "{{" blanks id path blanks "}}" ; path = { "." name | index }     (field_path.h)
//
// 2k backslashes before `{{` are k and a template, 2k+1 are k and the text as it stands. What is no
// template stays as it is, because `{{` has a meaning to JSX, Helm and C++, too. But a template of
// an unknown or later step, and what begins with the id of a step and goes on wrongly, is an error:
// it was meant as one.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/results/field_path.h"

namespace pa {

// `build.stdout`, `list[0].name`.
struct StepReference {
  std::string id;
  std::vector<PathStep> path;

  // `{{id[0]}}` and `{{id[*]}}` are of the step's list, everything else of its data.
  bool OfItems() const { return !path.empty() && path[0].kind != PathStep::Kind::kName; }
  std::string Print() const;
  bool operator==(const StepReference&) const = default;
};

struct TemplatePart {
  std::string text;                        // if there is no reference
  std::optional<StepReference> reference;  // in place of `text`
  bool operator==(const TemplatePart&) const = default;
};

struct TemplateText {
  std::vector<TemplatePart> parts;  // no two texts in a row; none is empty

  // The reference that is all of the text, so that its value keeps its type.
  const StepReference* Whole() const;
  bool operator==(const TemplateText&) const = default;
};

struct TemplateProblem {
  std::string message;  // "there is no step 'biuld' - did you mean 'build'?"
  std::size_t at = 0;   // byte of the `{{`
};

// `earlier`: ids that may be named; `all`: of the whole pipeline.
std::expected<TemplateText, TemplateProblem> ParseTemplateText(std::string_view text,
                                                               std::span<const std::string> earlier,
                                                               std::span<const std::string> all);

// Letters, digits, `_` and `-`, a letter or `_` first, 64 at most.
bool IsStepId(std::string_view text);

}  // namespace pa
