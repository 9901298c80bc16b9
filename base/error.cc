#include "base/error.h"

#include <cerrno>
#include <cstring>

#include "base/utf8.h"

namespace pa {

std::string Error::Message() const {
  // The subject is often a path that somebody else chose: it must not break a line of the log.
  const std::string object = RepairUtf8(subject, /*one_line=*/true);
  if (sys_errno == 0) return object.empty() ? op : op + ": " + object;

  std::string message = op;
  if (!object.empty()) message += " \"" + object + "\"";
  const char* name = strerrorname_np(sys_errno);
  const char* description = strerrordesc_np(sys_errno);
  if (name == nullptr || description == nullptr) {
    return message + ": errno " + std::to_string(sys_errno);
  }
  return message + ": " + name + " (" + description + ")";
}

bool MeansUsedUp(int code) {
  switch (code) {
    case EMFILE:  // descriptors: of this process, of the machine
    case ENFILE:
    case EAGAIN:  // processes
    case ENOMEM:
    case ENOSPC:  // room on the file system, or in the quota
    case EDQUOT:
      return true;
    default:
      return false;
  }
}

}  // namespace pa
