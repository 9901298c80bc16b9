#include "supervisor/cli/tenant_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/path_stamp.h"
#include "base/try.h"
#include "policy/path.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/systemctl.h"
#include "supervisor/clients/user_file.h"
#include "supervisor/state/find_user.h"
#include "supervisor/state/readers.h"
#include "supervisor/state/tenant_directory.h"
#include "supervisor/state/token_file.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::days kFirstTokenLasts{90};
constexpr char kFirstToken[] = "first";

void Tell(const std::string& text) { fmt::print(stderr, "{}\n", text); }

int Failed(const std::string& why) {
  Tell("project-actions: " + why);
  return 1;
}

// What has been done, to be undone if a later step fails.
class Steps {
 public:
  ~Steps() {
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step) {
      Tell("undone: " + step->first);
      step->second();
    }
  }
  void Did(const std::string& what, std::function<void()> undo) {
    Tell(what);
    undo_.emplace_back(what, std::move(undo));
  }
  void Keep() { undo_.clear(); }

 private:
  std::vector<std::pair<std::string, std::function<void()>>> undo_;
};

// What both of the next do to one unit and, to undo it, the other.
Result<void> Switch(const char* verb, const std::string& unit) {
  return Systemctl({verb, "--now", "--quiet", unit});
}
void SwitchBack(const char* verb, const std::string& unit) {
  if (const auto done = Switch(verb, unit); !done) Tell(done.error().Message());
}

Result<void> Enable(Steps& steps, const std::string& unit) {
  PA_TRY_VOID(Switch("enable", unit));
  steps.Did("enabled and started " + unit, [unit] { SwitchBack("disable", unit); });
  return {};
}

Result<void> Disable(Steps& steps, const std::string& unit) {
  PA_TRY_VOID(Switch("disable", unit));
  steps.Did("disabled and stopped " + unit, [unit] { SwitchBack("enable", unit); });
  return {};
}

std::string Socket(uid_t tenant) { return fmt::format("project-actions@{}.socket", tenant); }
std::string Service(uid_t tenant) { return fmt::format("project-actions@{}.service", tenant); }

Result<std::vector<std::string>> RootsOf(const TenantAddCommand& command, const User& user) {
  std::vector<std::string> roots;
  for (const std::string& root : command.roots) roots.push_back(AbsoluteFromStart(root));
  const std::string usual = user.home + "/src";
  if (roots.empty() && policy::IsDirectory(usual)) roots.push_back(usual);
  if (roots.empty()) {
    return std::unexpected(Error("name with --root where calls may work; there is no", usual));
  }
  return roots;
}

// A scalar of YAML in single quotes.
std::string Scalar(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string PolicyText(const User& user, const std::vector<std::string>& roots,
                       const std::vector<std::string>& enable) {
  std::string text = fmt::format(
      "# The policy of the tenant {}, beneath /etc/project-actions/policy.yaml; see\n"
      "# project-actions.yaml(5). A change counts after\n"
      "#   systemctl reload {}\n"
      "version: 1\nroots:\n",
      user.name, Service(user.id));
  for (const std::string& root : roots) text += "  - " + Scalar(root) + "\n";
  if (!enable.empty()) text += "tools:\n  enable:\n";
  for (const std::string& tool : enable) text += "    - " + Scalar(tool) + "\n";
  return text;
}

Result<void> CheckPolicy(const std::string& file, const Environment& environment) {
  const policy::LoadedPolicy loaded = policy::LoadPolicy(SourcesElsewhere(file, environment));
  if (loaded.policy) return {};
  for (const policy::Diagnostic& diagnostic : loaded.diagnostics) Tell(diagnostic.Format());
  return std::unexpected(Error("the tenant's policy would not load:", file, EINVAL));
}

Result<void> WriteNew(const std::string& path, const std::string& text) {
  return ReplaceUserFile({.path = path, .exists = false, .content = {}}, text);
}

Result<void> MakeDirectory(Steps& steps, const std::string& all, const TenantPaths& paths,
                           uid_t tenant) {
  struct stat parent{};
  if (stat(all.c_str(), &parent) != 0) {
    return std::unexpected(Error("is the package project-actionsd installed? look at", all, errno));
  }
  if (mkdir(paths.directory.c_str(), 0700) != 0) {
    return std::unexpected(Error("mkdir", paths.directory, errno));
  }
  steps.Did("made " + paths.directory, [path = paths.directory] {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  });
  // The group of the front door, as that of the directory of all.
  if (chown(paths.directory.c_str(), static_cast<uid_t>(-1), parent.st_gid) != 0 ||
      chmod(paths.directory.c_str(), S_ISGID | 0750) != 0) {
    return std::unexpected(Error("chown", paths.directory, errno));
  }
  return GrantReader(paths.directory, tenant);
}

Result<void> Link(Steps& steps, const std::string& all, const User& user) {
  const std::string link = all + "/" + user.name;
  const std::string target = std::to_string(user.id);
  if (symlink(target.c_str(), link.c_str()) != 0) {
    return std::unexpected(Error("symlink", link, errno));
  }
  steps.Did(fmt::format("made {} -> {}", link, target), [link] { unlink(link.c_str()); });
  return {};
}

// The first tenant brings the front door with it.
Result<void> StartUnits(Steps& steps, uid_t tenant) {
  PA_TRY_VOID(Enable(steps, Socket(tenant)));
  for (const char* unit : {"project-actionsd.socket", "project-actions-nginx.service"}) {
    // What others use stays if a later step fails.
    const bool enabled = Systemctl({"is-enabled", "--quiet", unit}).has_value();
    PA_TRY_VOID(enabled ? Systemctl({"start", unit}) : Enable(steps, unit));
  }
  return {};
}

Result<std::string> Add(const TenantAddCommand& command, const Environment& environment) {
  PA_TRY(const User user, DescribeUser(command.user));
  if (!TenantId(std::to_string(user.id))) {
    return std::unexpected(Error("this user cannot be a tenant:", user.name, EINVAL));
  }
  PA_TRY(const std::vector<std::string> roots, RootsOf(command, user));
  const TenantPaths paths = TenantPathsOf(command.tenants, user.id);
  if (LookAt(paths.directory).exists) {
    return std::unexpected(Error("there is such a tenant already:", paths.directory, EEXIST));
  }
  Steps steps;
  PA_TRY_VOID(MakeDirectory(steps, command.tenants, paths, user.id));
  PA_TRY_VOID(WriteNew(paths.policy, PolicyText(user, roots, command.enable)));
  Tell("wrote " + paths.policy);
  PA_TRY_VOID(CheckPolicy(paths.policy, environment));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const NewToken token = MakeToken(kFirstToken, now, now + kFirstTokenLasts);
  PA_TRY_VOID(WriteNew(paths.tokens, FormatTokens({token.token})));
  Tell(fmt::format("wrote {}, with the token '{}', which expires in {} days", paths.tokens,
                   kFirstToken, kFirstTokenLasts.count()));
  PA_TRY_VOID(Link(steps, command.tenants, user));
  PA_TRY_VOID(MarkTenantsChanged(command.tenants));
  if (SystemdRuns()) {
    PA_TRY_VOID(StartUnits(steps, user.id));
  } else {
    Tell("systemd does not run here: start " + Socket(user.id) + " and the front door yourself");
  }
  steps.Keep();
  return token.text;
}

// The front door stops at once; the tenant's server and all that runs there end before the
// directory goes.
Result<void> Remove(const TenantRemoveCommand& command) {
  PA_TRY(const uid_t tenant, FindTenant(command.tenants, command.user));
  const TenantPaths paths = TenantPathsOf(command.tenants, tenant);
  const std::string aside = fmt::format("{}/.{}.removed", command.tenants, tenant);
  PA_TRY(const std::vector<TenantName> all, ListTenants(command.tenants));
  Steps steps;
  std::error_code failed;
  fs::remove_all(aside, failed);
  fs::rename(paths.directory, aside, failed);
  if (failed) return std::unexpected(Error("rename", paths.directory, failed.value()));
  steps.Did("took " + paths.directory + " away", [&] {
    std::error_code ignored;
    fs::rename(aside, paths.directory, ignored);
    if (const auto told = MarkTenantsChanged(command.tenants); !told) Tell(told.error().Message());
  });
  PA_TRY_VOID(MarkTenantsChanged(command.tenants));
  if (SystemdRuns()) {
    PA_TRY_VOID(Disable(steps, Socket(tenant)));
    PA_TRY_VOID(Systemctl({"stop", Service(tenant)}));
    Tell("stopped " + Service(tenant));
  } else {
    Tell("systemd does not run here: end " + Service(tenant) + " yourself");
  }
  steps.Keep();
  for (const TenantName& one : all) {
    if (one.id == tenant && !one.name.empty()) {
      unlink((command.tenants + "/" + one.name).c_str());
    }
  }
  fs::remove_all(aside, failed);
  if (failed) return std::unexpected(Error("remove", aside, failed.value()));
  Tell(fmt::format("removed {}; the files of its user are as they were", paths.directory));
  return {};
}

}  // namespace

int RunTenantAdd(const TenantAddCommand& command, const Environment& environment) {
  if (geteuid() != 0) return Failed(std::string("only root can add a tenant"));
  const Result<std::string> token = Add(command, environment);
  if (!token) return Failed(token.error().Message());
  Tell(
      "MCP is at http://127.0.0.1:8787/mcp, unless /etc/project-actions/nginx.d says otherwise.\n"
      "The token below is not shown again. A client sends it with each request as\n"
      "  Authorization: Bearer TOKEN");
  fmt::print("{}\n", *token);
  return 0;
}

int RunTenantList(const TenantListCommand& command) {
  const Result<std::vector<TenantName>> tenants = ListTenants(command.tenants);
  if (!tenants) return Failed(tenants.error().Message());
  JsonWriter w;
  w.BeginArray();
  std::string lines;
  for (const TenantName& tenant : *tenants) {
    TokenFile file(TenantPathsOf(command.tenants, tenant.id).tokens);
    const Result<const std::vector<Token>*> tokens = file.All();
    if (!tokens) return Failed(tokens.error().Message());
    w.BeginObject().Field("user", tenant.name).Field("uid", std::int64_t{tenant.id});
    w.Field("tokens", static_cast<std::int64_t>((*tokens)->size())).EndObject();
    lines += fmt::format("{}  {}  tokens: {}\n", tenant.id, tenant.name, (*tokens)->size());
  }
  w.EndArray();
  if (lines.empty()) lines = "there are no tenants; `project-actions tenant add USER` adds one\n";
  fmt::print("{}", command.json ? std::move(w).Take() + "\n" : lines);
  return 0;
}

int RunTenantRemove(const TenantRemoveCommand& command) {
  if (geteuid() != 0) return Failed(std::string("only root can remove a tenant"));
  const Result<void> done = Remove(command);
  return done ? 0 : Failed(done.error().Message());
}

}  // namespace pa
