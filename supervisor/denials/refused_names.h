// Which paths a line of output names: in quotes, or as the last thing before the errno.
//
//   const std::vector<std::string_view> segments = Segments("cat: /h/x");
//   const Names names = NamesBefore(segments);   // {"/h/x"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// Without control characters, valid UTF-8, at most kMaxRefusalNames
// (supervisor/denials/refusals.h).
using Names = std::vector<std::string>;

// `text` cut at `: `; none where no program says so many.
std::vector<std::string_view> Segments(std::string_view text);
std::string_view Trimmed(std::string_view text);

// `: 'x'`, `, open 'x'`, ` @ rb_sysopen - /x (Errno::EACCES)` of python, node and ruby.
Names NamesBehind(std::string_view text);
// The path as the last thing before the errno; tar and Haskell have a word in between. What a line
// begins with is a program, unless nothing else is there.
Names NamesBefore(std::span<const std::string_view> segments);

}  // namespace pa
