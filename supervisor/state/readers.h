// GrantReader: a directory, and whatever will be made in it, can be read by one further user.
//
//    Result<void> granted = GrantReader("/etc/project-actions/tenants/1000", 1000);
//
// By a POSIX access list (acl(5)), because a group may have other members. Owner and group keep
// rwx and r-x (files: rw- and r--), the user gets r-x (r--), nobody else anything; so modes are
// 0750 and 0640. EOPNOTSUPP: the file system has no access lists.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace pa {

Result<void> GrantReader(const std::string& directory, uid_t user);

}  // namespace pa
