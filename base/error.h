// Error and Result: how every function that touches the outside world fails.
//
//   Result<std::string> text = ReadFile(path, 1 << 20);
//   if (!text) return std::unexpected(text.error());
//
// Libraries return errors; only main() logs them. A library's exceptions end in the file that
// includes the library. Our own mistakes are asserts, not errors.
#pragma once

#include <expected>
#include <string>

#include "base/sys_error.h"

namespace pa {

// What was attempted, on what object, and what the kernel said.
struct Error {
  std::string op;       // `openat2`, `parse policy`
  std::string subject;  // the path or name; may be empty
  int sys_errno = 0;    // 0 when no system call failed

  Error() = default;
  Error(std::string operation, std::string object, int code = 0)
      : op(std::move(operation)), subject(std::move(object)), sys_errno(code) {}
  // NOLINTNEXTLINE(google-explicit-constructor): SysError is the same thing with borrowed strings.
  Error(const SysError& error) : op(error.op), subject(error.subject), sys_errno(error.sys_errno) {}

  // `openat2 "/srv/x": ENOENT (No such file or directory)`; without an errno `op: subject`.
  std::string Message() const;
};

// Whether an errno says that something is used up (descriptors, processes, memory, room) and not
// that something is wrong: it may be there again later.
bool MeansUsedUp(int code);

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace pa
