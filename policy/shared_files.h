// FindSharedFile: finds a file of the project that is a hard link to a file in a package store.
// pnpm, bun and uv link their files into the project; a command that writes such a file in place
// changes the store, and with it every other project. The kernel cannot separate the two names
// (SECURITY.md, Hard links).
//
//    if (auto file = FindSharedFile("/srv/project")) Warn(*file);  // "/srv/project/.venv/lib/a.py"
#pragma once

#include <optional>
#include <string>

namespace pa::policy {

// The first regular file with more than one link in the `node_modules`, `.venv` or `venv` of
// `root`, or of a directory directly in it. At most `names` names are read (some milliseconds), so
// "nothing" does not mean that there is none. Follows no symlink and opens only directories.
std::optional<std::string> FindSharedFile(const std::string& root, int names = 4096);

}  // namespace pa::policy
