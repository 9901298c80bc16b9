#include "supervisor/cli/terminal_view.h"

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/utf8.h"

namespace pa {
namespace {

constexpr unsigned char kEscape = 0x1b;
constexpr std::size_t kMaxSequence = 64;  // longer than any SGR that is meant as a colour

bool ColoursWanted(bool terminal) {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
  return terminal && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

std::string TerminalFilter::Filter(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) Step(static_cast<unsigned char>(c), &out);
  return out;
}

void TerminalFilter::Step(unsigned char byte, std::string* out) {
  switch (state_) {
    case State::kText:
      return StepText(byte, out);
    case State::kEscape:
      sequence_ = "\x1b[";
      if (byte == '[') {
        state_ = State::kControlSequence;
      } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_') {
        state_ = State::kString;  // OSC, DCS, SOS, PM, APC: up to BEL or ST
      } else if (byte >= 0x30) {
        state_ = State::kText;  // a two-byte function; 0x20 to 0x2f are intermediates
      }
      return;
    case State::kControlSequence:
      return StepControlSequence(byte, out);
    case State::kString:
      if (byte == '\a') state_ = State::kText;
      if (byte == kEscape) state_ = State::kStringEscape;
      return;
    case State::kStringEscape:
      state_ = byte == '\\' ? State::kText : State::kString;
      return;
    case State::kC2:
      // U+0080 to U+009F are the C1 controls, 0x9b the one-character form of ESC [.
      state_ = State::kText;
      if (byte >= 0xa0) out->append("\xc2").push_back(static_cast<char>(byte));
      return;
  }
}

void TerminalFilter::StepText(unsigned char byte, std::string* out) {
  if (byte == kEscape) {
    state_ = State::kEscape;
  } else if (byte == 0xc2) {
    state_ = State::kC2;
  } else if ((byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t' || byte == '\r') {
    out->push_back(static_cast<char>(byte));
  }
}

void TerminalFilter::StepControlSequence(unsigned char byte, std::string* out) {
  const bool parameter = (byte >= '0' && byte <= '9') || byte == ';' || byte == ':';
  if (sequence_.size() < kMaxSequence) sequence_.push_back(static_cast<char>(byte));
  if (byte < 0x40 || byte > 0x7e) {
    if (!parameter) sequence_.assign(kMaxSequence, ' ');  // private: never a plain SGR
    return;
  }
  if (byte == 'm' && sequence_.size() < kMaxSequence) out->append(sequence_);
  state_ = State::kText;
}

TerminalView::TerminalView(int out, int err)
    : out_{.fd = out, .terminal = isatty(out) == 1, .filter = {}},
      err_{.fd = err, .terminal = isatty(err) == 1, .filter = {}} {}

void TerminalView::OnOutput(Stream stream, std::string_view bytes) {
  saw_output_ = true;
  Side& side = stream == Stream::kStdout ? out_ : err_;
  if (side.terminal) {
    Write(side, side.filter.Filter(bytes));
  } else {
    Write(side, bytes);
  }
}

void TerminalView::Note(std::string_view line, bool failed) {
  const std::string text = RepairUtf8(line, true);
  const bool broken_line = out_.terminal && err_.terminal && !(out_.at_line_start);
  if (broken_line || !err_.at_line_start) Write(err_, "\n");
  if (ColoursWanted(err_.terminal)) {
    // Reset first: the command may have left a colour behind.
    Write(err_, std::string("\x1b[0m") + (failed ? "\x1b[31m" : "\x1b[2m") + text + "\x1b[0m\n");
  } else {
    Write(err_, text + "\n");
  }
}

void TerminalView::Write(Side& side, std::string_view bytes) {
  if (bytes.empty()) return;
  side.at_line_start = bytes.back() == '\n';
  // A reader that went away does not end the call: the command is not ours to cut short.
  (void)WriteAll(side.fd, bytes);
}

}  // namespace pa
