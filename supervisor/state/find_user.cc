#include "supervisor/state/find_user.h"

#include <pwd.h>

#include <cerrno>
#include <charconv>

namespace pa {

Result<uid_t> FindUser(const std::string& name) {
  uid_t uid = 0;
  const char* const end = name.data() + name.size();
  const auto [read_to, error] = std::from_chars(name.data(), end, uid);
  if (error == std::errc() && read_to == end) return uid;
  errno = 0;
  const passwd* const entry = getpwnam(name.c_str());
  if (entry != nullptr) return entry->pw_uid;
  return std::unexpected(Error("find the user", name, errno == 0 ? ESRCH : errno));
}

}  // namespace pa
