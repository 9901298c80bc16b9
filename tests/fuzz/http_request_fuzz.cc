// The bytes of an HTTP connection: what they say does not depend on the pieces in which they come.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/text/http_request.h"
#include "tests/fuzz/check.h"

namespace {

struct Seen {
  std::string requests;
  bool refused = false;
};

Seen Read(std::string_view bytes, std::size_t piece) {
  pa::HttpReader reader(
      {.head = 1000, .target = 100, .fields = 20, .body = 1000, .protocol = "lines"});
  Seen seen;
  while (!bytes.empty() && !seen.refused) {
    const std::size_t size = std::min(piece, bytes.size());
    reader.Append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      if (const auto head = reader.ReadHead()) {
        seen.refused = !*head;
        if (!*head) {
          pa::Check(!head->error().why.empty() && head->error().status >= 400);
          break;
        }
        pa::Check((*head)->Find("host") != nullptr);
        pa::Check(!(*head)->upgrades || ((*head)->method == "GET" && !(*head)->has_body));
        seen.requests += (*head)->upgrades ? "^" : "";
        pa::Check((*head)->target.size() < 100 && (*head)->fields.size() <= 20);
        seen.requests += (*head)->method + (*head)->target;
        for (const auto& [name, value] : (*head)->fields) {
          pa::Check(!name.empty() && (name + value).find_first_of("\r\n") == std::string::npos);
          seen.requests += name + value;
        }
      }
      if (const auto body = reader.ReadBody()) {
        seen.refused = !*body;
        if (!*body) break;
        pa::Check((*body)->size() <= 1000);
        seen.requests += **body;
        goes_on = true;
      }
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Seen whole = Read(bytes, size);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{13}}) {
    const Seen pieces = Read(bytes, piece);
    pa::Check(pieces.requests == whole.requests && pieces.refused == whole.refused);
  }
  return 0;
}
