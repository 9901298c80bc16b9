#include "policy/warnings.h"

#include <sys/stat.h>

#include <variant>

#include "base/utf8.h"

namespace pa::policy {
namespace {

// A path of the policy that has its price is granted all the same: whoever wrote it may have
// reasons, and a sandbox that knows better is switched off.
std::string PriceAsWarning(const Relaxation& relaxation) {
  const bool root = std::holds_alternative<RootWithSecrets>(relaxation.type);
  const bool path = std::holds_alternative<ReadablePath>(relaxation.type) ||
                    std::holds_alternative<WritablePath>(relaxation.type);
  if (relaxation.remark.empty() || !(root || path)) return "";
  const std::string price = "'" + relaxation.value + "' " + relaxation.remark;
  return root ? price + ", as a root of calls; name a project's directory instead" : price;
}

// Every call will be refused; somebody may start the daemon later.
std::string NobodyListens(const AuditPolicy& audit) {
  struct stat status{};
  if (audit.socket.empty()) return "";
  if (stat(audit.socket.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) return "";
  return "no daemon has made " + audit.socket +
         ": without it no call can be recorded, and so none runs; start it, or write "
         "audit: {to: file}";
}

}  // namespace

// A command may write what it works in, whatever other names that has.
Diagnostic SharedFileWarning(const std::string& file) {
  return {SourceLocation{"roots"},
          "'" + RepairUtf8(file, /*one_line=*/true) +
              "' is a hard link: a command that writes it in place changes the package store that "
              "it comes from, and with it every other project. Let the package manager copy "
              "instead (pnpm: package-import-method=copy, bun: --backend=copyfile, uv: "
              "UV_LINK_MODE=copy)"};
}

std::vector<Diagnostic> FindWarnings(const Policy& policy) {
  std::vector<Diagnostic> warnings;
  for (const Relaxation& relaxation : policy.relaxations) {
    std::string warning = PriceAsWarning(relaxation);
    if (!warning.empty()) warnings.emplace_back(relaxation.at, std::move(warning));
  }
  if (std::string warning = NobodyListens(policy.audit); !warning.empty()) {
    warnings.emplace_back(SourceLocation{"audit.to"}, std::move(warning));
  }
  return warnings;
}

}  // namespace pa::policy
