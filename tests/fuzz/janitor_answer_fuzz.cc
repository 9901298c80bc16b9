// What a janitor's process answers, which hostile files may have taken over: what is unpacked is
// packed and unpacked the same. The first byte says what it is meant to be.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pack.h"
#include "supervisor/guard/guard_fields.h"
#include "tests/fuzz/check.h"

namespace {

template <typename T>
void Try(std::string_view bytes) {
  T value{};
  if (!pa::Unpacker(bytes)(value)) return;
  const std::string packed = pa::Pack(value);
  T again{};
  pa::Unpacker unpacker(packed);
  pa::Check(unpacker(again) && unpacker.AtEnd());
  pa::Check(pa::Pack(again) == packed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 's':
      Try<pa::ProtectedOr<pa::GuardedState>>(bytes);
      break;
    case 'c':
      Try<pa::Compared>(bytes);
      break;
    case 'd':
      Try<pa::ReadTree>(bytes);
      break;
    case 'j':
      Try<std::vector<pa::ProtectedChange>>(bytes);
      break;
    case 'r':
      Try<pa::RepositoryList>(bytes);
      break;
    case 't':
      Try<pa::Result<std::string>>(bytes);
      break;
    default:
      Try<pa::SavedFile>(bytes);
  }
  return 0;
}
