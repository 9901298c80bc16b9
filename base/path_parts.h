// The parts of an absolute path, as text only: the file system is not consulted.
//
//    ParentOf("/a/b")     // "/a"
//    NameOf("/a/b")       // "b"
//    Join("/a", "b")      // "/a/b"
//
// So `..` and symlinks mean nothing to it. policy/path.h resolves them.
#pragma once

#include <string>
#include <string_view>

namespace pa {

// "/" for an entry of the root directory.
inline std::string ParentOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

inline std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `path`; if it is relative, it starts from `directory`.
inline std::string Join(std::string_view directory, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  return std::string(directory == "/" ? "" : directory).append("/").append(path);
}

}  // namespace pa
