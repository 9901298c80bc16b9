#include "base/directory_reader.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace pa {
namespace {

// struct linux_dirent64 of getdents64(2); the name follows.
struct DirentHead {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t record_bytes;
  std::uint8_t type;
};
constexpr std::size_t kNameOffset = 19;

}  // namespace

DirectoryReader::DirectoryReader(int fd) : fd_(fd) { lseek(fd, 0, SEEK_SET); }

bool DirectoryReader::Fill() {
  const long got = syscall(SYS_getdents64, fd_, buffer_, sizeof(buffer_));
  at_ = 0;
  failed_ = got < 0;
  size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  return size_ > 0;
}

std::optional<DirectoryReader::Entry> DirectoryReader::Next() {
  while (at_ < size_ || Fill()) {
    DirentHead head;
    std::memcpy(&head, buffer_ + at_, kNameOffset);
    const char* name = buffer_ + at_ + kNameOffset;
    at_ += head.record_bytes;
    if (name != std::string_view(".") && name != std::string_view("..")) {
      return Entry{name, head.type};
    }
  }
  return std::nullopt;
}

}  // namespace pa
