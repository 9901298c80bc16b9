#include "tests/support/janitor_chores.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/file.h"
#include "supervisor/run/run_chores.h"

namespace pa::testing {
namespace {

using Descriptors = std::span<const int>;

std::string Text(std::string_view input) {
  std::string text;
  Unpacker unpacker(input);
  return unpacker(text) ? text : "";
}

std::string Hang(std::string_view, Descriptors) {
  for (;;) usleep(10'000);
}

// To each descriptor that it has; one is the pipe that says so.
std::string Stay(std::string_view input, Descriptors descriptors) {
  for (int fd = 3; fd < 64; ++fd) {
    struct stat status{};
    const bool pipe = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
    if (pipe && write(fd, "d", 1) != 1) _exit(1);
  }
  return Hang(input, descriptors);
}

std::string Memory(std::string_view, Descriptors) {
  std::vector<std::string> blocks;
  for (;;) blocks.emplace_back(64u << 20, 'x');
}

std::string Inodes(std::string_view, Descriptors descriptors) {
  std::vector<std::uint64_t> inodes;
  for (const int fd : descriptors) {
    struct stat status{};
    inodes.push_back(fstat(fd, &status) == 0 ? status.st_ino : 0);
  }
  return Pack(inodes);
}

}  // namespace

std::vector<Chore> ChoresForTests() {
  std::vector<Chore> chores = RunChores();
  chores.push_back(
      {kTestEcho, [](std::string_view input, Descriptors) { return Pack(Text(input)); }});
  chores.push_back({kTestPid, [](std::string_view, Descriptors) { return Pack(int{getpid()}); }});
  chores.push_back({kTestRead, [](std::string_view input, Descriptors) {
                      return Pack(ReadFile(Text(input), 1000));
                    }});
  chores.push_back({kTestCrash, [](std::string_view, Descriptors) -> std::string { _exit(3); }});
  chores.push_back({kTestHang, Hang});
  chores.push_back({kTestMemory, Memory});
  chores.push_back({kTestStay, Stay});
  chores.push_back({kTestDescriptors, Inodes});
  return chores;
}

}  // namespace pa::testing
