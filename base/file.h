// Small files, anonymous files and names in a directory: read whole within a limit, made as a
// sealed memfd.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

// Opens a regular file, `flags` and `mode` as of open(2), close-on-exec. Anything else is EINVAL,
// at once: a FIFO would be waited for, and to open a device can be an order to it.
Result<UniqueFd> OpenRegular(const std::string& path, int flags, mode_t mode = 0);

// The whole file, at most `max_bytes` (EFBIG beyond). Refuses anything but a regular file (EINVAL),
// so that a FIFO cannot hold us.
Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes);
Result<std::string> ReadFileFrom(int fd, const std::string& name, std::size_t max_bytes);

// A memfd that holds `content`, is at offset 0 and can never change again: sealed against write,
// grow, shrink and further seals (memfd_create(2)). Close-on-exec.
Result<UniqueFd> SealedMemfd(const char* name, std::string_view content);

// The names in a directory, sorted; at most `most` of them. `flags`: O_NOFOLLOW, or none.
Result<std::vector<std::string>> ReadNames(const std::string& directory, int flags = 0,
                                           std::size_t most = SIZE_MAX);

// All of `data`, whatever write(2) takes at a time.
Result<void> WriteAll(int fd, std::string_view data);

// Waits until the file, or the names in the directory, will be found after a crash of the machine,
// too (fsync(2)).
Result<void> SyncPath(const std::string& path);

}  // namespace pa
