// Why a text is no YAML, for people: what stands where, and what to write instead. A parser names
// the byte at which it gave up and what it was about to read; people look for the bracket that is
// not closed. Used by yaml.cc alone, which knows the parser.
//
//    const YamlProblem problem = ExplainYaml(text, YamlFault::kFlow, at);
//    Diagnostic(place of problem.at, problem.message)
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pa::policy {

// What the parser did not find, or found instead.
enum class YamlFault {
  kQuote,   // the end of a quoted value
  kFlow,    // in brackets: a comma, or the closing one
  kCloser,  // a closing bracket that closes nothing
  kColon,   // a `: ` where no key stands
  kDash,    // a `- ` where no list can begin
  kQuestion,
  kLine,  // in a mapping or list, its next key or `- `
  kTab,
  kCharacter,  // with which no value can begin
  kAlias,
  kAnchor,
  kTag,
  kEscape,
  kDirective,
  kBlock,  // of | and >, the rest of the line
};

struct YamlProblem {
  std::size_t at = 0;  // a byte of the text, at most its size
  std::string message;
};

// `text`: valid UTF-8 without a byte order mark. `at`: where the parser gave up.
YamlProblem ExplainYaml(std::string_view text, YamlFault fault, std::size_t at);

// Whatever no parser needs to be asked about: bytes that are not UTF-8, another encoding, NUL, a
// second byte order mark, line ends of CR alone. Nothing: there is none of it.
std::optional<YamlProblem> FindBadBytes(std::string_view text);

// A quote or a bracket that nothing closes. Nothing: there is none.
std::optional<YamlProblem> FindUnclosed(std::string_view text);

inline constexpr char kNoAliases[] =
    "aliases (*name) are not allowed in a policy; put a value that begins with * in quotes";
inline constexpr char kNoAnchors[] =
    "anchors (&name) are not allowed in a policy; put a value that begins with & in quotes";
inline constexpr char kNoTags[] =
    "tags (!name) are not allowed in a policy; put a value that begins with ! in quotes";

inline constexpr char kNoMark[] =
    "a byte order mark (U+FEFF), which nobody sees, is in the way; remove it";

}  // namespace pa::policy
