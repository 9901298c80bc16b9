#include "supervisor/line_reader.h"

namespace pa {
namespace {

// Beyond this, the memory of one long line is given back.
constexpr std::size_t kKeepCapacity = 256u << 10;

std::string_view WithoutReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

void LineReader::Append(std::string_view bytes) {
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  if (buffer_.empty() && buffer_.capacity() > kKeepCapacity) buffer_ = std::string();
  buffer_.append(bytes);
}

std::optional<LineReader::Line> LineReader::Next() {
  while (true) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) return Unfinished();
    const auto line = std::string_view(buffer_).substr(start_, newline - start_);
    start_ = scanned_ = newline + 1;
    if (skipping_) {
      skipping_ = false;
    } else if (line.size() > limit_) {
      return Line{.text = {}, .too_long = true};
    } else if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      return Line{.text = WithoutReturn(line)};
    }
  }
}

// No newline in sight: nothing to report, unless the line is too long already.
std::optional<LineReader::Line> LineReader::Unfinished() {
  scanned_ = buffer_.size();
  const bool too_long = !skipping_ && buffer_.size() - start_ > limit_;
  if (too_long) skipping_ = true;
  if (skipping_) start_ = scanned_;
  return too_long ? std::optional(Line{.text = {}, .too_long = true}) : std::nullopt;
}

void LineReader::End() {
  if (start_ < buffer_.size() && buffer_.back() != '\n') Append("\n");
}

}  // namespace pa
