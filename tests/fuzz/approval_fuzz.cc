// What an agent may put into a question to the user: whatever it is, he reads text, on one line.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/call/approval.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

void CheckText(const std::string& text, std::ptrdiff_t lines) {
  Check(IsValidUtf8(text));
  Check(std::ranges::count(text, '\n') == lines);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    Check((byte >= 0x20 && byte != 0x7f) || c == '\n');
  }
  for (const char* mark :
       {"\u202e", "\u2066", "\u200b", "\ufeff", "\u0085", "\u2028", "\U000e0041"}) {
    Check(text.find(mark) == std::string::npos);
  }
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = std::min(input.find('\0'), input.size());
  const pa::Question question{.rule = "permissions[0] (policy.yaml:3:5)",
                              .reason = std::string(input.substr(middle)),
                              .call = std::string(input.substr(0, middle))};
  pa::CheckText(pa::QuestionText({&question, 1}, {.part_of = std::string(input)}), 5);
  const pa::JsonValue arguments =
      pa::JsonValue::Object({{"text", pa::JsonValue::String(std::string(input))}});
  pa::CheckText(pa::ShownArguments(&arguments), 0);
  return 0;
}
