// Spells, TakeSame: other names by which a file system finds the same file although Linux sees
// different names: on case-insensitive file systems `.GIT`; on FAT and NTFS the short name
// (`GIT~1`, `VSCODE~1`) and dots and blanks at the end; on NTFS a stream after a colon. A file that
// must not be written is refused under all these names, on every file system.
//
//    if (Spells("GIT~1", ".git")) ...
//    std::string_view rest = "/p/VSCODE~1/tasks.json", name = "/p/.vscode";
//    TakeSame(rest, name);   // `name` is empty: `rest` lies in it, as "tasks.json"
#pragma once

#include <string_view>

namespace pa::policy {

// For single components; `name` is the name that a program opens.
bool Spells(std::string_view spelling, std::string_view name);

// Removes the components that are the same, with their slashes, from the beginnings of both paths.
void TakeSame(std::string_view& spelled, std::string_view& named);

}  // namespace pa::policy
