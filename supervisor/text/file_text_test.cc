#include "supervisor/text/file_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "base/utf8.h"

namespace pa {
namespace {

using Lines = std::vector<std::string>;

FileText Text(std::string_view bytes, FileText::Window window = {}, std::size_t step = 0) {
  FileText text(window);
  if (step == 0) step = std::max<std::size_t>(1, bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += step) text.Feed(bytes.substr(at, step));
  text.End();
  return text;
}

Lines Shown(const FileText& text) { return {text.lines().begin(), text.lines().end()}; }

std::string Numbers(int last) {
  std::string text;
  for (int i = 1; i <= last; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(FileTextTest, LinesWithAndWithoutTheirEnds) {
  EXPECT_EQ(Shown(Text("a\nb\n")), (Lines{"a", "b"}));
  EXPECT_EQ(Shown(Text("a\r\nb")), (Lines{"a", "b"}));
  EXPECT_EQ(Shown(Text("\n\n")), (Lines{"", ""}));
  EXPECT_EQ(Text("a\nb").total_lines(), 2u);
  EXPECT_EQ(Text("a\nb\n").total_lines(), 2u);
  EXPECT_EQ(Text("").total_lines(), 0u);
  EXPECT_EQ(Text("abc").sha256(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Text("abc").size(), 3u);
}

TEST(FileTextTest, AWindowOfIt) {
  const std::string text = Numbers(10'000);
  const auto window = [&](std::uint64_t offset, std::size_t limit) {
    return Text(text, {.offset = offset, .limit = limit});
  };
  EXPECT_EQ(Shown(window(1, 2)), (Lines{"1", "2"}));
  EXPECT_EQ(Shown(window(9'999, 5)), (Lines{"9999", "10000"}));
  EXPECT_EQ(Shown(window(10'001, 5)), Lines{});
  EXPECT_EQ(window(10'001, 5).first_line(), 10'001u);
  EXPECT_EQ(window(10'001, 5).total_lines(), 10'000u);
  EXPECT_EQ(Shown(window(1, 0)), Lines{});
  EXPECT_EQ(window(1, 0).total_lines(), 10'000u);
}

TEST(FileTextTest, ACarriageReturnWhereALineIsCutIsNoEnd) {
  std::string full;
  for (std::size_t i = 0; i < FileText::kMaxCharacters; ++i) full += "\U0001F600";
  for (std::size_t more = 0; more < 4; ++more) {
    const std::string line = full + std::string(more, 'b') + "\r";
    const auto cut = [&](const std::string& end) {
      return Text(line + end).lines().front().contains("it goes on at column 8001)");
    };
    EXPECT_TRUE(cut("rest\n")) << more;
    EXPECT_EQ(cut("\n"), more > 0) << more;
  }
  EXPECT_EQ(Shown(Text(full + "\r\n")), Lines{full});
}

TEST(FileTextTest, LongLinesAreCutByCharacters) {
  std::string line;
  for (int i = 0; i < 2000; ++i) line += "\u20AC";
  EXPECT_EQ(Shown(Text(line + "\n")), Lines{line});
  EXPECT_FALSE(Text(line + "\n").cut());
  const FileText cut = Text(line + "x\n");
  EXPECT_EQ(Shown(cut), Lines{line + "... (a line of 6002 bytes, it goes on at column 6001)"});
  EXPECT_TRUE(cut.cut());
  const FileText longer = Text(std::string(1'000'000, 'x') + "\ny", {}, 4096);
  EXPECT_EQ(Shown(longer), (Lines{std::string(2000, 'x') +
                                      "... (a line of 1000001 bytes, it goes on at column 2001)",
                                  "y"}));
}

// By the columns that it names, a line can be read to its end, whatever its bytes.
TEST(FileTextTest, ALongLineGoesOnAtItsColumn) {
  std::string line;
  for (int i = 0; i < 3000; ++i) line += i % 7 == 0 ? "\u20AC" : i % 11 == 0 ? "\xE9" : "x";
  for (const std::size_t step : {1u, 100u, 65'536u}) {
    std::string whole;
    std::uint64_t column = 1;
    for (int part = 0; part < 2; ++part) {
      const FileText text =
          Text("short\n" + line + "\nlast", {.offset = 2, .column = column}, step);
      EXPECT_EQ(text.lines().size(), 2u);
      EXPECT_EQ(text.lines().at(1), part == 0 ? "last" : "");
      const std::string& shown = text.lines().at(0);
      const std::size_t end = shown.find("... (");
      whole += shown.substr(0, end);
      EXPECT_EQ(end != std::string::npos, part == 0);
      const std::size_t at = shown.rfind("column ");
      if (at != std::string::npos) column = std::stoull(shown.substr(at + 7));
    }
    EXPECT_EQ(whole, RepairUtf8(line)) << step;
  }
}

TEST(FileTextTest, AColumnCountsFromTheEndToo) {
  EXPECT_EQ(Shown(Text("abc\ndefg\nx\n", {.from_end = 2, .column = 3})), (Lines{"fg", ""}));
}

TEST(FileTextTest, NoMoreThanSoMuchAtOnce) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(1000, 'x') + "\n";
  const FileText some = Text(text);
  EXPECT_EQ(some.lines().size(), FileText::kMaxBytes / (1000 + FileText::kNumberBytes));
  EXPECT_TRUE(some.cut());
  EXPECT_EQ(some.total_lines(), 2000u);
}

TEST(FileTextTest, Encodings) {
  const auto encoding = [](std::string_view bytes) {
    return std::string(Text(bytes).EncodingName());
  };
  EXPECT_EQ(encoding(""), "utf-8");
  EXPECT_EQ(encoding("plain"), "utf-8");
  EXPECT_EQ(encoding("\xEF\xBB\xBFx"), "utf-8-bom");
  EXPECT_EQ(Shown(Text("\xEF\xBB\xBFx")), Lines{"x"});
  EXPECT_EQ(encoding(std::string("\xFF\xFEx\0", 4)), "utf-16le");
  EXPECT_EQ(Shown(Text(std::string("\xFF\xFEx\0\n\0y\0", 8))), (Lines{"x", "y"}));
  EXPECT_EQ(encoding(std::string("\xFE\xFF\0x", 4)), "utf-16be");
  EXPECT_FALSE(Text(std::string("\xFF\xFEx\0", 4)).repaired());
  EXPECT_TRUE(Text(std::string("\xFF\xFE\x3D\xD8x\0", 6)).repaired()) << "half a pair";
  EXPECT_TRUE(Text("caf\xE9\n").repaired());
  EXPECT_EQ(encoding("caf\xE9\n"), "unknown-8bit");
  EXPECT_EQ(Shown(Text("caf\xE9\n")), Lines{"caf\uFFFD"});
  EXPECT_EQ(encoding("caf\xC3"), "unknown-8bit") << "half a character at the end";
  EXPECT_EQ(encoding(std::string("a\0b", 3)), "binary");
  EXPECT_TRUE(Text(std::string("a\0b", 3)).lines().empty());
}

// However the bytes come, and wherever a character is cut.
TEST(FileTextTest, PortionsMakeNoDifference) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "\u20AC\U0001F600\u00E4 " + std::to_string(i) + "\r\n";
  const FileText whole = Text(text, {.offset = 500, .limit = 700});
  for (const std::size_t step : {1u, 2u, 3u, 5u, 7u, 4095u, 8191u}) {
    const FileText parts = Text(text, {.offset = 500, .limit = 700}, step);
    EXPECT_EQ(parts.lines(), whole.lines()) << step;
    EXPECT_EQ(parts.total_lines(), 3000u);
    EXPECT_EQ(parts.sha256(), whole.sha256());
    EXPECT_STREQ(parts.EncodingName(), "utf-8");
  }
}

TEST(FileTextTest, NorDoTheyAtTheEndOfWhatDecides) {
  for (const std::string& begin : std::vector<std::string>{"", "\xEF\xBB\xBF", "%PDF-"}) {
    for (std::size_t at = 7990; at < 8010; ++at) {
      std::string bytes = begin + std::string(20'000, 'x');
      bytes[at] = '\0';
      EXPECT_EQ(Text(bytes).encoding(), Text(bytes, {}, 100).encoding()) << at;
    }
  }
}

TEST(FileTextTest, WhateverTheBytesWhatIsShownIsUtf8) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 3000, '\0');
    for (char& c : bytes) c = static_cast<char>(round % 2 == 0 ? random() : 1 + random() % 255);
    for (const char* mark : {"", "\xFF\xFE", "\xFE\xFF", "\xEF\xBB\xBF"}) {
      const FileText text =
          Text(mark + bytes, {.offset = 1 + random() % 20, .limit = 20}, 1 + random() % 900);
      for (const std::string& line : text.lines()) EXPECT_TRUE(IsValidUtf8(line));
    }
  }
}

TEST(FileTextTest, KindsOfBinaries) {
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\x0d", 12);
  const FileText image = Text(png, {}, 3);
  EXPECT_EQ(image.kind()->image, "image/png");
  EXPECT_EQ(image.image(), png);
  EXPECT_EQ(Text(std::string("\x7F"
                             "ELF\0",
                             5))
                .kind()
                ->name,
            "ELF program or library");
  EXPECT_FALSE(Text(std::string("??\0", 3)).kind());
  EXPECT_EQ(Text(std::string("RIFF\x24\0\0\0WEBP", 12)).kind()->image, "image/webp");
  EXPECT_FALSE(Text(std::string("RIFF\x24\0\0\0WAVE", 12)).kind());
  EXPECT_FALSE(Text("%PDF- is how they begin\n").kind()) << "a text may begin like anything";
  EXPECT_STREQ(Text("GIF89a, and so on\n").EncodingName(), "utf-8");
  const FileText large = Text(png + std::string(FileText::kMaxImageBytes, 'x'), {}, 65'536);
  EXPECT_EQ(large.image(), "");
  EXPECT_EQ(large.kind()->image, "image/png");
}

FileText FromEnd(std::string_view bytes, std::uint64_t from_end, std::size_t limit = 2000) {
  FileText text({.limit = limit, .from_end = from_end});
  for (std::size_t at = 0; at < bytes.size(); at += 7) text.Feed(bytes.substr(at, 7));
  text.End();
  return text;
}

TEST(FileTextTest, TheLastLinesInOnePass) {
  const std::string bytes = "1\r\ntwo\n3\n\nfive";
  EXPECT_EQ(FromEnd(bytes, 1).lines(), Lines{"five"});
  EXPECT_EQ(FromEnd(bytes, 1).first_line(), 5u);
  EXPECT_EQ(FromEnd(bytes, 3).lines(), (Lines{"3", "", "five"}));
  EXPECT_EQ(FromEnd(bytes, 4, 2).lines(), (Lines{"two", "3"}));
  EXPECT_EQ(FromEnd(bytes, 4, 2).first_line(), 2u);
  EXPECT_EQ(FromEnd(bytes, 99).lines(), (Lines{"1", "two", "3", "", "five"}));
  EXPECT_EQ(FromEnd(bytes, 99).first_line(), 1u);
  EXPECT_EQ(FromEnd(bytes, 99).total_lines(), 5u);
  EXPECT_EQ(FromEnd("", 3).lines(), Lines());
  EXPECT_EQ(FromEnd("", 3).first_line(), 1u);
}

// Whatever is asked for, it is what one sees who has counted the lines before.
TEST(FileTextTest, TheLastLinesAreThoseThatCountingFinds) {
  std::string bytes;
  for (int i = 0; i < 300; ++i)
    bytes += std::string(static_cast<std::size_t>(i * 37 % 2500), 'x') + "\n";
  for (const std::uint64_t back : {1u, 2u, 17u, 299u, 300u, 301u}) {
    FileText counted({.offset = back >= 300 ? 1 : 300 - back + 1, .limit = 50});
    counted.Feed(bytes);
    counted.End();
    const FileText last = FromEnd(bytes, back, 50);
    EXPECT_EQ(last.lines(), counted.lines()) << back;
    EXPECT_EQ(last.first_line(), counted.first_line()) << back;
    EXPECT_EQ(last.sha256(), counted.sha256());
    EXPECT_FALSE(last.lost_the_end());
  }
}

TEST(FileTextTest, APartSufficesWhereTheWindowIsFull) {
  const auto ends_early = [](FileText::Window window, std::string_view part) {
    FileText text(window);
    text.Feed(part);
    return text.EndsEarly();
  };
  const std::string lines = [] {
    std::string all;
    for (int i = 0; i < 5000; ++i) all += "line " + std::to_string(i) + "\n";
    return all;
  }();
  EXPECT_TRUE(ends_early({.limit = 20}, lines));
  EXPECT_TRUE(ends_early({.offset = 4000, .limit = 20}, lines));
  EXPECT_FALSE(ends_early({.offset = 4990, .limit = 20}, lines)) << "the part ends before";
  EXPECT_FALSE(ends_early({.limit = 20}, lines.substr(0, 100))) << "the encoding is not known yet";
  EXPECT_FALSE(ends_early({.limit = 20, .from_end = 20}, lines));
  EXPECT_TRUE(ends_early({}, lines + lines)) << "so many bytes";
  EXPECT_FALSE(ends_early({.limit = 20}, std::string(9000, '\0') + lines)) << "binary";
}

TEST(FileTextTest, AnEndThatIsTooLargeIsNotKept) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += std::string(9000, 'x') + "\n";
  const FileText last = FromEnd(bytes, 900);
  EXPECT_TRUE(last.lost_the_end());
  EXPECT_TRUE(last.lines().empty());
  EXPECT_EQ(last.total_lines(), 1000u);
  EXPECT_FALSE(FromEnd(bytes, 100).lost_the_end());
}

}  // namespace
}  // namespace pa
