#include "policy/explain.h"

#include <filesystem>
#include <vector>

#include "base/json_writer.h"
#include "policy/grants.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "sandbox/enforcement.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

struct Use {
  Purpose purpose;
  const char* name;
};
constexpr Use kUses[] = {
    {Purpose::kBuild, "make"},
    {Purpose::kInspect, "make_targets, dry runs"},
    {Purpose::kGit, "git"},
};

struct Right {
  Access access;
  const char* name;
  const char* key;  // of the policy that would grant it
};
constexpr Right kRights[] = {
    {Access::kRead, "read", "filesystem: {read: "},
    {Access::kWrite, "write", "filesystem: {write: "},
    {Access::kExecute, "execute", "filesystem: {read: "},
};

// Where a command would work that meets this path: in the root that holds it, else in the first.
std::string DirectoryFor(const Policy& policy, const std::string& path) {
  const std::string* best = nullptr;
  for (const std::string& root : policy.roots) {
    if (IsBeneath(path, root) && (best == nullptr || root.size() > best->size())) best = &root;
  }
  return best == nullptr ? policy.roots.front() : *best;
}

// The grant that gives `right` on `path`, or null. The narrowest, as it says most.
const PathGrant* FindGrant(const std::vector<PathGrant>& grants, const std::string& path,
                           Access right) {
  const PathGrant* best = nullptr;
  for (const PathGrant& grant : grants) {
    if (!sandbox::Has(grant.access, right) || !IsBeneath(path, ResolvePath(grant.path))) continue;
    if (best == nullptr || grant.path.size() > best->path.size()) best = &grant;
  }
  return best;
}

// What to write to open the path to builds; "" where nothing is missing but execution.
std::string Remedy(const std::vector<PathGrant>& grants, const std::string& path) {
  for (const Right& right : kRights) {
    if (FindGrant(grants, path, right.access) == nullptr) {
      return std::string(right.key) + "[\"" + path + "\"]}";
    }
  }
  return "";
}

void WriteRight(JsonWriter& w, const Right& right, const PathGrant* grant) {
  w.Key(right.name).BeginObject().Field("allowed", grant != nullptr);
  if (grant != nullptr) w.Field("by", grant->reason).Field("path", grant->path);
  w.EndObject();
}

std::string Line(const Right& right, const PathGrant* grant) {
  std::string name = right.name;
  name.resize(9, ' ');
  if (grant == nullptr) return "  " + name + "no\n";
  return "  " + name + "yes  by " + grant->path + " (" + grant->reason + ")\n";
}

// A rule and whether it speaks of this tool.
bool Concerns(const Rule& rule, const std::string& tool) {
  return rule.tool == "*" || rule.tool == tool ||
         (tool == "project_actions" && rule.tool != "make_targets");
}

std::string RuleText(const Rule& rule) {
  std::string text = rule.allow ? "allow " : "deny ";
  text += rule.tool + (rule.target.empty() ? "" : " " + rule.target);
  if (!rule.reason.empty()) text += ": " + rule.reason;
  return text + " - " + rule.where;
}

std::string WhyEnabled(const Policy& policy, const std::string& tool, bool read_only) {
  if (read_only) return "it changes nothing, such tools are always enabled";
  if (!policy.effective) return "";
  for (const Located<std::string>& item : policy.effective->tools_enable->value) {
    if (item.value == tool || item.value == "all") return item.value + " in " + item.at.Format();
  }
  return "";
}

Purpose PurposeOf(const std::string& tool) {
  if (tool == "make_targets") return Purpose::kInspect;
  if (tool == "git_add" || tool == "git_commit") return Purpose::kGit;
  if (tool == "makefile_generate") return Purpose::kCreateFile;
  return Purpose::kBuild;
}

std::string ToolText(const Policy& policy, const std::string& tool, bool enabled,
                     const std::string& why) {
  std::string text = tool + ": " + (enabled ? "enabled" : "not enabled");
  if (enabled) text += " (" + why + ")\n";
  if (!enabled) {
    text += "\n  enable it with `--enable " + tool + "`, ENABLE_ADDITIONAL_TOOLS=" + tool +
            ", or\n  tools: {enable: [" + tool + "]} in the policy\n";
  }
  text +=
      "  network  " + std::string(sandbox::NetworkName(NetworkFor(policy, PurposeOf(tool)))) + '\n';
  for (const Rule& rule : policy.permissions) {
    if (Concerns(rule, tool)) text += "  rule     " + RuleText(rule) + '\n';
  }
  for (const Key& key : PolicyKeys()) {
    if (!key.IsLimit()) continue;
    const auto& limit = policy.effective->limits.find(key.name)->second;
    text += "  limit    " + std::string(key.Word()) + " " + FormatLimit(key, limit.value) + " (" +
            limit.at.Format() + ")\n";
  }
  return text;
}

std::string ToolJson(const Policy& policy, const std::string& tool, bool enabled,
                     const std::string& why) {
  JsonWriter w;
  w.BeginObject().Field("tool", tool).Field("enabled", enabled);
  if (enabled) w.Field("by", why);
  w.Field("network", sandbox::NetworkName(NetworkFor(policy, PurposeOf(tool))));
  w.Key("rules").BeginArray();
  for (const Rule& rule : policy.permissions) {
    if (!Concerns(rule, tool)) continue;
    w.BeginObject().Field("tool", rule.tool).Field("target", rule.target);
    w.Field("decision", rule.allow ? "allow" : "deny").Field("reason", rule.reason);
    w.Field("where", rule.where).EndObject();
  }
  w.EndArray().Key("limits").BeginObject();
  for (const Key& key : PolicyKeys()) {
    if (!key.IsLimit()) continue;
    w.Field(key.Word(), FormatLimit(key, policy.effective->limits.find(key.name)->second.value));
  }
  w.EndObject().EndObject();
  return std::move(w).Take();
}

}  // namespace

Explanation ExplainPath(const Policy& policy, const std::string& path) {
  const std::string resolved = ResolvePath(std::filesystem::path(policy.roots.front()) / path);
  const std::string directory = DirectoryFor(policy, resolved);
  Explanation out;
  out.text = path == resolved ? path : path + " is " + resolved;
  out.text += "\n  for a call in " + directory + '\n';
  JsonWriter w;
  w.BeginObject().Field("path", resolved).Field("working_directory", directory);
  w.Key("uses").BeginArray();
  std::string remedy;
  for (const Use& use : kUses) {
    const std::vector<PathGrant> grants = GrantsFor(policy, use.purpose, directory);
    if (use.purpose == Purpose::kBuild) remedy = Remedy(grants, resolved);
    out.text += std::string(use.name) + ":\n";
    w.BeginObject().Field("use", use.name);
    for (const Right& right : kRights) {
      const PathGrant* grant = FindGrant(grants, resolved, right.access);
      out.text += Line(right, grant);
      WriteRight(w, right, grant);
    }
    w.EndObject();
  }
  w.EndArray();
  if (!remedy.empty()) {
    w.Field("allow_with", remedy);
    out.text += "to allow more, write in the policy\n  " + remedy + '\n';
  }
  out.json = std::move(w.EndObject()).Take();
  return out;
}

Explanation ExplainTool(const Policy& policy, const std::string& tool, bool read_only) {
  const bool enabled = policy.ToolEnabled(tool, read_only);
  const std::string why = WhyEnabled(policy, tool, read_only);
  return {ToolText(policy, tool, enabled, why), ToolJson(policy, tool, enabled, why)};
}

}  // namespace pa::policy
