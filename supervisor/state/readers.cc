#include "supervisor/state/readers.h"

#include <endian.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace pa {
namespace {

// The value of the attribute, as linux/posix_acl_xattr.h has it: little-endian, in this order.
struct AclHeader {
  std::uint32_t version;
};
struct AclEntry {
  std::uint16_t tag;
  std::uint16_t permissions;
  std::uint32_t id;
};
struct AccessList {
  AclHeader header;
  std::array<AclEntry, 5> entries;
};
static_assert(sizeof(AccessList) == 44);

constexpr std::uint32_t kNobody = 0xffffffff;  // of entries that name no user

AclEntry EntryOf(std::uint16_t tag, std::uint16_t permissions, std::uint32_t id = kNobody) {
  return {htole16(tag), htole16(permissions), htole32(id)};
}

// `mine`: the owner's permissions; `others`: the reader's and the group's.
AccessList ListOf(uid_t reader, std::uint16_t mine, std::uint16_t others) {
  constexpr std::uint16_t kOwner = 1, kUser = 2, kGroup = 4, kMask = 0x10, kOther = 0x20;
  return {.header = {htole32(2)},
          .entries = {EntryOf(kOwner, mine), EntryOf(kUser, others, reader),
                      EntryOf(kGroup, others), EntryOf(kMask, others), EntryOf(kOther, 0)}};
}

Result<void> Set(const std::string& directory, const char* name, const AccessList& list) {
  if (setxattr(directory.c_str(), name, &list, sizeof list, 0) == 0) return {};
  return std::unexpected(Error("set the access list (acl) of", directory, errno));
}

}  // namespace

Result<void> GrantReader(const std::string& directory, uid_t user) {
  constexpr std::uint16_t kExecute = 1, kWrite = 2, kRead = 4;
  constexpr std::uint16_t kReads = kRead | kExecute;
  // What is made in it: files are not made executable, whatever the list says.
  Result<void> done =
      Set(directory, "system.posix_acl_default", ListOf(user, kReads | kWrite, kReads));
  if (done) done = Set(directory, "system.posix_acl_access", ListOf(user, kReads | kWrite, kReads));
  return done;
}

}  // namespace pa
