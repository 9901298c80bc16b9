// A client's configuration of any kind: what is merged into it can be read, a second time changes
// nothing, and what was there is still there. The first byte says whose it is.
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/clients/client_config.h"
#include "tests/fuzz/check.h"

namespace {

// Blanks may go, before a bracket that comes to stand on a line of its own.
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Whether `part` is what is left of `whole` when some of it is taken away.
bool IsWithin(std::string_view part, std::string_view whole) {
  std::size_t at = 0;
  for (const char c : part) {
    if (IsBlank(c)) continue;
    at = whole.find(c, at);
    if (at == std::string_view::npos) return false;
    ++at;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto clients = pa::Clients();
  const pa::Client& client = clients[data[0] % clients.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const pa::ServerEntry entry{.section = std::string(client.section),
                              .name = "project-actions",
                              .command = "/opt/\"p\"",
                              .args = {"serve", "--root", "/home/\xC3\xBC"},
                              .with_type = client.with_type,
                              .tool_timeout_sec = client.tool_timeout_sec};
  const auto now = pa::MergeInto(text, client, entry);
  if (!now) {
    pa::Check(now.error().at <= text.size() && !now.error().message.empty());
    pa::PlaceOf(text, now.error().at);
    return 0;
  }
  const auto again = pa::MergeInto(*now, client, entry);
  pa::Check(again && *again == *now);
  // Of a blank file there is nothing to keep.
  if (text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") == std::string_view::npos) return 0;
  // An entry of ours that was there may have lost what it said before.
  if (text.find("project-actions") == std::string_view::npos) {
    const bool escaped = text.find('\\') != std::string_view::npos;
    pa::Check(escaped || IsWithin(text, *now));
  }
  return 0;
}
