#include "supervisor/text/escape_filter.h"

#include <algorithm>

namespace pa {
namespace {

constexpr unsigned char kEscape = 0x1b;
constexpr unsigned char kC1Lead = 0xc2;   // of the C1 controls in UTF-8, among others
constexpr std::size_t kMaxSequence = 64;  // longer than any SGR that is meant as a colour

bool IsPlain(unsigned char byte) {
  return ((byte >= 0x20) & (byte != 0x7f)) | (byte == '\n') | (byte == '\t') | (byte == '\r');
}

// Whether the filter has anything to do. Most output has none of it, and all output comes through
// here: blocks of a fixed size, without a branch for each byte, which the compiler makes vectors
// of.
bool HasSpecial(std::string_view bytes, EscapeFilter::Keep keep) {
  constexpr std::size_t kBlock = 64;
  if (keep == EscapeFilter::Keep::kBytes) return bytes.contains('\x1b');
  const auto special = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return static_cast<unsigned char>((byte == kC1Lead) | !IsPlain(byte));
  };
  std::size_t at = 0;
  for (; at + kBlock <= bytes.size(); at += kBlock) {
    unsigned char found = 0;
    for (std::size_t i = 0; i < kBlock; ++i) found |= special(bytes[at + i]);
    if (found != 0) return true;
  }
  return std::ranges::any_of(bytes.substr(at), [&](char c) { return special(c) != 0; });
}

}  // namespace

std::string EscapeFilter::Filter(std::string_view bytes) {
  if (state_ == State::kText && !HasSpecial(bytes, keep_)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) Step(static_cast<unsigned char>(c), &out);
  return out;
}

void EscapeFilter::Step(unsigned char byte, std::string* out) {
  if (byte == '\n') {
    state_ = State::kText;
    out->push_back('\n');
    return;
  }
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
      return StepC2(byte, out);
  }
}

void EscapeFilter::StepText(unsigned char byte, std::string* out) {
  if (byte == kEscape) {
    state_ = State::kEscape;
  } else if (keep_ != Keep::kBytes && byte == kC1Lead) {
    state_ = State::kC2;
  } else if (keep_ == Keep::kBytes || IsPlain(byte)) {
    out->push_back(static_cast<char>(byte));
  }
}

// U+0080 to U+009F are the C1 controls, 0x9b the one-character form of ESC [.
void EscapeFilter::StepC2(unsigned char byte, std::string* out) {
  state_ = State::kText;
  const bool follows = byte >= 0x80 && byte <= 0xbf;
  if (follows && byte >= 0xa0) {
    out->append("\xc2").push_back(static_cast<char>(byte));
  } else if (!follows) {
    StepText(byte, out);  // it was no character
  }
}

void EscapeFilter::StepControlSequence(unsigned char byte, std::string* out) {
  const bool parameter = (byte >= '0' && byte <= '9') || byte == ';' || byte == ':';
  if (sequence_.size() < kMaxSequence) sequence_.push_back(static_cast<char>(byte));
  if (byte < 0x40 || byte > 0x7e) {
    if (!parameter) sequence_.assign(kMaxSequence, ' ');  // private: never a plain SGR
    return;
  }
  const bool colour = byte == 'm' && sequence_.size() < kMaxSequence;
  if (colour && keep_ == Keep::kColours) out->append(sequence_);
  state_ = State::kText;
}

std::string WithoutEscapes(std::string_view text) {
  return EscapeFilter(EscapeFilter::Keep::kText).Filter(text);
}

}  // namespace pa
