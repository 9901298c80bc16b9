// What a command printed, as lines and as JSON, under a `result` of the first line: what is shown,
// what is stored and what is counted agree, and all of it is valid.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/results/query_rows.h"
#include "tests/fuzz/check.h"

namespace {

pa::RowPlace Place() {
  return {
      .shown_bytes = 64, .file_bytes = 4096, .open = [](pa::RowForm) -> pa::Result<pa::UniqueFd> {
        return pa::UniqueFd(memfd_create("rows", MFD_CLOEXEC));
      }};
}

void CheckRows(const pa::QueriedRows& rows, const pa::ResultOrder& order) {
  if (!rows.problem.empty()) return;
  const pa::RowCounts& counts = rows.counts;
  pa::Check(counts.matched <= counts.total && counts.returned <= counts.matched);
  pa::Check(rows.rows.rows == counts.returned);
  if (order.limit) pa::Check(counts.returned <= *order.limit);
  pa::Check(rows.rows.shown_rows <= rows.rows.rows && rows.rows.file_rows <= rows.rows.rows);
  const bool json = rows.form == pa::RowForm::kJson;
  if (json && order.mode == pa::ReturnMode::kInline) {
    const auto shown = pa::ParseJson(rows.rows.shown);
    pa::Check(shown && shown->IsArray() && shown->Items().size() == rows.rows.shown_rows);
  }
  if (order.mode != pa::ReturnMode::kSummary) {
    pa::Check(rows.rows.file || rows.rows.shown_rows == rows.rows.rows);
  }
  if (!rows.rows.file) return;
  pa::Check(rows.rows.file->size <= 4096);
  const auto text = pa::ReadBytesAt(rows.rows.file->file.get(), 0, rows.rows.file->size);
  pa::Check(text && text->size() == rows.rows.file->size);
  if (json) {
    const auto all = pa::ParseJson(*text);
    pa::Check(all && all->IsArray() && all->Items().size() == rows.rows.file_rows);
  } else {
    pa::Check(rows.rows.file->lines.lines() == rows.rows.file_rows);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\n');
  const auto asked = pa::ParseJson(all.substr(0, end));
  if (!asked) return 0;
  const auto order = pa::ReadResultOrder(*asked);
  if (!order) {
    pa::Check(!order.error().message.empty() && order.error().member.starts_with("result"));
    return 0;
  }
  const pa::RowSource source{
      .text = std::string(end == std::string_view::npos ? "" : all.substr(end + 1)), .stored = {}};
  CheckRows(pa::QueryLines(source, *order, Place(), {}), *order);
  const auto steps = order->items ? order->items->steps : std::vector<pa::PathStep>();
  CheckRows(pa::QueryJson(source, "json", steps, *order, Place(), {}), *order);
  return 0;
}
