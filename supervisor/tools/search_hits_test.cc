#include "supervisor/tools/search_hits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pa {
namespace {

std::vector<std::string> Shown(const SearchHits& hits) {
  std::vector<std::string> shown;
  for (const auto& [path, file] : hits.files()) {
    if (file.matches.empty()) shown.push_back(path);
    for (const SearchMatch& match : file.matches) {
      shown.push_back(path + ":" + std::to_string(match.line));
    }
  }
  return shown;
}

TEST(SearchHits, InTheOrderOfPaths) {
  SearchHits hits(10);
  hits.AddFile("b", 2);
  hits.AddFile("a", 1);
  EXPECT_EQ(Shown(hits), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(hits.total_files(), 2u);
  EXPECT_EQ(hits.total_matches(), 3u);
  EXPECT_EQ(hits.files().at("b").count, 2u);
}

TEST(SearchHits, ContextBelongsToItsMatch) {
  SearchHits hits(10);
  hits.AddMatch("a", {.line = 3, .text = "x", .before = {"2"}});
  hits.AddAfter("a", "4");
  hits.AddAfter("b", "of none");
  const SearchMatch& match = hits.files().at("a").matches.at(0);
  EXPECT_EQ(match.before, std::vector<std::string>{"2"});
  EXPECT_EQ(match.after, std::vector<std::string>{"4"});
}

// Whatever order files come in, the first part of the result is the same.
TEST(SearchHits, TheSamePartWhateverCameFirst) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> order(50);
    for (int i = 0; i < 50; ++i) order[static_cast<std::size_t>(i)] = 100 + i;
    std::ranges::shuffle(order, random);
    SearchHits hits(20);
    for (const int file : order) {
      for (int line = 1; line <= file % 4; ++line) {
        hits.AddMatch(std::to_string(file), {.line = line, .text = "x"});
      }
    }
    std::vector<std::string> expected;
    for (int file = 100; file < 150; ++file) {
      for (int line = 1; line <= file % 4; ++line) {
        expected.push_back(std::to_string(file) + ":" + std::to_string(line));
      }
    }
    EXPECT_EQ(hits.total_matches(), expected.size());
    const std::vector<std::string> shown = Shown(hits);
    ASSERT_GE(shown.size(), 20u);
    EXPECT_EQ(hits.kept(), shown.size());
    EXPECT_LT(shown.size(), 24u) << "no more than asked for, but for the end of a file";
    EXPECT_TRUE(std::equal(shown.begin(), shown.end(), expected.begin()));
  }
}

TEST(SearchHits, StaysSmallAndLeavesNothingOutBeforeItsEnd) {
  SearchHits hits(1U << 30);
  const std::string text(2000, 'x');
  for (const char* path : {"c", "a", "b"}) {
    for (int line = 1; line <= 10'000; ++line) hits.AddMatch(path, {.line = line, .text = text});
  }
  EXPECT_EQ(hits.total_matches(), 30'000u);
  EXPECT_EQ(hits.total_files(), 3u);
  std::size_t bytes = 0;
  std::int64_t expected = 0;
  ASSERT_EQ(hits.files().size(), 1u);
  for (const SearchMatch& match : hits.files().at("a").matches) {
    EXPECT_EQ(match.line, ++expected);
    bytes += match.text.size();
  }
  EXPECT_GT(bytes, SearchHits::kMaxKept / 2);
  EXPECT_LE(bytes, SearchHits::kMaxKept + 2 * text.size());
  EXPECT_EQ(hits.kept(), static_cast<std::uint64_t>(expected));
}

TEST(SearchHits, OneFileWithMoreThanIsAskedFor) {
  SearchHits hits(3);
  for (int line = 1; line <= 100; ++line) hits.AddMatch("a", {.line = line, .text = "x"});
  EXPECT_EQ(Shown(hits), (std::vector<std::string>{"a:1", "a:2", "a:3"}));
  EXPECT_EQ(hits.files().at("a").count, 100u);
}

}  // namespace
}  // namespace pa
