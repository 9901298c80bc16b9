// The tables by which refusals.cc finds out what a program tried: by the words of the line, or,
// where the line has only the path, by the name of the program.
//
//    if (const auto uses = UsesByWords("cannot create directory")) ...   // kTriedChange
//
// To add the message of a program: a line in the tables of refusal_words.cc, the message itself in
// refusals_test.cc. A wrong entry makes denials that are none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/denials/refusals.h"

namespace pa {

inline constexpr Uses kTriedByOthers = kTriedRead | kTriedWrite | kTriedChange;

// `said`: the line without the path, in lower case. Nothing if it has no known word.
std::optional<Uses> UsesByWords(std::string_view said);
// Whether the line is about a mode, or about times: a read-only mount restricts both and Landlock
// neither.
bool SaysMode(std::string_view said);
bool SaysTimes(std::string_view said);
// For a line that has only the path. `segments`: the parts before the path, in lower case.
Uses UsesByProgram(std::span<const std::string_view> segments);

// Whether `text`, in lower case, holds `words` as whole words.
bool HasWords(std::string_view text, std::string_view words);

// Whether python calls `function` in the frame that the error comes from: the last one above it.
bool IsCalledAbove(std::span<const std::string> before, std::string_view function);

// Whether a test says there how it went or which values it compared: words such as "permission
// denied" are then the test's own, and no program's error.
bool IsTestReport(std::string_view line);

}  // namespace pa
