// EscapeFilter: a command's output without what only a terminal understands, chunk by chunk.
//
//    EscapeFilter filter(EscapeFilter::Keep::kText);
//    text += filter.Filter(chunk);          // "\x1b[31mred\x1b[0m" -> "red"
//
// Output is hostile: escape sequences change a terminal's title, move its cursor over earlier lines
// or make it answer; to a model they are noise that can hide text from people who read along.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pa {

class EscapeFilter {
 public:
  enum class Keep : std::uint8_t {
    kText,     // for models: no control characters but newline, tab and carriage return
    kColours,  // for terminals: the same, and SGR (ECMA-48 8.3.117)
    kBytes,    // for files: all bytes that belong to no escape sequence
  };
  explicit EscapeFilter(Keep keep) : keep_(keep) {}

  // Keeps its state between chunks. A sequence ends with its line at the latest, so that one which
  // is never finished does not swallow the rest.
  std::string Filter(std::string_view bytes);

 private:
  enum class State : std::uint8_t { kText, kEscape, kControlSequence, kString, kStringEscape, kC2 };
  void Step(unsigned char byte, std::string* out);
  void StepText(unsigned char byte, std::string* out);
  void StepControlSequence(unsigned char byte, std::string* out);
  void StepC2(unsigned char byte, std::string* out);

  Keep keep_;
  State state_ = State::kText;
  std::string sequence_;
};

// All of a text for models.
std::string WithoutEscapes(std::string_view text);

}  // namespace pa
