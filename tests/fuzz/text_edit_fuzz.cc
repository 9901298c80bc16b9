// A file, what is looked for in it, and by what it is replaced: what stands outside the match
// stays, and whatever is shown of it is UTF-8. The first byte says in which encoding, and how the
// rest is divided.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/text/line_diff.h"
#include "supervisor/text/text_edit.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using enum pa::FileText::Encoding;
  if (size < 3) return 0;
  constexpr std::array kEncodings = {kUtf8, kUtf16Le, kUtf16Be, kUnknown8Bit};
  const auto encoding = kEncodings[data[0] % kEncodings.size()];
  const bool all = (data[0] & 0x80) != 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string_view from_bytes = rest.substr(0, data[1] % 16);
  const std::string_view to_bytes = rest.substr(from_bytes.size(), data[2] % 16);
  const std::string_view file = rest.substr(from_bytes.size() + to_bytes.size());
  // As a client's JSON brings them.
  const std::string from = pa::RepairUtf8(from_bytes);
  const std::string to = pa::RepairUtf8(to_bytes);
  if (from.empty()) return 0;
  const auto edited = pa::ReplaceText(file, encoding, {from, to, all});
  const std::string shown = pa::ShownText(file, encoding);
  pa::Check(pa::IsValidUtf8(shown));
  if (!edited) {
    pa::Check(edited.error().lines.size() <= edited.error().count);
    pa::NearestPassage(shown, from);
    return 0;
  }
  pa::Check(edited->count > 0 && (all || edited->count == 1));
  const std::string_view now = edited->bytes;
  const auto [in_file, in_now] = std::ranges::mismatch(file, now);
  const auto head = static_cast<std::size_t>(in_file - file.begin());
  std::size_t tail = 0;
  const std::size_t least = std::min(file.size(), now.size()) - head;
  while (tail < least && file[file.size() - 1 - tail] == now[now.size() - 1 - tail]) ++tail;
  // One match has at most two bytes for each of `from`, in UTF-16, and as many for a line end that
  // is \r\n.
  if (!all) pa::Check(file.size() - head - tail <= 4 * from.size());
  const bool same = shown == pa::ShownText(now, encoding);
  pa::Check(pa::UnifiedDiff("a", "b", shown, pa::ShownText(now, encoding)).empty() == same);
  return 0;
}
