#include "supervisor/run/captured_output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/utf8.h"

namespace pa {
namespace {

class CapturedOutputTest : public ::testing::Test {
 protected:
  std::string Stored(const Captured& captured) {
    const auto chunk = store_.Read(captured.uri);
    return chunk && *chunk ? (*chunk)->bytes : "";
  }
  // Beside a stream on which nothing came.
  static Captured Finish(CapturedOutput& out) { return out.Finish(out.limits().inline_bytes); }
  ResultStore store_{::testing::TempDir(), 64 << 20};
};

std::string NumberedLines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST_F(CapturedOutputTest, WhatFitsIsAllThereAndTouchesNoDisk) {
  ResultStore nowhere("/nonexistent", 1 << 20);
  CapturedOutput out(nowhere, {.inline_bytes = 8, .total_bytes = 100}, "x");
  out.Append("1234");
  out.Append("5678");
  const Captured captured = Finish(out);
  EXPECT_EQ(captured.text, "12345678");
  EXPECT_EQ(captured.total_bytes, 8u);
  EXPECT_EQ(captured.omitted_bytes, 0u);
  EXPECT_EQ(captured.lost_bytes, 0u);
  EXPECT_EQ(captured.uri, "");
}

TEST_F(CapturedOutputTest, LongTextKeepsHeadAndTailInWholeLinesAndCountsTheRest) {
  const std::string all = NumberedLines(5000);
  CapturedOutput out(store_, {.inline_bytes = 2048, .total_bytes = 1 << 20}, "x");
  for (std::size_t i = 0; i < all.size(); i += 777)
    out.Append(std::string_view(all).substr(i, 777));
  const Captured captured = Finish(out);
  EXPECT_LE(captured.text.size(), 2048u);
  const std::size_t marker = captured.text.find("[... ");
  const std::size_t rest = captured.text.find(" ...]\n") + 6;
  ASSERT_NE(marker, std::string::npos);
  const std::string head = captured.text.substr(0, marker);
  const std::string tail = captured.text.substr(rest);
  EXPECT_TRUE(all.starts_with(head));
  EXPECT_TRUE(all.ends_with(tail));
  EXPECT_TRUE(head.ends_with('\n'));
  EXPECT_TRUE(tail.starts_with("line "));
  EXPECT_GT(head.size(), 800u);
  EXPECT_GT(tail.size(), 800u);
  EXPECT_EQ(captured.total_bytes, all.size());
  EXPECT_EQ(captured.omitted_bytes, all.size() - head.size() - tail.size());
  const auto kept_lines =
      std::count(head.begin(), head.end(), '\n') + std::count(tail.begin(), tail.end(), '\n');
  EXPECT_EQ(captured.omitted_lines, 5000u - static_cast<std::uint64_t>(kept_lines));
  EXPECT_NE(captured.text.find(std::to_string(captured.omitted_lines) + " lines ("),
            std::string::npos);
  EXPECT_NE(captured.text.find("full text: " + captured.uri), std::string::npos);
  EXPECT_EQ(Stored(captured), all);
  EXPECT_EQ(captured.lost_bytes, 0u);
}

TEST_F(CapturedOutputTest, EverySplitOfTheInputGivesTheSameText) {
  const std::string all = NumberedLines(60);
  std::string expected;
  for (std::size_t size : {all.size(), std::size_t{1}, std::size_t{7}, std::size_t{200}}) {
    CapturedOutput out(store_, {.inline_bytes = 100, .total_bytes = 0}, "x");
    for (std::size_t i = 0; i < all.size(); i += size)
      out.Append(std::string_view(all).substr(i, size));
    const std::string text = Finish(out).text;
    if (expected.empty()) expected = text;
    EXPECT_EQ(text, expected) << size;
  }
  EXPECT_NE(expected.find("line 0\n"), std::string::npos);
  EXPECT_NE(expected.find("line 59\n"), std::string::npos);
}

TEST_F(CapturedOutputTest, OneLongLineIsCutBetweenCharacters) {
  std::string all;
  for (int i = 0; i < 4000; ++i) all += "\u20ac";
  CapturedOutput out(store_, {.inline_bytes = 1000, .total_bytes = 1 << 20}, "x");
  for (std::size_t i = 0; i < all.size(); i += 500)
    out.Append(std::string_view(all).substr(i, 500));
  const Captured captured = Finish(out);
  EXPECT_TRUE(IsValidUtf8(captured.text));
  EXPECT_EQ(captured.omitted_lines, 0u);
  EXPECT_EQ(captured.text.find(" lines ("), std::string::npos);
  EXPECT_EQ(Stored(captured), all);
}

TEST_F(CapturedOutputTest, BytesThatAreNoTextComeThroughRaw) {
  const std::string all = "\xff\x80\xfe" + std::string(1000, '\x80') + std::string("\0\xc3", 2);
  CapturedOutput out(store_, {.inline_bytes = 100, .total_bytes = 1 << 20}, "x");
  out.Append(all);
  const Captured captured = Finish(out);
  EXPECT_TRUE(captured.text.starts_with("\xff\x80\xfe"));
  EXPECT_TRUE(captured.text.ends_with("\x80\xc3"));
  EXPECT_EQ(Stored(captured), all);
}

TEST_F(CapturedOutputTest, TheTextHasNoEscapesAndTheStoreHasThem) {
  std::string all;
  for (int i = 0; i < 200; ++i) all += "\x1b[32mok\x1b[0m \x1b]0;t\aline\n";
  CapturedOutput small(store_, {.inline_bytes = 8192, .total_bytes = 1 << 20}, "x");
  small.Append("\x1b[1mred\x1b[0m\n");
  EXPECT_EQ(Finish(small).text, "red\n");
  CapturedOutput out(store_, {.inline_bytes = 1000, .total_bytes = 1 << 20}, "x");
  out.Append(all);
  const Captured captured = Finish(out);
  EXPECT_FALSE(captured.text.contains('\x1b'));
  EXPECT_TRUE(captured.text.starts_with("ok line\n"));
  EXPECT_TRUE(captured.text.ends_with("ok line\n"));
  EXPECT_EQ(Stored(captured), all);
}

TEST_F(CapturedOutputTest, BeyondTheTotalIsCountedAsLostButTheTailIsStillTheTail) {
  CapturedOutput out(store_, {.inline_bytes = 1000, .total_bytes = 2000}, "x");
  const std::string all = NumberedLines(1000);
  out.Append(all);
  const Captured captured = Finish(out);
  EXPECT_EQ(captured.lost_bytes, all.size() - 2000);
  EXPECT_EQ(captured.why_lost, "");
  EXPECT_EQ(Stored(captured), all.substr(0, 2000));
  EXPECT_TRUE(captured.text.ends_with("line 999\n"));
  EXPECT_NE(captured.text.find("first 2.0 KiB: " + captured.uri), std::string::npos);
}

TEST_F(CapturedOutputTest, WithoutADiskTheResultStillStandsAndSaysSo) {
  ResultStore nowhere("/nonexistent", 1 << 20);
  CapturedOutput out(nowhere, {.inline_bytes = 10, .total_bytes = 1000}, "x");
  out.Append("0123456789abcdefghij");
  const Captured captured = Finish(out);
  EXPECT_EQ(captured.uri, "");
  EXPECT_EQ(captured.lost_bytes, 20u);
  EXPECT_TRUE(captured.why_lost.contains("ENOENT")) << captured.why_lost;
  EXPECT_EQ(captured.text, "01234\n[... 10 bytes left out; the full text is lost ...]\nfghij");
}

TEST_F(CapturedOutputTest, AnInlineLimitOfNothingLeavesTheMarker) {
  CapturedOutput out(store_, {.inline_bytes = 0, .total_bytes = 1000}, "x");
  out.Append("abc\n");
  const Captured captured = Finish(out);
  EXPECT_TRUE(captured.text.starts_with("[... 1 line (4 bytes) left out; full text: "));
}

TEST_F(CapturedOutputTest, TwoStreamsShareOneBudgetAndASmallOneLeavesItsPart) {
  EXPECT_EQ(ShareOf(100, 10, 20), 10u) << "both fit";
  EXPECT_EQ(ShareOf(100, 1000, 0), 100u);
  EXPECT_EQ(ShareOf(100, 1000, 20), 80u);
  EXPECT_EQ(ShareOf(100, 20, 1000), 20u);
  EXPECT_EQ(ShareOf(100, 1000, 1000), 50u);
  EXPECT_EQ(ShareOf(100, 60, 1000), 50u);
  for (std::uint64_t mine = 0; mine < 150; ++mine) {
    for (std::uint64_t other = 0; other < 150; ++other) {
      const std::uint64_t sum = ShareOf(100, mine, other) + ShareOf(100, other, mine);
      EXPECT_EQ(sum, std::min<std::uint64_t>(100, mine + other)) << mine << " " << other;
    }
  }
}

TEST_F(CapturedOutputTest, WhateverItsShareHeadAndTailAndTheCountsAgree) {
  const std::string all = NumberedLines(600);  // 5,290 bytes
  for (const std::uint64_t inline_bytes : {2048U, 8192U}) {
    for (const std::uint64_t share : {500U, 1024U, 2048U}) {
      CapturedOutput out(store_, {.inline_bytes = inline_bytes, .total_bytes = 1 << 20}, "x");
      for (std::size_t i = 0; i < all.size(); i += 777)
        out.Append(std::string_view(all).substr(i, 777));
      const Captured captured = out.Finish(share);
      EXPECT_LE(captured.text.size(), share);
      EXPECT_GT(captured.text.size(), share / 2);
      const std::string head = captured.text.substr(0, captured.text.find("[... "));
      const std::string tail = captured.text.substr(captured.text.find(" ...]\n") + 6);
      EXPECT_TRUE(all.starts_with(head));
      EXPECT_TRUE(all.ends_with(tail));
      EXPECT_GT(head.size(), tail.size() / 2);
      EXPECT_EQ(captured.omitted_bytes, all.size() - head.size() - tail.size());
      const auto kept =
          std::count(head.begin(), head.end(), '\n') + std::count(tail.begin(), tail.end(), '\n');
      EXPECT_EQ(captured.omitted_lines, 600u - static_cast<std::uint64_t>(kept));
      EXPECT_EQ(Stored(captured), all);
    }
  }
}

std::size_t ResidentKib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return resident * 4;
}

TEST_F(CapturedOutputTest, AFloodLeavesMemoryFlat) {
  CapturedOutput out(store_, {.inline_bytes = 24 << 10, .total_bytes = 8 << 20}, "x");
  const std::string chunk(1 << 20, 'x');
  out.Append(chunk);
  const std::size_t before = ResidentKib();
  for (int i = 1; i < 128; ++i) out.Append(chunk);
  EXPECT_LT(ResidentKib(), before + 1024);
  EXPECT_EQ(Finish(out).total_bytes, 128u << 20);
}

}  // namespace
}  // namespace pa
