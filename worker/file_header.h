// What goes through the pipes of a worker that works with a file itself, before the bytes of it: of
// what is read on its stdout, of what is written on its stdin. Plain values; freestanding.
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

inline constexpr std::uint32_t kDeleteMagic = 0x70614401;  // 'paD', version 1

struct DeleteHeader {
  std::uint32_t magic = kDeleteMagic;
  std::uint8_t recursive = 0;  // 1: a directory with what is in it
  std::uint8_t looks = 0;      // 1: nothing is moved
  std::uint8_t syncs = 0;      // 1: on the disk when it is done (fsync(2))
  std::uint8_t reserved = 0;
  // What follows: the directory where it goes, which is there if it is absolute (without symlinks),
  // else made beneath the working directory, for the user alone; and what is written there as
  // `info.json`, if anything.
  std::uint32_t path_size = 0;
  std::uint32_t info_size = 0;
  std::uint32_t unused = 0;
};

// After the names; before anything is moved. Not where a directory goes with all that is in it.
struct DeleteReply {
  std::uint32_t magic = kDeleteMagic;
  std::uint32_t mode = 0;         // st_mode
  std::uint64_t files = 0;        // what is no directory
  std::uint64_t directories = 0;  // that one not among them
  std::uint32_t more = 0;         // 1: not all of it could be looked at, or there is too much
  std::uint32_t reserved = 0;
};

}  // namespace pa::worker
