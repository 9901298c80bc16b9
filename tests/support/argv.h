// Strings as the argv or envp that exec and posix_spawn want; the strings must outlive the
// pointers.
#pragma once

#include <string>
#include <vector>

namespace pa::testing {

inline std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace pa::testing
