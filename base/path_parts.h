// The parts of an absolute path, as text: nothing is looked at.
#pragma once

#include <string>
#include <string_view>

namespace pa {

// "/" for what lies there.
inline std::string ParentOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

inline std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `path`, seen from `directory` if it is relative.
inline std::string Join(std::string_view directory, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  return std::string(directory == "/" ? "" : directory).append("/").append(path);
}

}  // namespace pa
