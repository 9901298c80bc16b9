// The first bytes of a connection to a port of a job: what is accepted is accepted whatever
// follows, and what is refused once is not accepted because more comes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/text/http_head.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint16_t kPort = 41234;
  using pa::HeadVerdict;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const HeadVerdict whole = pa::CheckHttpHead(bytes, kPort).verdict;
  const HeadVerdict half = pa::CheckHttpHead(bytes.substr(0, size / 2), kPort).verdict;
  pa::Check(half == HeadVerdict::kIncomplete || half == whole);
  if (whole == HeadVerdict::kAccepted) {
    pa::Check(bytes.find(":41234") != std::string_view::npos);
    pa::Check(pa::CheckHttpHead(std::string(bytes) + "\n\0x", kPort).verdict == whole);
  }
  if (whole == HeadVerdict::kRefused) pa::Check(!pa::CheckHttpHead(bytes, kPort).why.empty());
  return 0;
}
