#include <string_view>

#include "policy/decide.h"
#include "policy/glob.h"

namespace pa::policy {
namespace {

// What programs expect of any session, and nothing that carries a secret or changes what they run.
constexpr std::string_view kAlwaysPassed[] = {"PATH", "HOME", "USER", "LOGNAME", "SHELL",
                                              "LANG", "LC_*", "TZ",   "TERM"};

bool AlwaysPassed(std::string_view name) {
  for (std::string_view pattern : kAlwaysPassed) {
    if (GlobMatch(pattern, name)) return true;
  }
  return false;
}

struct Setting {
  const char* name;
  const char* value;
};
constexpr Setting kFewRetries[] = {
    {"npm_config_fetch_retries", "0"},
    {"CARGO_NET_RETRY", "0"},
    {"PIP_RETRIES", "1"},  // without any, it does not say why
};

}  // namespace

void LimitRetries(const Policy& policy, std::map<std::string, std::string>& environment) {
  if (policy.network == sandbox::Network::kFull) return;
  for (const Setting& setting : kFewRetries) environment.try_emplace(setting.name, setting.value);
}

std::map<std::string, std::string> CommandEnvironment(
    const Policy& policy, const std::map<std::string, std::string>& ambient) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : ambient) {
    if (AlwaysPassed(name)) out[name] = value;
  }
  if (out["PATH"].empty()) out["PATH"] = kDefaultPath;
  for (const std::string& name : policy.environment_pass) {
    if (const auto found = ambient.find(name); found != ambient.end()) out[name] = found->second;
  }
  for (const auto& [name, value] : policy.environment_set) out[name] = value;
  return out;
}

}  // namespace pa::policy
