// UnifiedDiff: what has changed from one text to another, by lines, as patch(1) has it.
//
//   std::string diff = UnifiedDiff("a/main.c", "b/main.c", old_text, new_text);
//
// By Myers ("An O(ND) Difference Algorithm and Its Variations", 1986), so it is a shortest one, as
// long as it is found within kMaxChanges lines that come and go, and kMaxSteps; beyond that, from
// the first line that differs to the last, all is taken for changed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// Each with its end; only the last may have none. At most the first `most`.
std::vector<std::string_view> SplitLines(std::string_view text,
                                         std::size_t most = std::string_view::npos);

// "" when they are the same. Where too many lines stand between the first that differs and the
// last, only that is said. Of what is more than `max_bytes`, the last line says that it is left
// out.
std::string UnifiedDiff(std::string_view old_name, std::string_view new_name,
                        std::string_view old_text, std::string_view new_text,
                        std::size_t max_bytes = 64U << 10);

}  // namespace pa
