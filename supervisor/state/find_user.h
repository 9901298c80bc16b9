// FindUser, DescribeUser: a user of this machine, by name or number.
//
//    const Result<uid_t> user = FindUser("project-actions");
//    const Result<User> ann = DescribeUser("ann");
//
// ESRCH: there is none of that name. For FindUser a number needs no name.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace pa {

struct User {
  std::string name;
  uid_t id = 0;
  std::string home;
};

Result<uid_t> FindUser(const std::string& name);
Result<User> DescribeUser(const std::string& name);

}  // namespace pa
