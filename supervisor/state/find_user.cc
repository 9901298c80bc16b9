#include "supervisor/state/find_user.h"

#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "base/try.h"

namespace pa {

namespace {

std::optional<uid_t> NumberIn(const std::string& name) {
  uid_t uid = 0;
  const char* const end = name.data() + name.size();
  const auto [read_to, error] = std::from_chars(name.data(), end, uid);
  return error == std::errc() && read_to == end ? std::optional(uid) : std::nullopt;
}

}  // namespace

Result<uid_t> FindUser(const std::string& name) {
  if (const auto number = NumberIn(name)) return *number;
  PA_TRY(const User user, DescribeUser(name));
  return user.id;
}

Result<User> DescribeUser(const std::string& name) {
  const auto number = NumberIn(name);
  errno = 0;
  const passwd* const entry = number ? getpwuid(*number) : getpwnam(name.c_str());
  if (entry != nullptr) {
    return User{.name = entry->pw_name, .id = entry->pw_uid, .home = entry->pw_dir};
  }
  return std::unexpected(Error("find the user", name, errno == 0 ? ESRCH : errno));
}

}  // namespace pa
