#include "supervisor/run/captured_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supervisor/text/count_line_ends.h"
#include "supervisor/text/escape_filter.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

// So that head, marker and tail together stay within inline_bytes.
constexpr std::size_t kMarkerRoom = 192;

// The longest prefix of at most `size` bytes that ends with a line, if that does not cost more than
// half of it; else with a character.
std::string_view CutHead(std::string_view text, std::size_t size) {
  text = text.substr(0, size);
  const std::size_t line = text.rfind('\n');
  if (line != std::string_view::npos && line >= text.size() / 2) return text.substr(0, line + 1);
  return text.substr(0, text.size() - UnfinishedCharacter(text));
}

// The same at the other end. There is always something before the last `size` bytes.
std::string_view CutTail(std::string_view text, std::size_t size) {
  text = text.substr(text.size() - std::min(size, text.size()));
  const std::size_t line = text.find('\n');
  if (line < text.size() / 2) return text.substr(line + 1);
  return text.substr(ContinuedCharacter(text));
}

std::string HumanSize(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB"}) {
    if (value < 1024) return fmt::format("{:.1f} {}", value, unit);
    value /= 1024;
  }
  return fmt::format("{:.1f} GiB", value);
}

// Of head and of tail, in so many bytes with a marker between them.
std::size_t HalfOf(std::uint64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  return (size > 2 * kMarkerRoom ? size - kMarkerRoom : size) / 2;
}

}  // namespace

std::uint64_t ShareOf(std::uint64_t budget, std::uint64_t mine, std::uint64_t other) {
  const std::uint64_t half = budget / 2;
  return std::min(mine, std::max(half, budget - std::min(budget, other)));
}

CapturedOutput::CapturedOutput(ResultStore& store, CaptureLimits limits, std::string name)
    : store_(store), limits_(limits), name_(std::move(name)), half_(HalfOf(limits.inline_bytes)) {}

void CapturedOutput::Append(std::string_view bytes) {
  total_bytes_ += bytes.size();
  if (overflowed_) return Overflow(bytes);
  head_.append(bytes);
  if (head_.size() > limits_.inline_bytes) Split(half_);
}

// It is too long: what stands in head_ becomes a head and the beginning of all else.
void CapturedOutput::Split(std::size_t half) {
  overflowed_ = true;
  BeginStore();
  const std::string all = std::exchange(head_, {});
  head_ = CutHead(all, half);
  Store(head_);
  Overflow(std::string_view(all).substr(head_.size()));
}

void CapturedOutput::Overflow(std::string_view bytes) {
  lines_after_head_ += CountLineEnds(bytes);
  Store(bytes);
  KeepTail(bytes);
}

void CapturedOutput::BeginStore() {
  Result<std::shared_ptr<StoredOutput>> stored = store_.Begin(limits_.total_bytes);
  if (!stored) {
    why_lost_ = stored.error().Message();
    return;
  }
  stored_ = std::move(*stored);
}

// A disk that refuses is no reason to fail the command: what is lost is counted and reported.
void CapturedOutput::Store(std::string_view bytes) {
  if (stored_ == nullptr) {
    lost_bytes_ += bytes.size();
    return;
  }
  (void)store_.Append(*stored_, bytes);
}

// Appends until the window is twice too large, then moves it: each byte is copied at most twice.
void CapturedOutput::KeepTail(std::string_view bytes) {
  if (bytes.size() >= half_) {
    tail_.assign(bytes.substr(bytes.size() - half_));
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

Captured CapturedOutput::Finish(std::uint64_t share) {
  Captured captured;
  captured.total_bytes = total_bytes_;
  const std::size_t half = std::min(half_, HalfOf(share));
  if (!overflowed_ && total_bytes_ > share) Split(half);
  if (!overflowed_) {
    captured.text = WithoutEscapes(head_);
    return captured;
  }
  const std::string_view head = CutHead(head_, half);
  lines_after_head_ += CountLineEnds(std::string_view(head_).substr(head.size()));
  head_.resize(head.size());
  const std::string_view tail = CutTail(tail_, half);
  captured.omitted_bytes = total_bytes_ - head_.size() - tail.size();
  captured.omitted_lines = lines_after_head_ - CountLineEnds(tail);
  captured.lost_bytes = stored_ ? stored_->lost() : lost_bytes_;
  captured.why_lost = stored_ ? stored_->why_lost() : why_lost_;
  if (stored_ && stored_->size() > 0) captured.uri = store_.Publish(std::move(stored_), name_);
  captured.text = WithoutEscapes(head_);
  if (!captured.text.empty() && !captured.text.ends_with('\n')) captured.text += '\n';
  captured.text += Marker(captured);
  captured.text += WithoutEscapes(tail);
  return captured;
}

std::string CapturedOutput::Marker(const Captured& captured) const {
  std::string size = HumanSize(captured.omitted_bytes);
  if (captured.omitted_lines > 0) {
    const char* noun = captured.omitted_lines == 1 ? "line" : "lines";
    size = fmt::format("{} {} ({})", captured.omitted_lines, noun, size);
  }
  std::string where = "the full text is lost";
  if (!captured.uri.empty() && captured.lost_bytes == 0) where = "full text: " + captured.uri;
  if (!captured.uri.empty() && captured.lost_bytes > 0) {
    where = fmt::format("first {}: {}", HumanSize(captured.total_bytes - captured.lost_bytes),
                        captured.uri);
  }
  return fmt::format("[... {} left out; {} ...]\n", size, where);
}

}  // namespace pa
