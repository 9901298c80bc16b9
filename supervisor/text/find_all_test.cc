#include "supervisor/text/find_all.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace pa {
namespace {

using Places = std::vector<std::size_t>;

TEST(FindAllTest, AlsoThoseThatOverlap) {
  EXPECT_EQ(FindAll<char>("aaa", "aa"), (Places{0, 1}));
  EXPECT_EQ(FindAll<char>("abcabc", "c"), (Places{2, 5}));
  EXPECT_EQ(FindAll<char>("abc", "abcd"), Places{});
  EXPECT_EQ(FindAll<char>("", "a"), Places{});
  EXPECT_EQ(FindAll<char32_t>(U"\u00e9x\u00e9", U"\u00e9"), (Places{0, 2}));
}

TEST(FindAllTest, FindsWhatStringFindFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto text_of = [&](std::size_t size) {
      std::string text;
      while (text.size() < size) text += random() % 2 == 0 ? 'a' : 'b';
      return text;
    };
    const std::string text = text_of(random() % 40), part = text_of(1 + random() % 6);
    Places expected;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      expected.push_back(at);
    }
    EXPECT_EQ(FindAll<char>(text, part), expected) << part << " in " << text;
  }
}

}  // namespace
}  // namespace pa
