#include "supervisor/text/count_line_ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pa {
namespace {

TEST(CountLineEnds, OfEverySizeAndDensity) {
  std::string text;
  for (std::size_t size = 0; size < 20'000; size += 1 + size / 7) {
    for (const std::size_t every : {1U, 2U, 3U, 64U, 5000U}) {
      text.assign(size, 'x');
      for (std::size_t i = 0; i < size; i += every) text[i] = '\n';
      ASSERT_EQ(CountLineEnds(text), static_cast<std::uint64_t>(std::ranges::count(text, '\n')))
          << size << " " << every;
    }
  }
}

}  // namespace
}  // namespace pa
