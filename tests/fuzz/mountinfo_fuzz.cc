// A table of mounts, with whatever names somebody has mounted at: what is read from it is read
// again from what the kernel would write of it.
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/denials/path_inspector.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

// As mangle() in the kernel: blanks and backslashes as three octal digits; here more than those.
std::string Escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '\\') {
      out += c;
      continue;
    }
    out += '\\';
    for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + (byte >> shift & 7));
  }
  return out;
}

void CheckMounts(std::string_view mountinfo) {
  const std::vector<Mount> mounts = ReadMounts(mountinfo);
  std::string again;
  for (const Mount& mount : mounts) {
    Check(mount.type.find_first_of(" \n") == std::string::npos);
    again +=
        "36 35 98:0 /root " + Escaped(mount.point) + " rw shared:1 - " + mount.type + " none rw\n";
  }
  Check(ReadMounts(again) == mounts);
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pa::CheckMounts({reinterpret_cast<const char*>(data), size});
  return 0;
}
