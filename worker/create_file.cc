#include "worker/create_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string_view>

#include "base/unique_fd.h"

namespace pa::worker {
namespace {

constexpr std::size_t kMaxContentBytes = 64u << 20;

SysResult<std::string_view> ReadAll(int fd, std::span<char> buffer) {
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = read(fd, buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(SysError{"read", "stdin", errno});
    if (got == 0) return std::string_view(buffer.data(), size);
    size += static_cast<std::size_t>(got);
  }
  return std::unexpected(SysError{"read", "stdin", EFBIG});
}

SysResult<void> WriteAll(int fd, std::string_view content, const char* name) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(SysError{"write", name, errno});
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

// An error, EFBIG, instead of a death that would leave half a file.
void BlockFileSizeSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

SysResult<void> CreateFile(const char* name) {
  void* memory = mmap(nullptr, kMaxContentBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return std::unexpected(SysError{"mmap", "stdin", errno});
  const auto content = ReadAll(STDIN_FILENO, {static_cast<char*>(memory), kMaxContentBytes});
  if (!content) return std::unexpected(content.error());

  BlockFileSizeSignal();
  const UniqueFd file(open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!file) return std::unexpected(SysError{"open", name, errno});
  SysResult<void> written = WriteAll(file.get(), *content, name);
  if (!written) unlink(name);
  return written;
}

}  // namespace pa::worker
