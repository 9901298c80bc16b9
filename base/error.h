// Error and Result: how every function that touches the outside world reports a failure.
//
//    Result<std::string> text = ReadFile(path, 1 << 20);
//    if (!text) return std::unexpected(text.error());
//
// Functions return errors; only main() logs them. Exceptions of a third-party library are caught in
// the file that includes it. Our own mistakes are asserts, not errors.
#pragma once

#include <expected>
#include <string>

#include "base/sys_error.h"

namespace pa {

// The operation that failed, its object, and the error of the kernel.
struct Error {
  std::string op;       // `openat2`, `parse policy`
  std::string subject;  // the path or name; may be empty
  int sys_errno = 0;    // 0 if no system call failed

  Error() = default;
  Error(std::string operation, std::string object, int code = 0)
      : op(std::move(operation)), subject(std::move(object)), sys_errno(code) {}
  // NOLINTNEXTLINE(google-explicit-constructor): SysError is the same thing with borrowed strings.
  Error(const SysError& error) : op(error.op), subject(error.subject), sys_errno(error.sys_errno) {}

  // `openat2 "/srv/x": ENOENT (No such file or directory)`; without an errno `op: subject`.
  std::string Message() const;
};

// Whether `code`, an errno, means that a resource is used up (descriptors, processes, memory, disk
// space) and not that something is wrong: a later attempt may succeed.
bool MeansUsedUp(int code);

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace pa
