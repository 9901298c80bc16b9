#include "supervisor/tools/find_executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace pa {
namespace {

bool IsExecutableFile(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// By where the directory really is: a PATH entry may be a symlink into the project.
bool LiesWithin(const std::string& entry, const std::string& project) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(entry.c_str(), nullptr),
                                                         &std::free);
  if (!real) return false;
  const std::string_view path = real.get();
  return path == project || path.starts_with(project + "/");
}

}  // namespace

std::optional<std::string> FindExecutable(const std::string& name,
                                          const std::map<std::string, std::string>& ambient,
                                          const std::string& project) {
  const auto set = ambient.find("PATH");
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  if (set != ambient.end()) path = set->second;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string entry(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!entry.starts_with('/')) continue;
    std::string candidate = entry + "/" + name;
    if (!IsExecutableFile(candidate)) continue;
    if (project.empty() || !LiesWithin(entry, project)) return candidate;
  }
  return std::nullopt;
}

}  // namespace pa
