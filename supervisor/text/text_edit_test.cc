#include "supervisor/text/text_edit.h"

#include <gtest/gtest.h>

#include <random>

namespace pa {
namespace {

using enum FileText::Encoding;
using namespace std::string_literals;

std::string Replace(const std::string& text, std::string_view from, std::string_view to,
                    bool all = false) {
  const auto edited = ReplaceText(text, kUtf8, {from, to, all});
  return edited ? edited->bytes : "no single match, but " + std::to_string(edited.error().count);
}

TEST(TextEditTest, WhatIsThereOnce) {
  EXPECT_EQ(Replace("a b c\n", "b", "x"), "a x c\n");
  EXPECT_EQ(Replace("abc", "abc", ""), "");
  EXPECT_EQ(Replace("a\nb\nc", "a\nb\n", "x\n"), "x\nc");
  EXPECT_EQ(Replace("a\n", "b", "x"), "no single match, but 0");
  EXPECT_EQ(Replace("a a\n", "a", "x"), "no single match, but 2");
  EXPECT_EQ(Replace("aaa", "aa", "x"), "no single match, but 2") << "one overlaps the other";
  EXPECT_EQ(Replace("", "a", "x"), "no single match, but 0");
}

TEST(TextEditTest, AllOfThem) {
  EXPECT_EQ(Replace("a b a\n", "a", "xx", true), "xx b xx\n");
  EXPECT_EQ(Replace("aaaa", "aa", "b", true), "bb");
  EXPECT_EQ(Replace("aaa", "aa", "b", true), "ba");
  EXPECT_EQ(ReplaceText("a b a", kUtf8, {"a", "x", true})->count, 2u);
}

TEST(TextEditTest, WhereTheyAre) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "x\ny\n";
  const NoSingleMatch none = ReplaceText(text, kUtf8, {"x", "z"}).error();
  EXPECT_EQ(none.count, 30u);
  ASSERT_EQ(none.lines.size(), NoSingleMatch::kMaxPlaces);
  EXPECT_EQ(none.lines[0], 1u);
  EXPECT_EQ(none.lines[19], 39u);
}

TEST(TextEditTest, LineEndsStayWhatTheyAre) {
  EXPECT_EQ(Replace("a\r\nb\r\nc\r\n", "a\nb", "a\nx"), "a\r\nx\r\nc\r\n");
  EXPECT_EQ(Replace("a\r\nb\r\n", "a\nb\n", "a\nnew\nb\n"), "a\r\nnew\r\nb\r\n");
  EXPECT_EQ(Replace("a\nb\r\nc\n", "a\nb\nc", "a\nB\nc"), "a\nB\r\nc\n");
  EXPECT_EQ(Replace("a\nb\r\nc\n", "b", "b\nb2"), "a\nb\r\nb2\r\nc\n");
  EXPECT_EQ(Replace("a\r\nlast", "last", "last\nmore"), "a\r\nlast\r\nmore");
  EXPECT_EQ(Replace("only", "only", "only\nmore"), "only\nmore");
  EXPECT_EQ(Replace("a\nb\n", "b", "x\r\ny"), "a\nx\r\ny\n") << "as it was given";
  EXPECT_EQ(Replace("a\r\nb\r\n", "a\r\nb", "a\r\nc"), "a\r\nc\r\n");
  EXPECT_EQ(Replace("a\r\nb", "a", "a\n"), "a\r\n\r\nb");
  EXPECT_EQ(Replace("a\r\r\nb", "a\r\nb", "c"), "no single match, but 0");
  EXPECT_EQ(Replace("a\rb\r\n", "b", "c"), "a\rc\r\n");
}

TEST(TextEditTest, ALastLineWithoutAnEnd) {
  EXPECT_EQ(Replace("a\nb", "b", "c"), "a\nc");
  EXPECT_EQ(Replace("a\nb", "b\n", "c\n"), "no single match, but 0");
}

std::string Utf16(std::string_view ascii, bool big, bool mark = true) {
  std::string bytes = mark ? (big ? "\xFE\xFF"s : "\xFF\xFE"s) : ""s;
  for (const char c : ascii) bytes += big ? "\0"s + c : c + "\0"s;
  return bytes;
}

TEST(TextEditTest, OtherEncodings) {
  for (const bool big : {false, true}) {
    const auto encoding = big ? kUtf16Be : kUtf16Le;
    EXPECT_EQ(ReplaceText(Utf16("a\r\nb\r\n", big), encoding, {"a\nb", "a\nx\ny"})->bytes,
              Utf16("a\r\nx\r\ny\r\n", big));
    const std::string odd = Utf16("ab", big) + "z";
    EXPECT_EQ(ReplaceText(odd, encoding, {"b", "c"})->bytes, Utf16("ac", big) + "z");
    // U+1F600, and U+6161, whose halves stand one after the other in U+0061.
    const std::string face = big ? "\xD8\x3D\xDE\x00"s : "\x3D\xD8\x00\xDE"s;
    EXPECT_EQ(ReplaceText(Utf16("a", big) + face, encoding, {"a\xF0\x9F\x98\x80", "b"})->bytes,
              Utf16("b", big));
    EXPECT_EQ(ReplaceText(Utf16("a", big), encoding, {"a", "\xF0\x9F\x98\x80"})->bytes,
              Utf16("", big) + face);
    EXPECT_FALSE(ReplaceText(Utf16("a", big) + "aaaa", encoding, {"a\xE6\x84\x80", "b"}));
  }
  EXPECT_EQ(ReplaceText("\xEF\xBB\xBF"
                        "a",
                        kUtf8Bom, {"a", "b"})
                ->bytes,
            "\xEF\xBB\xBF"
            "b");
  EXPECT_EQ(ReplaceText("\xE4 a \xFF", kUnknown8Bit, {"a", "b"})->bytes, "\xE4 b \xFF");
}

// Whatever the file and the passage are: all that stands outside the match is there afterwards,
// byte for byte.
TEST(TextEditTest, NoByteOutsideTheMatchChanges) {
  std::mt19937 random(4);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  int changed = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto encoding = std::array{kUtf8, kUtf8Bom, kUtf16Le, kUtf16Be, kUnknown8Bit}[below(5)];
    const bool wide = encoding == kUtf16Le || encoding == kUtf16Be;
    const bool big = encoding == kUtf16Be;
    // Few letters, so that passages are there; line ends of each kind.
    const auto piece = [&](unsigned most) {
      static const std::string kPieces[] = {"a", "b", "\n", "\r\n", "\r", "ab"};
      std::string text;
      for (unsigned n = below(most); n > 0; --n) text += kPieces[below(6)];
      return text;
    };
    const std::string before = piece(12);
    const std::string from = "a" + piece(5) + "b";
    const std::string after = piece(12);
    const std::string to = piece(6);
    const auto encoded = [&](const std::string& text) {
      return wide ? Utf16(text, big, false) : text;
    };
    std::string mark = encoding == kUtf8Bom ? "\xEF\xBB\xBF" : wide ? Utf16("", big) : "";
    if (encoding == kUnknown8Bit) mark = "\xFF";
    const std::string file = mark + encoded(before) + encoded(from) + encoded(after);
    const auto edited = ReplaceText(file, encoding, {from, to});
    if (!edited) {
      EXPECT_GT(edited.error().count, 1u) << "it is there";
      continue;
    }
    ++changed;
    const std::string head = mark + encoded(before);
    ASSERT_TRUE(edited->bytes.starts_with(head));
    ASSERT_TRUE(edited->bytes.ends_with(encoded(after)));
    ASSERT_GE(edited->bytes.size(), head.size() + encoded(after).size());
    const std::string middle = edited->bytes.substr(
        head.size(), edited->bytes.size() - head.size() - encoded(after).size());
    const auto letters = [](std::string text) {
      std::erase_if(text, [](char c) { return c == '\r' || c == '\0'; });
      return text;
    };
    EXPECT_EQ(letters(middle), letters(to));
  }
  EXPECT_GT(changed, 5000);
}

TEST(TextEditTest, LargeAndPeriodicTextsAreNoTrouble) {
  const std::string text(4'000'000, 'a');
  const std::string from = std::string(1'000'000, 'a') + "b";
  EXPECT_EQ(Replace(text, from, "x"), "no single match, but 0");
}

TEST(NearestPassageTest, ShowsWhatIsDifferent) {
  const std::string text = "one\nint main() {\n  return 0;\n}\ntwo\n";
  EXPECT_EQ(NearestPassage(text, "int main() {\n    return 0;\n}\n"),
            "--- lines 2 to 4 of the file\n+++ the argument 'old'\n@@ -1,3 +1,3 @@\n"
            " int main() {\n-  return 0;\n+    return 0;\n }\n");
  EXPECT_EQ(
      NearestPassage(text, "return 1;"),
      "--- lines 3 to 3 of the file\n+++ the argument 'old'\n@@ -1 +1 @@\n"
      "-  return 0;\n\\ No newline at end of file\n+return 1;\n\\ No newline at end of file\n");
  EXPECT_EQ(NearestPassage(text, "nothing like that at all"), "");
  EXPECT_EQ(NearestPassage("", "x"), "");
  EXPECT_EQ(NearestPassage("x", ""), "");
}

TEST(ShownTextTest, IsUtf8) {
  EXPECT_EQ(ShownText("\xEF\xBB\xBF"
                      "a\r\n",
                      kUtf8Bom),
            "a\r\n");
  EXPECT_EQ(ShownText(Utf16("ab", true), kUtf16Be), "ab");
  EXPECT_EQ(ShownText("\xE4", kUnknown8Bit), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace pa
