#include "base/random.h"

#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdlib>

namespace pa {

std::string RandomHex(std::size_t bytes) {
  std::string random(bytes, '\0');
  for (std::size_t filled = 0; filled < bytes;) {
    const ssize_t got = getrandom(random.data() + filled, bytes - filled, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : random) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

}  // namespace pa
