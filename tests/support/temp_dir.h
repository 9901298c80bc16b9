// TempDir: a temporary directory, removed with all it holds at the end of its scope. WriteText,
// ReadText: small files in it.
//
//    TempDir dir;
//    WriteText(dir.path() / "Makefile", ".PHONY: all\nall:\n");
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace pa::testing {

class TempDir {
 public:
  TempDir();  // beneath $TMPDIR or /tmp; aborts the program if it cannot be made
  explicit TempDir(const std::filesystem::path& parent);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Creates missing parent directories. Aborts the program if it cannot write: a test cannot go on
// without the file.
void WriteText(const std::filesystem::path& file, std::string_view text);
std::string ReadText(const std::filesystem::path& file);  // "" if there is no such file

}  // namespace pa::testing
