#include "supervisor/mcp/progress.h"

#include "base/json_writer.h"
#include "base/utf8.h"
#include "base/words.h"
#include "supervisor/transport/rpc.h"

namespace pa {
namespace {

// Room for kMaxCharacters of four bytes each and for the colours among them.
constexpr std::size_t kKeep = 4096;

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

constexpr char kEscape = '\x1b';

bool IsFinalByte(char c) { return c >= 0x40 && c <= 0x7e; }

// Length of the control string (OSC, DCS, ...) that begins at text[0..1]: to BEL or ESC \ .
std::size_t ControlStringLength(std::string_view text) {
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] == '\a') return i + 1;
    if (text[i] == kEscape) return std::min(i + 2, text.size());
  }
  return text.size();
}

// Length of the escape sequence that `text` begins with (ECMA-48); what is cut off counts whole.
std::size_t EscapeLength(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (std::string_view("]PX^_").contains(text[1])) return ControlStringLength(text);
  if (text[1] != '[') {
    std::size_t i = 1;
    while (i < text.size() && text[i] >= 0x20 && text[i] <= 0x2f) ++i;
    return std::min(i + 1, text.size());
  }
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (IsFinalByte(text[i])) return i + 1;
    if (text[i] < 0x20) return i;  // broken off by a control character
  }
  return text.size();
}

// C1 controls (U+0080 to U+009F) in UTF-8, and the characters that end a line or turn its
// direction.
bool IsInvisible(std::string_view sequence) {
  if (sequence.size() == 1) {
    const auto byte = static_cast<unsigned char>(sequence[0]);
    return byte < 0x20 || byte == 0x7f;
  }
  if (sequence.size() == 2) {
    return sequence[0] == '\xc2' && static_cast<unsigned char>(sequence[1]) < 0xa0;
  }
  if (sequence.size() != 3) return false;
  const auto last = static_cast<unsigned char>(sequence[2]);
  return (sequence.starts_with("\xe2\x80") && last >= 0xa8 && last <= 0xae) ||  // U+2028 to U+202E
         (sequence.starts_with("\xe2\x81") && last >= 0xa6 && last <= 0xa9);    // U+2066 to U+2069
}

uv_timer_t* NewTimer(uv_loop_t* loop, void* owner) {
  auto* timer = new uv_timer_t;
  uv_timer_init(loop, timer);
  timer->data = owner;
  return timer;
}

void CloseTimer(uv_timer_t* timer) {
  uv_close(reinterpret_cast<uv_handle_t*>(timer),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
}

}  // namespace

// Only the end of `bytes` is looked at: a megabyte of output costs no more than its last line.
void LatestLine::Append(std::string_view bytes) {
  const std::size_t newline = bytes.rfind('\n');
  if (newline == std::string_view::npos) return Open(bytes);
  std::string_view ended = bytes.substr(0, newline);
  std::size_t previous = ended.rfind('\n');
  while (previous != std::string_view::npos && IsBlank(ended.substr(previous + 1))) {
    ended = ended.substr(0, previous);
    previous = ended.rfind('\n');
  }
  if (previous != std::string_view::npos) {
    Restart();
    ended.remove_prefix(previous + 1);
  }
  Open(ended);
  Complete();
  Open(bytes.substr(newline + 1));
}

// `50%\r60%\r`: a terminal shows the last part that has something in it.
void LatestLine::Open(std::string_view bytes) {
  if (bytes.empty()) return;
  std::string_view part = bytes;
  while (part.ends_with('\r')) part.remove_suffix(1);
  const std::size_t previous = part.rfind('\r');
  if (previous != std::string_view::npos) part.remove_prefix(previous + 1);
  if (!part.empty() && (anew_ || previous != std::string_view::npos)) open_.clear();
  anew_ = bytes.ends_with('\r') || (anew_ && part.empty());
  if (open_.size() < kKeep) open_.append(part.substr(0, kKeep - open_.size()));
}

// The line has ended.
void LatestLine::Complete() {
  if (!IsBlank(open_)) complete_ = std::move(open_);
  Restart();
}

void LatestLine::Restart() {
  open_.clear();
  anew_ = false;
}

std::string DisplayLine(std::string_view raw) {
  std::string text;
  while (!raw.empty()) {
    if (raw[0] == kEscape) {
      raw.remove_prefix(EscapeLength(raw));
      continue;
    }
    std::size_t invalid = 0;
    const std::size_t length = Utf8SequenceLength(raw, &invalid);
    const std::string_view sequence = raw.substr(0, length);
    if (length == 0) {
      text += "\uFFFD";
    } else if (sequence == "\t") {
      text += ' ';
    } else if (!IsInvisible(sequence)) {
      text += sequence;
    }
    raw.remove_prefix(length == 0 ? invalid : length);
  }
  return std::string(Utf8Prefix(Trimmed(text, " "), ProgressNotifier::kMaxCharacters));
}

ProgressNotifier::ProgressNotifier(uv_loop_t* loop, Transport& transport, std::string token,
                                   std::function<std::string()> waits,
                                   std::chrono::milliseconds heartbeat)
    : transport_(transport),
      token_(std::move(token)),
      started_(uv_now(loop)),
      waits_(std::move(waits)),
      timer_(NewTimer(loop, this)),
      beat_(NewTimer(loop, this)) {
  const auto beat = [](uv_timer_t* timer) { static_cast<ProgressNotifier*>(timer->data)->Beat(); };
  const auto every = static_cast<std::uint64_t>(heartbeat.count());
  uv_timer_start(beat_, beat, every, every);
  // What the call waits for keeps the loop going.
  uv_unref(reinterpret_cast<uv_handle_t*>(beat_));
}

ProgressNotifier::~ProgressNotifier() {
  CloseTimer(timer_);
  CloseTimer(beat_);
}

void ProgressNotifier::Silence() {
  silent_ = true;
  uv_timer_stop(beat_);
}

void ProgressNotifier::OnOutput(Stream stream, std::string_view bytes) {
  if (silent_ || bytes.empty()) return;
  lines_[static_cast<std::size_t>(stream)].Append(bytes);
  latest_ = stream;
  bytes_ += bytes.size();
  fresh_ = true;
  if (!waiting_) Notify();
}

// Sends the latest line, unless there is none; then nothing more for kInterval.
void ProgressNotifier::Notify() {
  if (silent_ || !fresh_) return;
  if (transport_.gate().closed()) return Arm();
  fresh_ = false;
  const std::string message = DisplayLine(lines_[static_cast<std::size_t>(latest_)].text());
  if (message.empty()) return;
  Send(message);
  Arm();
}

void ProgressNotifier::Beat() {
  if (transport_.gate().closed()) return;
  const std::string waits = waits_ ? waits_() : "";
  const std::uint64_t seconds = (uv_now(beat_->loop) - started_ + 500) / 1000;
  ++beats_;
  Send(waits.empty() ? "still running, " + std::to_string(seconds) + " s" : waits);
}

void ProgressNotifier::Send(std::string_view message) {
  JsonWriter params;
  params.BeginObject().Key("progressToken").Raw(token_);
  params.Field("progress", bytes_ + beats_).Field("message", message).EndObject();
  transport_.Send(rpc::NotificationLine("notifications/progress", std::move(params).Take()));
  uv_timer_again(beat_);
}

void ProgressNotifier::Arm() {
  waiting_ = true;
  const auto expire = [](uv_timer_t* timer) {
    auto* self = static_cast<ProgressNotifier*>(timer->data);
    self->waiting_ = false;
    self->Notify();
  };
  uv_timer_start(timer_, expire, static_cast<std::uint64_t>(kInterval.count()), 0);
}

}  // namespace pa
