// try_paths LIST: tries what each line of LIST says, `read PATH`, `write PATH` or `execute PATH`,
// and prints the errno of each, 0 if it may be done. Opens, and changes and executes nothing: what
// may be executed says the kernel, from Linux 6.14 on (EINVAL before).
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kExecveCheck = 0x10000;  // AT_EXECVE_CHECK

int Opened(const char* path, int flags) {
  const int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

int Executable(char* path) {
  char* argv[] = {path, nullptr};
  return syscall(SYS_execveat, AT_FDCWD, path, argv, nullptr, kExecveCheck) == 0 ? 0 : errno;
}

int Try(char* line) {
  char* path = std::strchr(line, ' ');
  if (path == nullptr) return EPROTO;
  *path++ = '\0';
  if (std::strcmp(line, "read") == 0) return Opened(path, O_RDONLY);
  if (std::strcmp(line, "write") == 0) return Opened(path, O_WRONLY);
  return Executable(path);
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* list = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
  if (list == nullptr) return 2;
  char line[8192];
  while (std::fgets(line, sizeof line, list) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    std::printf("%d\n", Try(line));
  }
  return 0;
}
