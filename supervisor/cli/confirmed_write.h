// Writes of a user's files that the user confirms: shows them as diffs, asks once, and writes.
//
//    const std::vector<UserFileChange> changes = {{path, *file, now}};
//    if (!WriteConfirmed(changes, command.yes)) return 1;      // standard error says why
//
// Only a person at a terminal is asked; scripts say `--yes`.
#pragma once

#include <span>
#include <string>

#include "supervisor/clients/user_file.h"

namespace pa {

struct UserFileChange {
  std::string path;  // as the user knows it; `file.path` is where it leads
  UserFile file;
  std::string now;
};

bool WriteConfirmed(std::span<const UserFileChange> changes, bool yes);

// `PROBLEM; nothing was written`, on standard error.
void PrintUnwritten(const std::string& problem);

}  // namespace pa
