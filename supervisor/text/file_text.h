// FileText: takes the bytes of a file as they come, and keeps the lines that somebody wants to see,
// and facts about the whole file. However long the file is, only those lines are kept.
//
//    FileText text({.offset = 1, .limit = 20});
//    text.Feed(bytes); text.Feed(more); text.End();
//    for (const std::string& line : text.lines()) ...     // from text.first_line() on
//
// A byte order mark determines the encoding; without one, the bytes do. A file with a NUL near its
// beginning is binary, as for git and ripgrep. In a file that is not UTF-8, U+FFFD replaces the
// invalid bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/utf16.h"

namespace pa {

// The kind of a file that begins with these bytes, if it is known.
struct FileKind {
  std::string_view name;   // "ELF program", "PNG image"
  std::string_view image;  // "image/png", if clients can show it; "" = none
};
std::optional<FileKind> KindOf(std::string_view beginning);

class FileText {
 public:
  static constexpr std::size_t kMaxLines = 2000;
  static constexpr std::size_t kMaxCharacters = 2000;  // of a line
  // Of all lines that are shown, with their numbers: less than 25,000 tokens, above which Claude
  // Code shows a model an error in place of a result, even where a token has two bytes only.
  static constexpr std::size_t kMaxBytes = 48U << 10;
  static constexpr std::size_t kNumberBytes = 7;  // of a line's number and tab
  // Models accept so much; base64 adds a third.
  static constexpr std::size_t kMaxImageBytes = 4U << 20;

  enum class Encoding { kUtf8, kUtf8Bom, kUtf16Le, kUtf16Be, kUnknown8Bit, kBinary };

  struct Window {
    std::uint64_t offset = 1;  // of the first line
    std::size_t limit = kMaxLines;
    // If it is not 0, it replaces `offset`: so many lines before the end.
    std::uint64_t from_end = 0;
    std::uint64_t column = 1;       // the byte of each line at which it begins to be shown
    std::size_t bytes = kMaxBytes;  // of the lines, with kNumberBytes for each
  };
  explicit FileText(Window window) : window_(window) {}

  void Feed(std::string_view bytes);
  void End();
  // In place of End, after a part of the file: whether the window is full, so that the rest would
  // add nothing but facts about the whole file. Then there is no sha256, and total_lines is what
  // was seen. Otherwise the text is of no use.
  bool EndsEarly() const;

  // Call all of these after End.
  Encoding encoding() const { return encoding_; }
  // "utf-8", "utf-8-bom", "utf-16le", "utf-16be", "unknown-8bit" (RFC 1428), "binary".
  const char* EncodingName() const;
  // Whether U+FFFD replaces bytes that are invalid in that encoding.
  bool repaired() const {
    return encoding_ == Encoding::kUnknown8Bit || (utf16_ && !utf16_->valid());
  }
  const std::optional<FileKind>& kind() const { return kind_; }
  std::uint64_t size() const { return size_; }
  const std::string& sha256() const { return sha256_; }
  std::uint64_t total_lines() const { return total_; }
  // Without line ends. A line that is too long is cut; its last words say at which column it goes
  // on.
  const std::vector<std::string>& lines() const { return lines_; }
  // Whether a line is cut, or `bytes` ended the lines before the window did.
  bool cut() const { return cut_; }
  std::uint64_t first_line() const { return window_.offset; }  // of `lines`
  // The last `from_end` lines have too many bytes: none is shown. total_lines tells where they
  // begin.
  bool lost_the_end() const { return lost_; }
  const std::string& image() const { return image_; }  // the whole image; "" if it is too large

 private:
  static constexpr std::size_t kMaxTail = 4U << 20;  // bytes of the last lines that are kept
  static constexpr std::size_t kLook = 8000;  // bytes that decide about the encoding, as in git

  void Decide();
  void Decode(std::string_view bytes);
  void CheckUtf8(std::string_view bytes);
  void TakeText(std::string_view text);
  bool Wants() const;
  void AddToLine(std::string_view part);
  void EndLine();
  void KeepLine();
  void KeepTail();
  void ShowTail();

  Window window_;
  Sha256 hash_;
  std::string sha256_;
  std::uint64_t size_ = 0;
  std::string head_;  // until the encoding is decided
  bool decided_ = false;
  std::optional<FileKind> kind_;
  Encoding encoding_ = Encoding::kUtf8;
  std::optional<Utf16Decoder> utf16_;
  std::string tail_;  // the beginning of an unfinished character
  std::string line_;
  std::uint64_t line_bytes_ = 0;  // of the whole line; `line_` holds a part, from the column on
  struct Line {
    std::string text;  // its beginning
    std::uint64_t bytes;
  };
  std::deque<Line> end_;  // the last lines so far
  std::size_t end_bytes_ = 0;
  bool lost_ = false;
  std::vector<std::string> lines_;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;
  bool cut_ = false;
  std::uint64_t total_ = 0;
  std::string image_;
};

}  // namespace pa
