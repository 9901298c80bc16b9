// FindSharedFile: a file of the project that is one with a package store's. pnpm, bun and uv link
// their files into the project; a command that writes such a file in place changes the store, and
// with it every other project. The kernel cannot keep the two names apart (SECURITY.md, Hard
// links).
//
//   if (auto file = FindSharedFile("/srv/project")) Warn(*file);  // "/srv/project/.venv/lib/a.py"
#pragma once

#include <optional>
#include <string>

namespace pa::policy {

// The first regular file with more than one link that is found in the `node_modules`, `.venv` or
// `venv` of `root` or of a directory right in it. Nothing: none was found among so many names (some
// milliseconds), so there may be one. Follows no symlink, opens nothing but directories.
std::optional<std::string> FindSharedFile(const std::string& root, int names = 4096);

}  // namespace pa::policy
