// The headers that come before the bytes of a file, on the pipes of a worker that works with a file
// itself: on its stdout for a read, on its stdin for a write. Plain values; freestanding.
#pragma once

#include <cstdint>

namespace pa::worker {

inline constexpr std::uint32_t kFileMagic = 0x70614601;  // 'paF', version 1

struct FileHeader {
  std::uint32_t magic = kFileMagic;
  std::uint32_t mode = 0;  // st_mode; bytes follow only for a regular file
  // st_size. The file is sent up to its end, so more or fewer bytes may follow.
  std::uint64_t size = 0;
};

inline constexpr std::uint32_t kWriteMagic = 0x70615701;  // 'paW', version 1

struct WriteHeader {
  std::uint32_t magic = kWriteMagic;
  // 1: the file exists and has the hash `expected`. 0: it does not exist.
  std::uint8_t replaces = 0;
  std::uint8_t makes_parents = 0;  // 1: missing directories on the way are made
  std::uint8_t syncs = 0;          // 1: the file is on the disk when the worker is done (fsync(2))
  std::uint8_t reserved = 0;
  std::uint64_t size = 0;          // of the content, which follows
  std::uint8_t expected[32] = {};  // SHA-256
};

// Sent on stdout if the file is not as the header says (EEXIST, ESTALE).
struct WriteReply {
  std::uint32_t magic = kWriteMagic;
  std::uint8_t present[32] = {};  // SHA-256 of the file that is there
};

inline constexpr std::uint32_t kDeleteMagic = 0x70614401;  // 'paD', version 1

struct DeleteHeader {
  std::uint32_t magic = kDeleteMagic;
  std::uint8_t recursive = 0;  // 1: a directory is deleted with everything in it
  std::uint8_t looks = 0;      // 1: the worker only looks and moves nothing
  std::uint8_t syncs = 0;      // 1: the move is on the disk when the worker is done (fsync(2))
  std::uint8_t reserved = 0;
  // Two texts follow. First the directory to which the entry moves: if the path is absolute, the
  // directory exists (and the path has no symlinks); otherwise it is made beneath the working
  // directory, for the user alone. Then the content of `info.json` in a directory that is made, if
  // any.
  std::uint32_t path_size = 0;
  std::uint32_t info_size = 0;
  std::uint32_t unused = 0;
};

// Sent after the names and before anything is moved. Not sent if the header says `recursive` and
// not `looks`.
struct DeleteReply {
  std::uint32_t magic = kDeleteMagic;
  std::uint32_t mode = 0;         // st_mode
  std::uint64_t files = 0;        // entries that are not directories
  std::uint64_t directories = 0;  // without the one that is deleted
  // 1: the counts are incomplete: something could not be read, or there is too much.
  std::uint32_t more = 0;
  std::uint32_t reserved = 0;
};

}  // namespace pa::worker
