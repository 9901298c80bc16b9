#include "sandbox/rings.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/try.h"
#include "sandbox/seccomp_load.h"

namespace pa::sandbox {
namespace {

// Not a protection, so it need not know the architecture: whoever calls by another one gets a ring,
// until the list refuses that.
constexpr std::array kNoRings = {
    sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
    sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1)),
    sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)),
    sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)),
};

}  // namespace

Result<void> RefuseRings() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return std::unexpected(Error("prctl", "no_new_privs", errno));
  }
  const std::string_view program(reinterpret_cast<const char*>(kNoRings.data()), sizeof(kNoRings));
  if (const auto loaded = LoadSeccomp(program); !loaded) {
    return std::unexpected(Error(loaded.error()));
  }
  return {};
}

Result<void> CheckNoRings() {
  const std::string directory = "/proc/self/fd";
  PA_TRY(const std::vector<std::string> descriptors, ReadNames(directory));
  for (const std::string& descriptor : descriptors) {
    std::array<char, 32> target{};
    const std::string path = directory + "/" + descriptor;
    const ssize_t size = readlink(path.c_str(), target.data(), target.size());
    // The one by which the names were read is gone.
    if (size < 0 && errno != ENOENT) return std::unexpected(Error("readlink", path, errno));
    if (size >= 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) ==
                         "anon_inode:[io_uring]") {
      return std::unexpected(Error("confine", "the process has a ring (io_uring)", EBUSY));
    }
  }
  return {};
}

}  // namespace pa::sandbox
