// A policy file: nothing crashes the parser, and what it accepts it writes out and reads back
// the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_place.h"
#include "policy/effective.h"
#include "policy/fragment.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "tests/fuzz/check.h"

namespace {

using pa::Check;
using namespace pa::policy;

// An error that only the parser explains; at the start, since any message may quote the text.
constexpr std::string_view kUnforeseen = "expected YAML as project-actions.yaml(5) describes it";

// Keys as flow mappings; a reading apart from `policy show`, which needs a loaded policy.
std::string Written(const PolicyFragment& fragment) {
  std::string text = "version: 1\n";
  std::string_view section;
  for (const Key& key : PolicyKeys()) {
    if (!HasValue(key, fragment)) continue;
    if (key.Section() != section && !key.Section().empty()) {
      text += std::string(key.Section()) + ":\n";
    }
    section = key.Section();
    pa::JsonWriter writer;
    WriteValue(writer, key, fragment);
    std::string value = std::move(writer).Take();
    const bool list = value.starts_with('[') || value.starts_with('{');
    if (!list && value.starts_with('"')) value = value.substr(1, value.size() - 2);
    text += (section.empty() ? "" : "  ") + std::string(key.Word()) + ": " + value + '\n';
  }
  return text;
}

void CheckFragment(const PolicyFragment& fragment, const std::vector<std::string>& tools) {
  const std::string text = Written(fragment);
  std::vector<Diagnostic> diagnostics;
  const std::optional<PolicyFragment> again = ParsePolicyText(text, "again", tools, diagnostics);
  Check(again.has_value());
  Check(Written(*again) == text);
  if (!fragment.roots) return;
  for (const Located<std::string>& root : fragment.roots->value) {
    const auto path = ExpandPath(root.value, {"/home/ann", {}});
    Check(!path || path->starts_with('/'));
  }
}

// Of a line of the text, or just past its end; a byte order mark has none.
bool IsPlaceOf(std::string_view text, const Diagnostic& diagnostic) {
  if (text.starts_with(pa::kByteOrderMark)) text.remove_prefix(pa::kByteOrderMark.size());
  for (int line = 1; line < diagnostic.line; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  return diagnostic.line >= 1 && diagnostic.column >= 1 &&
         static_cast<std::size_t>(diagnostic.column) <= text.size() + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> tools = {"make", "make_targets", "git_add"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Diagnostic> diagnostics;
  const std::optional<PolicyFragment> fragment =
      ParsePolicyText(text, "policy.yaml", tools, diagnostics);
  Check(fragment.has_value() == diagnostics.empty());
  for (const Diagnostic& diagnostic : diagnostics) {
    Check(!diagnostic.message.empty());
    Check(!diagnostic.message.starts_with(kUnforeseen));
    Check(IsPlaceOf(text, diagnostic));
    Check(!diagnostic.Format().contains('\n'));
  }
  if (fragment) CheckFragment(*fragment, tools);
  return 0;
}
