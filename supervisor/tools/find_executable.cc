#include "supervisor/tools/find_executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "base/words.h"
#include "policy/decide.h"
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
  const bool named = set != ambient.end() && !set->second.empty();
  const std::string_view path = named ? std::string_view(set->second) : policy::kDefaultPath;
  for (const std::string_view entry : PathEntries(path)) {
    if (!entry.starts_with('/')) continue;
    std::string candidate = std::string(entry) + "/" + name;
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
