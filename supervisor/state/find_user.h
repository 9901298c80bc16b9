// FindUser: a user of this machine, by name or number.
//
//    const Result<uid_t> user = FindUser("project-actions");
//
// ESRCH: there is none of that name. A number needs none.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace pa {

Result<uid_t> FindUser(const std::string& name);

}  // namespace pa
