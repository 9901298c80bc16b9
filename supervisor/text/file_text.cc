#include "supervisor/text/file_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kUtf8Character = 4;  // bytes at most
// Of a line, what can be shown and two bytes more: the last may be the carriage return before the
// line's end, and the other shows all the same that there are more.
constexpr std::size_t kRoom = FileText::kMaxCharacters * kUtf8Character + 2;

struct Magic {
  std::string_view bytes;  // at the beginning
  FileKind kind;
  std::string_view at_8 = {};
};

constexpr Magic kMagics[] = {
    {"\x89PNG\r\n\x1a\n"sv, {"PNG image", "image/png"}},
    {"\xFF\xD8\xFF"sv, {"JPEG image", "image/jpeg"}},
    {"GIF8"sv, {"GIF image", "image/gif"}},
    {"RIFF"sv, {"WebP image", "image/webp"}, "WEBP"sv},
    {"\x7F"
     "ELF"sv,
     {"ELF program or library", ""}},
    {"%PDF-"sv, {"PDF document", ""}},
    {"PK\x03\x04"sv, {"zip archive", ""}},
    {"\x1F\x8B"sv, {"gzip data", ""}},
    {"\xFD"
     "7zXZ\0"sv,
     {"xz data", ""}},
    {"\x28\xB5\x2F\xFD"sv, {"zstd data", ""}},
    {"SQLite format 3\0"sv, {"SQLite database", ""}},
    {"!<arch>\n"sv, {"ar archive", ""}},
};

struct Mark {
  std::string_view bytes;
  FileText::Encoding encoding;
};

constexpr Mark kMarks[] = {{"\xEF\xBB\xBF"sv, FileText::Encoding::kUtf8Bom},
                           {"\xFF\xFE"sv, FileText::Encoding::kUtf16Le},
                           {"\xFE\xFF"sv, FileText::Encoding::kUtf16Be}};

// A text may begin like anything.
bool IsText(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos &&
         IsValidUtf8(bytes.substr(0, bytes.size() - UnfinishedCharacter(bytes)));
}

// How many bytes the first `characters` have; what is invalid counts as U+FFFD does.
std::size_t BytesOf(std::string_view line, std::size_t characters) {
  std::size_t end = 0;
  for (std::size_t n = 0; n < characters && end < line.size(); ++n) {
    std::size_t invalid = 0;
    const std::size_t length = Utf8SequenceLength(line.substr(end), &invalid);
    end += length > 0 ? length : invalid;
  }
  return end;
}

}  // namespace

std::optional<FileKind> KindOf(std::string_view beginning) {
  const auto* found = std::ranges::find_if(kMagics, [&](const Magic& magic) {
    return beginning.starts_with(magic.bytes) &&
           beginning.substr(std::min<std::size_t>(8, beginning.size())).starts_with(magic.at_8);
  });
  if (found == std::end(kMagics)) return std::nullopt;
  return found->kind;
}

const char* FileText::EncodingName() const {
  switch (encoding_) {
    case Encoding::kUtf8:
      return "utf-8";
    case Encoding::kUtf8Bom:
      return "utf-8-bom";
    case Encoding::kUtf16Le:
      return "utf-16le";
    case Encoding::kUtf16Be:
      return "utf-16be";
    case Encoding::kUnknown8Bit:
      return "unknown-8bit";
    case Encoding::kBinary:
      return "binary";
  }
  return "";
}

void FileText::Feed(std::string_view bytes) {
  hash_.Update(bytes);
  size_ += bytes.size();
  if (decided_) return Decode(bytes);
  head_ += bytes;
  if (head_.size() >= kLook) Decide();
}

bool FileText::EndsEarly() const {
  const bool full = full_ || lines_.size() == window_.limit;
  return decided_ && encoding_ != Encoding::kBinary && window_.from_end == 0 && full;
}

void FileText::End() {
  if (!decided_) Decide();
  if (utf16_) TakeText(utf16_->End());
  if (!tail_.empty()) encoding_ = Encoding::kUnknown8Bit;
  if (line_bytes_ > 0) EndLine();
  if (window_.from_end > 0) ShowTail();
  sha256_ = Hex(hash_.Finish());
}

void FileText::Decide() {
  decided_ = true;
  const std::string head = std::move(head_);
  std::string_view text = head;
  for (const Mark& mark : kMarks) {
    if (!text.starts_with(mark.bytes)) continue;
    encoding_ = mark.encoding;
    text.remove_prefix(mark.bytes.size());
    break;
  }
  if (encoding_ == Encoding::kUtf16Le) utf16_.emplace(Utf16Decoder::kLittleEndian);
  if (encoding_ == Encoding::kUtf16Be) utf16_.emplace(Utf16Decoder::kBigEndian);
  // Not more than others would have looked at, who came with other portions.
  const std::string_view look = text.substr(0, kLook - (head.size() - text.size()));
  if (!utf16_ && look.find('\0') != std::string_view::npos) encoding_ = Encoding::kBinary;
  if (std::optional<FileKind> kind = KindOf(head); kind && !IsText(look)) {
    kind_ = kind;
    encoding_ = Encoding::kBinary;
  }
  Decode(text);
}

void FileText::Decode(std::string_view bytes) {
  if (encoding_ == Encoding::kBinary) {
    const bool wanted = kind_ && !kind_->image.empty() && size_ <= kMaxImageBytes;
    if (wanted) image_ += bytes;
    if (!wanted) image_.clear();
    return;
  }
  if (utf16_) return TakeText(utf16_->Feed(bytes));
  if (encoding_ != Encoding::kUnknown8Bit) CheckUtf8(bytes);
  TakeText(bytes);
}

void FileText::CheckUtf8(std::string_view bytes) {
  std::string joined;
  if (!tail_.empty()) {
    joined = std::move(tail_).append(bytes);
    bytes = joined;
  }
  const std::size_t unfinished = UnfinishedCharacter(bytes);
  if (!IsValidUtf8(bytes.substr(0, bytes.size() - unfinished))) {
    encoding_ = Encoding::kUnknown8Bit;
    tail_.clear();
    return;
  }
  tail_ = bytes.substr(bytes.size() - unfinished);
}

void FileText::TakeText(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    AddToLine(text.substr(0, end));
    if (end == std::string_view::npos) return;
    line_bytes_ += 1;
    EndLine();
    text.remove_prefix(end + 1);
  }
}

bool FileText::Wants() const {
  if (window_.from_end > 0) return !lost_;
  const std::uint64_t line = total_ + 1;
  return !full_ && line >= window_.offset && line - window_.offset < window_.limit;
}

void FileText::AddToLine(std::string_view part) {
  const std::uint64_t before = window_.column - 1;
  const std::uint64_t skip = before - std::min(before, line_bytes_);
  line_bytes_ += part.size();
  if (!Wants() || skip >= part.size()) return;
  part.remove_prefix(skip);
  line_ += part.substr(0, kRoom - std::min(kRoom, line_.size()));
}

void FileText::EndLine() {
  if (window_.from_end > 0) {
    KeepTail();
  } else if (Wants()) {
    KeepLine();
  }
  ++total_;
  line_.clear();
  line_bytes_ = 0;
}

void FileText::KeepTail() {
  if (lost_) return;
  end_bytes_ += line_.size();
  end_.push_back({std::move(line_), line_bytes_});
  if (end_.size() > window_.from_end) {
    end_bytes_ -= end_.front().text.size();
    end_.pop_front();
  }
  lost_ = end_bytes_ > kMaxTail;
  if (lost_) end_.clear();
}

void FileText::ShowTail() {
  window_.offset = total_ - end_.size() + 1;
  for (Line& line : end_) {
    if (full_ || lines_.size() == window_.limit) break;
    line_ = std::move(line.text);
    line_bytes_ = line.bytes;
    KeepLine();
  }
  end_.clear();
}

void FileText::KeepLine() {
  if (line_.ends_with('\r')) line_.pop_back();  // of a longer line its loss hides nothing: kRoom
  const std::size_t end = BytesOf(line_, kMaxCharacters);
  std::string shown = RepairUtf8(std::string_view(line_).substr(0, end));
  const bool long_line = end < line_.size();
  if (long_line) {
    shown += fmt::format("... (a line of {} bytes, it goes on at column {})", line_bytes_,
                         window_.column + end);
  }
  full_ = kept_bytes_ + kNumberBytes + shown.size() > window_.bytes && !lines_.empty();
  cut_ = cut_ || full_ || long_line;
  if (full_) return;
  kept_bytes_ += kNumberBytes + shown.size();
  lines_.push_back(std::move(shown));
}

}  // namespace pa
