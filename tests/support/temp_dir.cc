#include "tests/support/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace pa::testing {
namespace fs = std::filesystem;

TempDir::TempDir() : TempDir(fs::temp_directory_path()) {}

TempDir::TempDir(const fs::path& parent) {
  std::string pattern = (parent / "pa-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    std::perror(pattern.c_str());
    std::abort();
  }
  path_ = fs::canonical(pattern);
}

TempDir::~TempDir() {
  std::error_code ignored;  // a test that made files unreadable has already said what it had to say
  fs::remove_all(path_, ignored);
}

void WriteText(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) {
    std::perror(file.c_str());
    std::abort();
  }
}

std::string ReadText(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();  // iterators would throw if a process ends while its file in /proc is read
  return std::move(text).str();
}

}  // namespace pa::testing
