// Parameters that glob and grep share, so that they are the same in both.
#pragma once

#include "supervisor/call/param.h"

namespace pa {

inline constexpr Param kSearchPathParam = {
    .name = "path",
    .kind = ParamKind::kString,
    .description = "Where to look, relative to the project root. Default: the root."};

inline constexpr Param kIncludeIgnoredParam = {
    .name = "include_ignored",
    .kind = ParamKind::kBoolean,
    .description = "Include files that .gitignore excludes."};

inline constexpr Param kIncludeHiddenParam = {
    .name = "include_hidden",
    .kind = ParamKind::kBoolean,
    .description = "Include names that begin with a dot, except .git."};

inline constexpr Param kOffsetParam = {.name = "offset",
                                       .kind = ParamKind::kInteger,
                                       .description =
                                           "How many results to skip: next_offset of "
                                           "the previous result.",
                                       .maximum = 1'000'000,
                                       .default_integer = 0};

}  // namespace pa
