#include "base/descriptors.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace pa {

std::size_t DescriptorsAllow(std::size_t wanted, std::size_t each) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(limit.rlim_cur / 8 / each, 1, std::max<std::size_t>(wanted, 1));
}

bool CloseAllBut(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned next = 0;
  for (const int fd : kept) {
    if (fd < 0 || static_cast<unsigned>(fd) < next) continue;
    const auto keep = static_cast<unsigned>(fd);
    if (keep > next && close_range(next, keep - 1, 0) != 0) return false;
    next = keep + 1;
  }
  return close_range(next, ~0u, 0) == 0;
}

}  // namespace pa
