// What a program says it tried, and what it tries that says nothing: the tables by which
// refusals.cc reads a line.
//
//   if (const auto uses = UsesByWords("cannot create directory")) ...   // kTriedChange
//
// To add a program's way to say it: a line in the tables of refusal_words.cc, the message itself in
// refusals_test.cc. A table that is wrong about what was tried makes a denial that is not one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/denials/refusals.h"

namespace pa {

inline constexpr Uses kTriedByOthers = kTriedRead | kTriedWrite | kTriedChange;

// Of what a line says beside the path, in lower case. Nothing: no word that is known.
std::optional<Uses> UsesByWords(std::string_view said);
// Whether what Landlock does not restrict, and a read-only mount does: mode and times.
bool SaysMode(std::string_view said);
// Of a line that says nothing but the path. `segments`: what stands before it, in lower case.
Uses UsesByProgram(std::span<const std::string_view> segments);

// `words` stand in `text`, which is in lower case, and are whole.
bool HasWords(std::string_view text, std::string_view words);
bool IsNumber(std::string_view text);
std::string Lowered(std::string_view text);

}  // namespace pa
