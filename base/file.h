// Reads small files whole, within a limit; makes sealed memfds; lists directories. Not for large
// files: the whole content is held in memory.
//
//    Result<std::string> text = ReadFile(path, 64u << 10);      // EFBIG: it is longer
//    Result<UniqueFd> spec = SealedMemfd("spec", bytes);
//    Result<std::vector<std::string>> names = ReadNames(directory, O_NOFOLLOW);
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

// Opens a regular file, close-on-exec; `flags` and `mode` as for open(2). Anything else is EINVAL.
// A FIFO does not block (O_NONBLOCK); a device is opened for a moment, and then refused.
Result<UniqueFd> OpenRegular(const std::string& path, int flags, mode_t mode = 0);

// Reads the whole file; EFBIG if it is longer than `max_bytes`. Anything but a regular file is
// EINVAL, so that a FIFO cannot block us.
Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes);
// The same of a file that `open` opens to be read: OpenToRead, or somebody who has the right to.
using OpenFile = std::function<Result<UniqueFd>(const std::string& path)>;
Result<UniqueFd> OpenToRead(const std::string& path);
Result<std::string> ReadFileBy(const OpenFile& open, const std::string& path,
                               std::size_t max_bytes);
Result<std::string> ReadFileFrom(int fd, const std::string& name, std::size_t max_bytes);

// An empty memfd, close-on-exec, for WriteSealed or for another process to write. Not executable
// where the kernel knows that: vm.memfd_noexec=2 refuses every other one on Linux 6.3 to 6.5.
Result<UniqueFd> EmptyMemfd(const char* name);
// What it holds then can never change, whoever has it: it is sealed against write, grow, shrink and
// further seals (memfd_create(2)).
Result<void> WriteSealed(int memfd, const char* name, std::string_view content);
// A memfd that holds `content`, is at offset 0 and can never change (WriteSealed). Close-on-exec.
Result<UniqueFd> SealedMemfd(const char* name, std::string_view content);

// The names in a directory, sorted; at most `most` of them. `flags`: O_NOFOLLOW, or none.
Result<std::vector<std::string>> ReadNames(const std::string& directory, int flags = 0,
                                           std::size_t most = SIZE_MAX);

// Writes all of `data`, in as many write(2) calls as that takes.
Result<void> WriteAll(int fd, std::string_view data);

// Waits until the file, or the names in the directory, are on the disk and survive a crash of the
// machine (fsync(2)).
Result<void> SyncPath(const std::string& path);

}  // namespace pa
