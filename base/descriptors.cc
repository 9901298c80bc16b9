#include "base/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace pa {

std::size_t DescriptorsAllow(std::size_t wanted, std::size_t each) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(limit.rlim_cur / 8 / each, 1, std::max<std::size_t>(wanted, 1));
}

}  // namespace pa
