// What goes through the pipes of a worker that works with a file itself, before the bytes of it: of what is
// read on its stdout, of what is written on its stdin. Plain values; freestanding.
#pragma once

#include <cstdint>

namespace pa::worker {

inline constexpr std::uint32_t kFileMagic = 0x70614601;  // 'paF', version 1

struct FileHeader {
  std::uint32_t magic = kFileMagic;
  std::uint32_t mode = 0;  // st_mode; bytes follow only of a regular file
  std::uint64_t size = 0;  // st_size; what follows is what there is until its end, more or less
};

inline constexpr std::uint32_t kWriteMagic = 0x70615701;  // 'paW', version 1

struct WriteHeader {
  std::uint32_t magic = kWriteMagic;
  std::uint8_t replaces = 0;       // 1: the file is there and has the hash `expected`; 0: it is not
  std::uint8_t makes_parents = 0;  // 1: directories on the way that are not there
  std::uint8_t syncs = 0;          // 1: on the disk when it is done (fsync(2))
  std::uint8_t reserved = 0;
  std::uint64_t size = 0;          // of the content, which follows
  std::uint8_t expected[32] = {};  // SHA-256
};

// On stdout, when it is not as the header has it (EEXIST, ESTALE).
struct WriteReply {
  std::uint32_t magic = kWriteMagic;
  std::uint8_t present[32] = {};  // SHA-256 of what is there
};

}  // namespace pa::worker
