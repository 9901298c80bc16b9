// Spelling: other names by which a file system finds the same file, although Linux takes them for
// others: where names have no case `.GIT`, on FAT and NTFS the short name (`GIT~1`, `VSCODE~1`),
// dots and blanks at the end, and on NTFS a stream after a colon. What must not be written is
// refused by all of them, on every file system.
//
//   if (Spells("GIT~1", ".git")) ...
//   std::string_view rest = "/p/VSCODE~1/tasks.json", name = "/p/.vscode";
//   TakeSame(rest, name);   // `name` is empty: `rest` lies in it, as "tasks.json"
#pragma once

#include <string_view>

namespace pa::policy {

// Of single components; `name` is what a program opens.
bool Spells(std::string_view spelling, std::string_view name);

// Takes from the beginnings of both paths the components that are the same, and their slashes.
void TakeSame(std::string_view& spelled, std::string_view& named);

}  // namespace pa::policy
