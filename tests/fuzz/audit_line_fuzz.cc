// A line of the audit log: whatever it holds, a terminal gets a row that fits and moves no cursor,
// and no line is skipped in silence.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/cli/audit_view.h"
#include "supervisor/text/columns.h"
#include "supervisor/text/visible_text.h"
#include "tests/fuzz/check.h"

namespace {

void CheckRows(std::string_view shown, std::size_t width) {
  while (!shown.empty()) {
    const std::size_t end = shown.find('\n');
    pa::Check(end != std::string_view::npos);
    const std::string_view row = shown.substr(0, end);
    pa::Check(pa::VisibleText(row) == row);
    pa::Check(width == 0 || pa::ColumnsOf(row) <= width);
    shown.remove_prefix(end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::ranges::replace(text, '\n', ' ');
  for (const std::size_t width : {0UZ, 1UZ, 80UZ, 200UZ}) {
    pa::AuditView view({}, width);
    const pa::AuditOutput shown = view.Add({.place = "log:1", .text = text});
    pa::Check((view.damaged() == 1) == !shown.err.empty());
    CheckRows(shown.out, width);
    CheckRows(shown.err, 0);
    const pa::AuditOutput rest = view.Finish();
    CheckRows(rest.out, width);
    pa::Check(view.damaged() == 1 || shown.out.size() + rest.out.size() > 0);
  }
  pa::AuditView json({.json = true}, 80);
  const std::string line = json.Add({.place = "log:1", .text = text}).out;
  if (line.empty()) return 0;
  CheckRows(line, 0);
  pa::Check(pa::ParseJson(line)->Dump() == pa::ParseJson(text)->Dump());
  return 0;
}
