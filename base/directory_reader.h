// DirectoryReader: reads the names in a directory without allocating (opendir allocates).
// Freestanding.
//
//    DirectoryReader reader(fd);
//    while (std::optional<DirectoryReader::Entry> entry = reader.Next()) Use(entry->name);
#pragma once

#include <cstddef>
#include <optional>

namespace pa {

class DirectoryReader {
 public:
  struct Entry {
    const char* name;    // valid until the next call
    unsigned char type;  // DT_DIR, ...
  };

  // Borrows `fd`, an open directory, and rewinds it.
  explicit DirectoryReader(int fd);

  // The next name other than `.` and `..`; nothing at the end, or after an error of the kernel.
  std::optional<Entry> Next();
  // The kernel returned an error, so there may be more names.
  bool failed() const { return failed_; }

 private:
  bool Fill();

  int fd_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  bool failed_ = false;
  alignas(8) char buffer_[4096];
};

}  // namespace pa
