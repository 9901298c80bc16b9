// ProcPath: a path to what a descriptor of ours names, for calls that take no descriptor, or none
// that was opened with O_PATH.
//
//    chmod(ProcPath(fd.get()).c_str(), 0700);            // fchmod(2) refuses O_PATH
//    readlink(ProcPath(fd.get()).c_str(), buffer, size);  // where it lies now
//
// It names the same object even after that has been renamed or removed. It needs /proc, and means
// something in this process alone.
#pragma once

#include <string>

namespace pa {

inline std::string ProcPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace pa
