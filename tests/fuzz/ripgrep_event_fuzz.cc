// A line of ripgrep's output: what is taken from it stands in it.
#include <cstdint>
#include <string_view>

#include "supervisor/tools/ripgrep_event.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto event = pa::ParseRipgrepEvent(line);
  if (!event) return 0;
  pa::Check(event->path.size() + event->text.size() <= size);
  return 0;
}
