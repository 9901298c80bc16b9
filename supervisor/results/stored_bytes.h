// StoredBytes: a result on disk that is read apart from the store: by a thread, or in slices.
//
//    Result<UniqueFd> file = MakeUnlinkedFile("/tmp");
//    const std::size_t wrote = WriteAsFits(file->get(), bytes);       // fewer: the disk is full
//    Result<std::string> slice = ReadBytesAt(file->get(), offset, size);
//    Result<void> all = ReadStoredText(stored, [&](std::string_view text) { ...; return true; });
//
// All of it is free of state, so that it may be used on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/results/line_index.h"

namespace pa {

struct StoredBytes {
  UniqueFd file;           // open for reading
  std::uint64_t size = 0;  // of what counts; the file may have more
  LineIndex lines = {};    // of bytes that nobody has read yet, empty
};

// A file in `directory` that has no name and gets none.
Result<UniqueFd> MakeUnlinkedFile(const std::string& directory);

// A second descriptor, for ReadBytesAt, which needs no offset of its own.
Result<UniqueFd> DuplicateOf(int fd);

// How many of `bytes` the file took; if not all, errno says why.
std::size_t WriteAsFits(int fd, std::string_view bytes);

// Fewer bytes than `size` only at the end of the file.
Result<std::string> ReadBytesAt(int fd, std::uint64_t offset, std::size_t size);

// The text as a result would show it, without escapes (EscapeFilter), in slices of about 1 MiB,
// until `visit` returns false.
Result<void> ReadStoredText(const StoredBytes& stored,
                            const std::function<bool(std::string_view)>& visit);

}  // namespace pa
