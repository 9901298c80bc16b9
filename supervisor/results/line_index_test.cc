#include "supervisor/results/line_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pa {
namespace {

// Lines of 0 to 4,999 bytes over several blocks, and where each begins.
std::string ManyLines(std::vector<std::size_t>& begins) {
  std::string text;
  for (std::size_t i = 0; text.size() < 3 * LineIndex::kBlock; ++i) {
    begins.push_back(text.size());
    text.append(i * 7919 % 5000, 'x').append("\n");
  }
  return text;
}

TEST(LineIndex, LeadsToTheBlockInWhichALineBegins) {
  std::vector<std::size_t> begins;
  const std::string text = ManyLines(begins);
  LineIndex index;
  for (std::size_t at = 0; at < text.size(); at += 10'007) index.Add(text.substr(at, 10'007));
  EXPECT_EQ(index.lines(), begins.size());
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const LineIndex::Place place = index.BlockOf(i + 1);
    ASSERT_LE(place.offset, begins[i]) << i;
    ASSERT_LE(begins[i] - place.offset, LineIndex::kBlock) << i;
    const auto before = std::count(text.begin() + static_cast<std::ptrdiff_t>(place.offset),
                                   text.begin() + static_cast<std::ptrdiff_t>(begins[i]), '\n');
    ASSERT_EQ(place.line + static_cast<std::uint64_t>(before), i + 1);
  }
}

TEST(LineIndex, ALastLineNeedsNoEnd) {
  LineIndex index;
  EXPECT_EQ(index.lines(), 0u);
  index.Add("a");
  EXPECT_EQ(index.lines(), 1u);
  index.Add("b\n");
  EXPECT_EQ(index.lines(), 1u);
  index.Add("\n");
  EXPECT_EQ(index.lines(), 2u);
  EXPECT_EQ(index.BlockOf(9).offset, 0u);
}

}  // namespace
}  // namespace pa
