// A filter, and a row on which it is tried: what is accepted is printed so that it is read back the
// same, and means the same of a line as of a string. A line end divides both.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/json_view.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/results/filter.h"
#include "supervisor/results/projection.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\n');
  // As a client's JSON brings it.
  const std::string text = pa::RepairUtf8(all.substr(0, end));
  const std::string_view rest = end == std::string_view::npos ? "" : all.substr(end + 1);
  const auto row = pa::ParseJson(rest);
  const auto filter = pa::ParseFilter(text);
  pa::JsonReader view_of;
  if (!filter) {
    pa::Check(!filter.error().message.empty() && filter.error().column >= 1);
    pa::Check(filter.error().column <= text.size() + 1);
    pa::Check(pa::IsValidUtf8(filter.error().caret));
  } else {
    const auto again = pa::ParseFilter(filter->Print());
    // Escapes can make it longer than what is read.
    pa::Check(again ? *again == *filter : filter->Print().size() > pa::kMaxQueryBytes);
    const std::string line = pa::RepairUtf8(rest);
    pa::Check(filter->MatchesLine(line) == filter->Matches(pa::JsonValue::String(line)));
    if (row) pa::Check(filter->Matches(*row) == filter->Matches(view_of.Read(rest).value()));
  }
  const auto path = pa::ParseFieldPath(text);
  if (!path) return 0;
  const auto again = pa::ParseFieldPath(path->Print());
  pa::Check(again ? *again == *path : path->Print().size() > pa::kMaxQueryBytes);
  if (!row) return 0;
  // To take the same fields again changes nothing but where [n] has taken elements out.
  const pa::Projection projection(std::span(&*path, 1));
  const auto project = [&](const auto& value) {
    pa::JsonWriter writer;
    projection.Write(value, writer);
    return std::move(writer).Take();
  };
  const std::string once = project(*row);
  pa::Check(project(view_of.Read(rest).value()) == once);
  const bool picks = path->Print().contains('[');
  pa::Check(picks || project(pa::ParseJson(once).value()) == once);
  return 0;
}
