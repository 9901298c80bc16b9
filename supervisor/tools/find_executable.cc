#include "supervisor/tools/find_executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "policy/trust_anchors.h"

namespace pa {
namespace {

bool IsExecutableFile(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

}  // namespace

FoundExecutable FindExecutable(const std::string& name,
                               const std::map<std::string, std::string>& ambient,
                               const policy::Policy* policy) {
  FoundExecutable found;
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
    if (policy == nullptr || !policy::WhereCommandsWrite(*policy, candidate)) {
      found.path = std::move(candidate);
      return found;
    }
    if (found.passed_over.empty()) found.passed_over = std::move(candidate);
  }
  return found;
}

}  // namespace pa
