// deny NR ARG VALUE ERRNO PROGRAM [ARGUMENT]...: executes the program where the kernel answers
// system call NR with ERRNO if its argument ARG (0 to 5) is VALUE, and otherwise does as always. NR
// is a number, as SYS_* has it. For tests of what happens when the kernel refuses.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

unsigned Number(const char* text) { return static_cast<unsigned>(std::strtoul(text, nullptr, 0)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const auto argument = static_cast<unsigned>(offsetof(seccomp_data, args)) + 8 * Number(argv[2]);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Number(argv[1]), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Number(argv[3]), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | Number(argv[4])),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    std::perror("deny");
    return 1;
  }
  execv(argv[5], argv + 5);
  std::perror(argv[5]);
  return 1;
}
