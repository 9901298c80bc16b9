#include "base/keep_metadata.h"

#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/try.h"

namespace pa {
namespace {

constexpr std::size_t kMaxXattrNames = 64U << 10;  // XATTR_LIST_MAX
constexpr std::size_t kMaxXattrValue = 64U << 10;  // XATTR_SIZE_MAX
constexpr mode_t kPermissions = 07777;
constexpr mode_t kOfGroup = S_ISGID | S_IRWXG;

// What the kernel takes from a file that is written to, and others of the system's own.
bool IsOfTheContent(const char* attribute) {
  for (const char* one : {"security.capability", "security.ima", "security.evm"}) {
    if (std::strcmp(attribute, one) == 0) return true;
  }
  return false;
}

SysResult<void> CopyXattrs(int from, int to, const char* name) {
  char names[kMaxXattrNames];
  const ssize_t size = flistxattr(from, names, sizeof names);
  for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(std::strlen(names + at)) + 1) {
    char value[kMaxXattrValue];
    if (IsOfTheContent(names + at)) continue;
    const ssize_t length = fgetxattr(from, names + at, value, sizeof value);
    if (length < 0) continue;
    const bool set = fsetxattr(to, names + at, value, static_cast<std::size_t>(length), 0) == 0;
    if (!set && (errno == ENOSPC || errno == EDQUOT)) return Failed("fsetxattr", name);
  }
  return {};
}

}  // namespace

// The owner first: a change of it takes set-user-ID away, and that is only given back to the owner.
// The mode last: an access list brings one of its own.
SysResult<void> KeepMetadata(int from, const struct stat& was, int to, const struct stat& is,
                             const char* name) {
  mode_t mode = was.st_mode & kPermissions;
  if (was.st_uid != is.st_uid || was.st_gid != is.st_gid) {
    const bool both = fchown(to, was.st_uid, was.st_gid) == 0;
    const bool owner = both || was.st_uid == is.st_uid;
    const bool group =
        both || was.st_gid == is.st_gid || fchown(to, static_cast<uid_t>(-1), was.st_gid) == 0;
    if (!owner) mode &= ~static_cast<mode_t>(S_ISUID);
    if (!group) mode = (mode & ~kOfGroup) | (mode & (mode & S_IRWXO) << 3);
  }
  PA_TRY_VOID(CopyXattrs(from, to, name));
  if (fchmod(to, mode) != 0) return Failed("fchmod", name);
  return {};
}

}  // namespace pa
