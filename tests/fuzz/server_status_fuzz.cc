// The status of a server, which a tenant may have written, as root's `project-actions top` reads
// it: what is read is written the same, and shown in lines that a terminal can show.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/cli/top_view.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto status = pa::ParseStatus(text)) {
    const auto again = pa::ParseStatus(pa::FormatStatus(*status));
    pa::Check(again && *again == *status);
    const pa::TopSnapshot now{
        .at = std::chrono::system_clock::now(), .servers = {{"name", *status}}, .front_door = {}};
    for (const pa::TopSnapshot* before : {static_cast<const pa::TopSnapshot*>(nullptr), &now}) {
      for (const char c : pa::TopFrame(now, before, {.width = 80, .height = 24}))
        pa::Check(c == '\n' || c < 0 || c >= ' ');
    }
    pa::OpenMetrics metrics;
    pa::AddMetrics(metrics, {{{{"server", "name"}}, *status}});
    const std::string lines = std::move(metrics).Take();
    pa::Check(lines.find("# EOF\n") == lines.size() - 6);
  }
  if (const auto status = pa::ParseFrontDoorStatus(text)) {
    const auto again = pa::ParseFrontDoorStatus(pa::FormatStatus(*status));
    pa::Check(again && *again == *status);
  }
  return 0;
}
