// UnifiedDiff: the differences between two texts, by lines, in the format of patch(1).
//
//    std::string diff = UnifiedDiff("a/main.c", "b/main.c", old_text, new_text);
//
// It uses the algorithm of Myers ("An O(ND) Difference Algorithm and Its Variations", 1986), which
// finds a shortest diff, within kMaxChanges added and removed lines and kMaxSteps. If it finds none
// within these limits, everything from the first line that differs to the last one counts as
// changed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// The lines with their ends; only the last may have none. At most the first `most`.
std::vector<std::string_view> SplitLines(std::string_view text,
                                         std::size_t most = std::string_view::npos);

// "" if the texts are the same. If there are too many lines between the first one that differs and
// the last, the result only says so. If the diff exceeds `max_bytes`, a line says what is left out.
// Either sets `*cut`.
std::string UnifiedDiff(std::string_view old_name, std::string_view new_name,
                        std::string_view old_text, std::string_view new_text,
                        std::size_t max_bytes = 64U << 10, bool* cut = nullptr);

}  // namespace pa
