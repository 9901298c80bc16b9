// What ioctl, fcntl and prctl may be asked for: each of them is hundreds of system calls behind one
// number. A file system or a driver adds requests of its own, with whatever right it deems enough
// (docs/adr/0031), so they are allowed one by one, like paths, and everything else is refused with
// the error of a kernel that has never heard of it.
//
// To add a request: its line with the program that needs it and why it reaches nothing but what the
// caller holds; its twin in seccomp_compile_test.cc. The kernel looks at 32 bits of it.
#pragma once

#include <cstdint>
#include <span>

namespace pa::sandbox {

struct ListedArgument {
  std::uint32_t number = 0;
  const char* name = nullptr;
  const char* reason = nullptr;
};

// In ascending order, none twice.
std::span<const ListedArgument> IoctlRequests();
std::span<const ListedArgument> FcntlCommands();
std::span<const ListedArgument> PrctlOptions();

// Their numbers alone. They live as long as the program does.
std::span<const std::uint32_t> IoctlNumbers();
std::span<const std::uint32_t> FcntlNumbers();
std::span<const std::uint32_t> PrctlNumbers();

}  // namespace pa::sandbox
