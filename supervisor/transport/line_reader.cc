#include "supervisor/transport/line_reader.h"

#include <algorithm>
#include <new>
#include <utility>

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
  try {
    buffer_.append(bytes);
  } catch (const std::bad_alloc&) {
    // All lines that are whole were taken, so this is a part of one.
    no_memory_ = true;
    Drop(buffer_.size());
    buffer_ = std::string();
    start_ = scanned_ = 0;
    buffer_.append(bytes);
  }
}

std::optional<LineReader::Line> LineReader::Next() {
  while (true) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    const std::size_t end = std::min(newline, buffer_.size());
    if (too_long_ || end - start_ > limit_) Drop(end);
    scanned_ = end;
    if (newline == std::string::npos) return std::nullopt;
    const auto line = std::string_view(buffer_).substr(start_, end - start_);
    start_ = scanned_ = newline + 1;
    if (std::exchange(too_long_, false)) {
      return Line{.text = {},
                  .too_long = true,
                  .no_memory = std::exchange(no_memory_, false),
                  .outlines = scanner_.Take()};
    }
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      return Line{.text = WithoutReturn(line)};
    }
  }
}

void LineReader::Drop(std::size_t end) {
  scanner_.Feed(std::string_view(buffer_).substr(start_, end - start_));
  too_long_ = true;
  start_ = end;
}

void LineReader::End() {
  if (too_long_ || start_ < buffer_.size()) Append("\n");
}

}  // namespace pa
