// Random bytes as a launcher's ceiling: never a crash; what is accepted is written back as the same
// bytes.
#include <cstdint>
#include <string_view>

#include "tests/fuzz/check.h"
#include "worker/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const pa::Result<pa::worker::CeilingSpec> spec = pa::worker::DecodeCeiling(bytes);
  if (!spec) return 0;
  const pa::Result<std::string> again = pa::worker::EncodeCeiling(*spec);
  pa::Check(again.has_value() && *again == bytes);
  return 0;
}
