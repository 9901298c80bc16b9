// Finds the paths that a line of output names: in quotes, or as the last text before the errno.
//
//    const std::vector<std::string_view> segments = Segments("cat: /h/x");
//    const Names names = NamesBefore(segments);   // {"/h/x"}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// Valid UTF-8 without control characters; at most kMaxRefusalNames (supervisor/denials/refusals.h).
using Names = std::vector<std::string>;

// `text` split at `: `; empty if there are more parts than any program writes.
std::vector<std::string_view> Segments(std::string_view text);

// Names after the errno: `: 'x'`, `, open 'x'`, ` @ rb_sysopen - /x (Errno::EACCES)` of python,
// node and ruby.
Names NamesBehind(std::string_view text);
// Names before the errno: in the last part, or in the one before it, because tar and Haskell put a
// word in between. The first part is the name of the program, unless it is the only one.
Names NamesBefore(std::span<const std::string_view> segments);

}  // namespace pa
