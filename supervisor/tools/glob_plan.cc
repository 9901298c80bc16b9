#include "supervisor/tools/glob_plan.h"

namespace pa {
namespace {

constexpr std::string_view kSpecial = "\\*?[]{}!";
constexpr std::string_view kAnywhere = "**/";

bool IsPlain(std::string_view component) {
  return component.find_first_of(kSpecial) == std::string_view::npos && component != ".." &&
         component != ".";
}

// Whether the last slash separates components: not one within braces or a class, none that is
// escaped.
bool SplitsAtSlashes(std::string_view pattern) {
  const std::size_t last = pattern.rfind('/');
  if (last == std::string_view::npos) return true;
  const std::string_view before = pattern.substr(0, last);
  return before.find_first_of("\\{[") == std::string_view::npos;
}

}  // namespace

std::string EscapeGlob(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

GlobPlan PlanGlob(std::string_view pattern) {
  GlobPlan plan;
  const bool anchored = pattern.find('/') != std::string_view::npos;
  const std::string from_here =
      (pattern.starts_with('!') ? "\\" : "") + std::string(pattern);  // never what is excluded
  std::string_view rest = pattern;
  while (rest.starts_with('/')) rest.remove_prefix(1);
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos;
       slash = rest.find('/')) {
    if (!IsPlain(rest.substr(0, slash))) break;
    if (!plan.directory.empty()) plan.directory += '/';
    plan.directory += rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
  }
  const bool anywhere = rest == "**" || rest.starts_with(kAnywhere);
  plan.shallow = anchored && !anywhere;
  while (rest.starts_with(kAnywhere)) rest.remove_prefix(kAnywhere.size());
  if (rest == "**") rest = "*";
  const std::size_t slash = rest.rfind('/');
  const bool simple = slash == std::string_view::npos;
  plan.name = simple ? rest : SplitsAtSlashes(rest) ? rest.substr(slash + 1) : "*";
  // A type is `name:glob`, and what ends in a slash is no file.
  const bool unspeakable = plan.name.empty() || plan.name.find(':') != std::string::npos;
  plan.hidden = plan.name.starts_with('.');
  if (simple && !unspeakable) return plan;
  if (unspeakable || plan.name == "**") plan.name = "*";
  plan.shallow = false;
  plan.exact = from_here;
  return plan;
}

}  // namespace pa
