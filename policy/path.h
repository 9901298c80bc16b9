// Paths as a policy writes them, and as the kernel will see them.
//
//    std::expected<std::string, std::string> path = ExpandPath("~/src", {home, variables});
//    if (IsBeneath(*path, "/home/ann")) ...
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

// Replaces `~`, `~/x` and `${VAR}`; keeps symlinks. An error says what is wrong: a relative path,
// `..`, a variable that is unset or empty, `$VAR` without braces, `~user`.
std::expected<std::string, std::string> SpellOut(std::string_view written,
                                                 const PathContext& context);

// The same, and removes `.` and doubled slashes and resolves symlinks.
std::expected<std::string, std::string> ExpandPath(std::string_view written,
                                                   const PathContext& context);

// realpath(3) of the longest part that exists, with the rest unchanged. `path` is absolute.
std::string ResolvePath(const std::string& path);

// Follows symlinks; false if `path` cannot be looked up.
bool IsDirectory(const std::string& path);

// Whether `path` is `directory` or lies in it. Both are absolute and resolved.
bool IsBeneath(std::string_view path, std::string_view directory);

// The path of `path` within `directory`; "." for the directory itself, "" if `path` does not lie in
// it.
std::string RelativeTo(std::string_view directory, std::string_view path);

}  // namespace pa::policy
