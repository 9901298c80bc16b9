// DirectoryReader: the names in a directory, without allocating (opendir does). Freestanding.
//
//   DirectoryReader reader(fd);
//   while (std::optional<DirectoryReader::Entry> entry = reader.Next()) Use(entry->name);
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

  // Borrows `fd`, an open directory, and reads from its beginning.
  explicit DirectoryReader(int fd);

  // The next name but `.` and `..`; nothing at the end, or where the kernel gives an error.
  std::optional<Entry> Next();
  // There may be more names: the kernel gave an error.
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
