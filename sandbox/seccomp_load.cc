#include "sandbox/seccomp_load.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pa::sandbox {
namespace {

constexpr std::size_t kInstructionBytes = 8;    // struct sock_filter
constexpr std::size_t kMaxInstructions = 4096;  // BPF_MAXINSNS
constexpr unsigned kSetModeFilter = 1;          // SECCOMP_SET_MODE_FILTER

// struct sock_fprog; musl brings no kernel headers.
struct Program {
  unsigned short length;
  const void* instructions;
};

}  // namespace

SysResult<void> LoadSeccomp(std::string_view program) {
  const std::size_t count = program.size() / kInstructionBytes;
  if (program.size() % kInstructionBytes != 0 || count == 0 || count > kMaxInstructions) {
    return std::unexpected(SysError{"seccomp", "size of the program", EINVAL});
  }
  const Program filter{static_cast<unsigned short>(count), program.data()};
  // No TSYNC: the worker has one thread. No SPEC_ALLOW: kernels before 5.16 then also switch
  // speculative store bypass off for the command, which is what it was made for.
  if (syscall(SYS_seccomp, kSetModeFilter, 0, &filter) != 0) {
    return std::unexpected(SysError{"seccomp", "SECCOMP_SET_MODE_FILTER", errno});
  }
  return {};
}

}  // namespace pa::sandbox
