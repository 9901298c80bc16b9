// FileText: from the bytes of a file, as they come, to the lines that somebody wants to see, and
// what there is to say of the whole. However long the file is, kept are those lines alone.
//
//   FileText text({.offset = 1, .limit = 20});
//   text.Feed(bytes); text.Feed(more); text.End();
//   for (const std::string& line : text.lines()) ...     // from text.first_line() on
//
// The encoding is told from a byte order mark, else from the bytes: what has a NUL near its
// beginning is binary, as git and ripgrep have it, and what is no UTF-8 is shown with U+FFFD for
// what is not.
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

// A name of what the bytes begin with, or nothing. `image/...` for those that clients can show.
struct FileKind {
  std::string_view name;   // "ELF program", "PNG image"
  std::string_view image;  // "image/png"; "" = none
};
std::optional<FileKind> KindOf(std::string_view beginning);

class FileText {
 public:
  static constexpr std::size_t kMaxLines = 2000;
  static constexpr std::size_t kMaxCharacters = 2000;   // of a line
  static constexpr std::size_t kMaxBytes = 256U << 10;  // of all lines that are shown
  // What models take; in base64 it is a third more.
  static constexpr std::size_t kMaxImageBytes = 4U << 20;

  enum class Encoding { kUtf8, kUtf8Bom, kUtf16Le, kUtf16Be, kUnknown8Bit, kBinary };

  struct Window {
    std::uint64_t offset = 1;  // of the first line
    std::size_t limit = kMaxLines;
    std::uint64_t from_end =
        0;  // instead of `offset`, if it is not 0: so many lines before the end
  };
  explicit FileText(Window window) : window_(window) {}

  void Feed(std::string_view bytes);
  void End();

  // All of these after End.
  Encoding encoding() const { return encoding_; }
  // "utf-8", "utf-8-bom", "utf-16le", "utf-16be", "unknown-8bit" (RFC 1428), "binary".
  const char* EncodingName() const;
  // U+FFFD stands in what is shown for bytes that are none of that encoding.
  bool repaired() const {
    return encoding_ == Encoding::kUnknown8Bit || (utf16_ && !utf16_->valid());
  }
  const std::optional<FileKind>& kind() const { return kind_; }
  std::uint64_t size() const { return size_; }
  const std::string& sha256() const { return sha256_; }
  std::uint64_t total_lines() const { return total_; }
  // Without their ends; a line that is too long is cut, and says so.
  const std::vector<std::string>& lines() const { return lines_; }
  std::uint64_t first_line() const { return window_.offset; }  // of `lines`
  // There were too many bytes in so many lines before the end: nothing is shown, and total_lines
  // tells where they begin.
  bool lost_the_end() const { return lost_; }
  const std::string& image() const { return image_; }  // all of it, if it is not too large

 private:
  static constexpr std::size_t kMaxTail = 4U << 20;  // bytes that are kept of the end
  static constexpr std::size_t kLook = 8000;         // bytes that decide, as git has it

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
  std::string head_;  // until it is decided
  bool decided_ = false;
  std::optional<FileKind> kind_;
  Encoding encoding_ = Encoding::kUtf8;
  std::optional<Utf16Decoder> utf16_;
  std::string tail_;  // the beginning of a character
  std::string line_;
  std::uint64_t line_bytes_ = 0;  // of which `line_` holds the first
  struct Line {
    std::string text;  // the first of it
    std::uint64_t bytes;
  };
  std::deque<Line> end_;  // the last lines so far
  std::size_t end_bytes_ = 0;
  bool lost_ = false;
  std::vector<std::string> lines_;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;
  std::uint64_t total_ = 0;
  std::string image_;
};

}  // namespace pa
