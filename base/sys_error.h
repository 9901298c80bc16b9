// SysError and SysResult: errors of the layer that runs without a C++ runtime.
//
//    SysResult<UniqueFd> fd = OpenPath(path);
//    if (!fd) return std::unexpected(fd.error());
//
// The worker is linked against a small libc and no libstdc++ (docs/adr/0002), so everything that it
// shares with the supervisor must not allocate: the strings here are borrowed and must outlive the
// error. Code that only the supervisor runs uses base/error.h, which owns its strings.
#pragma once

#include <cerrno>
#include <expected>
#include <string_view>

namespace pa {

// The operation that failed, its object, and the error of the kernel: `landlock_add_rule "/srv/x":
// ENOENT`.
struct SysError {
  const char* op = "";       // the system call or step; a literal
  std::string_view subject;  // the path, name or number it was about; may be empty
  int sys_errno = 0;         // 0 if no system call failed (a value was refused)
};

template <typename T>
using SysResult = std::expected<T, SysError>;

inline std::unexpected<SysError> Failed(const char* op, std::string_view subject = {},
                                        int code = errno) {
  return std::unexpected(SysError{op, subject, code});
}

// `result`: of a system call, or of a function of the C library that reports a failure by a
// negative value.
inline SysResult<void> Attempt(long result, const char* op, std::string_view subject = {}) {
  if (result < 0) return Failed(op, subject);
  return {};
}

}  // namespace pa
