// The requests that commands may pass to ioctl, fcntl and prctl. Each of these calls is hundreds of
// system calls behind one number. A file system or a driver adds requests of its own and guards
// them by whatever right it deems enough (docs/adr/0031). So requests are allowed one by one, like
// paths, and every other request is refused with the error of a kernel that does not know it.
//
// To add a request: add its line, with the program that needs it and why it reaches nothing but
// what the caller already holds, and its twin in seccomp_compile_test.cc. The kernel looks at 32
// bits of a request.
#pragma once

#include <cstdint>
#include <span>

namespace pa::sandbox {

struct ListedArgument {
  std::uint32_t number = 0;
  const char* name = nullptr;
  const char* reason = nullptr;
};

// In ascending order, without duplicates.
std::span<const ListedArgument> IoctlRequests();
std::span<const ListedArgument> FcntlCommands();
std::span<const ListedArgument> PrctlOptions();

// The numbers alone. The spans stay valid until the program ends.
std::span<const std::uint32_t> IoctlNumbers();
std::span<const std::uint32_t> FcntlNumbers();
std::span<const std::uint32_t> PrctlNumbers();

}  // namespace pa::sandbox
