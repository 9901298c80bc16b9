// FileHeader: what a worker says of a file on its stdout, before the bytes of it. Plain values;
// freestanding.
#pragma once

#include <cstdint>

namespace pa::worker {

inline constexpr std::uint32_t kFileMagic = 0x70614601;  // 'paF', version 1

struct FileHeader {
  std::uint32_t magic = kFileMagic;
  std::uint32_t mode = 0;  // st_mode; bytes follow only of a regular file
  std::uint64_t size = 0;  // st_size; what follows is what there is until its end, more or less
};

}  // namespace pa::worker
