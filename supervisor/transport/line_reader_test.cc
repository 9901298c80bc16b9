#include "supervisor/transport/line_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace pa {
namespace {

const std::string kTooLong = "<too long>";

std::vector<std::string> Drain(LineReader& reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.Next()) {
    lines.push_back(line->too_long ? kTooLong : std::string(line->text));
  }
  return lines;
}

// What comes out when `input` arrives in chunks of `size` bytes.
std::vector<std::string> InChunks(std::string_view input, std::size_t size, std::size_t limit) {
  LineReader reader(limit);
  std::vector<std::string> lines;
  for (; !input.empty(); input.remove_prefix(std::min(size, input.size()))) {
    reader.Append(input.substr(0, size));
    for (std::string& line : Drain(reader)) lines.push_back(std::move(line));
  }
  reader.End();
  for (std::string& line : Drain(reader)) lines.push_back(std::move(line));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, GivesTheSameLinesForEveryChunkSize) {
  const std::string input = "one\ntwo\r\n\n\r\nthree\rthree\n0123456789ABCDEF\nfour\nend";
  const Lines expected = {"one", "two", "three\rthree", kTooLong, "four", "end"};
  for (std::size_t size = 1; size <= input.size(); ++size) {
    EXPECT_EQ(InChunks(input, size, 15), expected) << "chunks of " << size;
  }
}

TEST(LineReader, TakesALineOfExactlyTheLimit) {
  EXPECT_EQ(InChunks("12345\n", 2, 5), Lines{"12345"});
  EXPECT_EQ(InChunks("123456\n", 2, 5), Lines{kTooLong});
}

TEST(LineReader, ReportsATooLongLineOnceAtItsEnd) {
  LineReader reader(4);
  reader.Append("123456");
  EXPECT_EQ(Drain(reader), Lines{});
  reader.Append("789");
  EXPECT_EQ(Drain(reader), Lines{});
  reader.Append("0\nnext\n");
  EXPECT_EQ(Drain(reader), (Lines{kTooLong, "next"}));
}

TEST(LineReader, ATooLongLineEndsWithTheInput) {
  EXPECT_EQ(InChunks("123456789", 3, 4), Lines{kTooLong});
}

TEST(LineReader, SaysWhoWaitsForAnAnswerToATooLongLine) {
  const std::string line =
      R"({"id":1,"method":"m","params":")" + std::string(200, 'x') + R"(","id":22})";
  const std::string input = line + "\n" + line + "\nnext\n";
  for (std::size_t size = 1; size <= line.size(); ++size) {
    LineReader reader(100);
    std::vector<std::string> ids;
    for (std::string_view rest = input; !rest.empty();
         rest.remove_prefix(std::min(size, rest.size()))) {
      reader.Append(rest.substr(0, size));
      while (const auto next = reader.Next()) {
        ids.push_back(next->too_long ? next->outlines.at(0).id->token() : std::string(next->text));
      }
    }
    EXPECT_EQ(ids, (Lines{"22", "22", "next"})) << "chunks of " << size;
  }
}

TEST(LineReader, KeepsLinesThatWereNotPulledYet) {
  LineReader reader(100);
  reader.Append("a\nb\nc");
  EXPECT_EQ(reader.Next()->text, "a");
  reader.Append("d\n");
  EXPECT_EQ(Drain(reader), (Lines{"b", "cd"}));
}

TEST(LineReader, HoldsNulAndBytesThatAreNoUtf8) {
  const std::string input("a\0b\xff\n", 5);
  EXPECT_EQ(InChunks(input, 1, 100), Lines{std::string("a\0b\xff", 4)});
}

TEST(LineReader, EndAddsNothingAfterANewline) {
  LineReader reader(100);
  reader.Append("a\n");
  reader.End();
  EXPECT_EQ(Drain(reader), Lines{"a"});
}

}  // namespace
}  // namespace pa
