// Paths as a policy writes them, and as the kernel will see them.
//
//   std::expected<std::string, std::string> path = ExpandPath("~/src", {home, variables});
//   if (IsBeneath(*path, "/home/ann")) ...
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

namespace pa::policy {

struct PathContext {
  std::string home;
  const std::map<std::string, std::string>& variables;
};

// `~`, `~/x` and `${VAR}` replaced, symlinks as they are. An error says what is wrong: relative,
// `..`, a variable that is unset or empty, `$VAR` without braces, `~user`.
std::expected<std::string, std::string> SpellOut(std::string_view written,
                                                 const PathContext& context);

// The same, with `.` and doubled slashes removed, symlinks resolved.
std::expected<std::string, std::string> ExpandPath(std::string_view written,
                                                   const PathContext& context);

// realpath(3) of the longest part that exists, and the rest as it is. `path` is absolute.
std::string ResolvePath(const std::string& path);

// Symlinks are followed; false for what cannot be looked at.
bool IsDirectory(const std::string& path);

// `path` is `directory` or lies in it. Both absolute and resolved.
bool IsBeneath(std::string_view path, std::string_view directory);

// The rest of `path`, which lies in `directory`; "." for the directory itself, "" for what does
// not.
std::string RelativeTo(std::string_view directory, std::string_view path);

}  // namespace pa::policy
