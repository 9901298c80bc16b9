// DeepDirectory: nested directories, for paths that are as long as the kernel takes, or longer.
//
//    DeepDirectory deep(dir.path(), PATH_MAX);
//    mkdirat(deep.fd.get(), ".git", 0700);  // at deep.path + "/.git", too long for open(2)
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"

namespace pa::testing {

struct DeepDirectory {
  // `length`: of its path; at least 2 more than the length of `base`.
  DeepDirectory(const std::string& base, std::size_t length) : path(base) {
    fd = UniqueFd(open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    while (path.size() < length) {
      constexpr std::size_t kLongest = 250;
      const std::size_t left = length - path.size() - 1;
      // One character must not be left: the rest must hold a slash and a name.
      const std::string name(left == kLongest + 1 ? kLongest - 1 : std::min(left, kLongest), 'x');
      if (mkdirat(fd.get(), name.c_str(), 0700) != 0) std::abort();
      fd = UniqueFd(openat(fd.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      path += "/" + name;
    }
  }

  std::string path;
  UniqueFd fd;
};

}  // namespace pa::testing
