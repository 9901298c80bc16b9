// The bytes of a file: however they come in, the same lines, all of them UTF-8, and not too much of
// them. The first byte says in which portions.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/text/file_text.h"
#include "tests/fuzz/check.h"

namespace {

pa::FileText Fed(std::string_view bytes, std::size_t step, pa::FileText::Window window) {
  pa::FileText text(window);
  for (std::size_t at = 0; at < bytes.size(); at += step) text.Feed(bytes.substr(at, step));
  text.End();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1U + data[0];
  const pa::FileText whole =
      Fed(bytes, std::max<std::size_t>(1, bytes.size()), {.offset = 2, .limit = 50});
  const pa::FileText parts = Fed(bytes, step, {.offset = 2, .limit = 50});
  // All lines but the first, counted from the end.
  const std::uint64_t total = whole.total_lines();
  if (total >= 2) {
    const pa::FileText last = Fed(bytes, step, {.limit = 50, .from_end = total - 1});
    pa::Check(last.lost_the_end() || last.lines() == whole.lines());
    pa::Check(last.sha256() == whole.sha256());
  }
  pa::Check(whole.lines() == parts.lines());
  pa::Check(whole.encoding() == parts.encoding());
  pa::Check(whole.total_lines() == parts.total_lines());
  pa::Check(whole.image() == parts.image());
  for (const std::string& line : whole.lines()) pa::Check(pa::IsValidUtf8(line));
  pa::Check(whole.lines().size() <= 50);
  return 0;
}
