#include "policy/explain.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/json_writer.h"
#include "base/words.h"
#include "policy/access.h"
#include "policy/grants.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "policy/protected_paths.h"
#include "policy/rules.h"
#include "sandbox/enforcement.h"
#include "sandbox/view.h"

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
};
constexpr Right kRights[] = {
    {Access::kRead, "read"}, {Access::kWrite, "write"}, {Access::kExecute, "execute"}};

// Where a command would work that meets this path: in the root that holds it, else in the first.
std::string DirectoryFor(const Policy& policy, const std::string& path) {
  const std::string* best = nullptr;
  for (const std::string& root : policy.roots) {
    if (IsBeneath(path, root) && (best == nullptr || root.size() > best->size())) best = &root;
  }
  return best == nullptr ? policy.roots.front() : *best;
}

// What to write to open the path to builds; empty where nothing is missing but execution.
Suggestion Remedy(const Policy& policy, const GrantedPaths& granted, const std::string& path) {
  for (const Right& right : kRights) {
    if (granted.Find(path, right.access) == nullptr) {
      return SuggestGrant(policy, path, right.access);
    }
  }
  return {};
}

// What keeps `path` as it is for one use.
struct Keeping {
  std::string reason;       // "" = nothing does
  bool log = false;         // it is the audit log's directory
  bool read_only = false;   // because of git.commands: nothing changes it, so nothing is undone
  std::string refused_for;  // that directory, where nothing runs because it could be written; or ""
  std::string unknown;      // why it is not known; then nothing runs
  bool meanwhile = false;   // what a command does to it stays until the command ends
};

Keeping KeepingOf(const Policy& policy, Purpose purpose, const std::string& directory,
                  const std::string& path, bool has_view) {
  std::vector<std::string> writable = WritableTrees(GrantsFor(policy, purpose, directory));
  if (writable.empty()) return {};
  ProtectionQuery query = QueryFor(policy, directory, std::move(writable));
  query.mounts = query.git_read_only =
      has_view && purpose == Purpose::kBuild && policy.git.commands != GitCommands::kWrite;
  Result<ProtectedPaths> found = FindProtectedPaths(query);
  if (!found) return {.unknown = found.error().Message()};
  Keeping keeping;
  const ProtectedPath* by = found->Protecting(path);
  if (by != nullptr && by->kind == ProtectedPath::Kind::kReadOnly) {
    keeping.read_only = true;
    if (by->path != path) {
      found->paths = std::move(found->within_read_only);
      by = found->Protecting(path);
    }
  }
  if (by != nullptr) {
    keeping.meanwhile = !has_view && by->kind != ProtectedPath::Kind::kSealed;
    keeping.reason = by->reason;
    keeping.log = by->kind == ProtectedPath::Kind::kSealed;
  }
  if (const ProtectedPath* log = found->Sealed(); log != nullptr && !has_view) {
    keeping.refused_for = log->path;
  }
  return keeping;
}

void WriteKeeping(const Keeping& keeping, Explanation& out, JsonWriter& w) {
  if (!keeping.refused_for.empty()) {
    w.Field("refused", "audit log");
    out.text += "  but nothing runs: it could write the audit log in " + keeping.refused_for +
                ", and only namespaces would prevent that\n";
    return;
  }
  if (!keeping.unknown.empty()) {
    w.Field("unknown", keeping.unknown);
    out.text += "  but nothing runs: what is protected cannot be read: " + keeping.unknown + "\n";
    return;
  }
  if (!keeping.reason.empty()) w.Field("protected", keeping.reason);
  if (keeping.meanwhile) w.Field("open", "protected_paths");
  if (keeping.read_only) {
    w.Field("read_only", "git.commands");
    out.text += "  but the repository is read-only to these commands (git.commands)\n";
    return;
  }
  if (keeping.reason.empty()) return;
  out.text += keeping.log
                  ? "  but it is an empty directory to commands, and stays one (audit log)\n"
                  : "  but changes that commands make here are undone when they end (" +
                        keeping.reason + ")\n";
  if (keeping.meanwhile) {
    out.text +=
        "  until then other programs find the changes: namespaces would prevent most of them "
        "(protected_paths)\n";
  }
}

// Landlock does not cover it (file_metadata).
void AddMetadataRemark(const sandbox::View* view, Explanation& out, JsonWriter& w) {
  if (view != nullptr) return;
  w.Field("open", "file_metadata");
  out.text +=
      "whatever it says above: without namespaces a command sees names, sizes and times here, and "
      "changes mode, owner and times, as far as its user can (file_metadata)\n";
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
  const bool named = rule.tool == "*" || rule.tool == tool ||
                     (tool == "project_actions" && rule.tool != "make_targets");
  return named && (rule.path.empty() || Has(tool, Subject::kPath)) &&
         (rule.command.empty() || Has(tool, Subject::kCommand));
}

std::string FormatRule(const Rule& rule) {
  std::string text = std::string(VerdictName(rule.verdict)) + " " + rule.tool;
  for (const std::string& what : {rule.target, rule.path, rule.command}) {
    if (!what.empty()) text += " " + what;
  }
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
  if (tool == "glob" || tool == "grep") return Purpose::kSearch;
  if (tool == "git_add" || tool == "git_commit") return Purpose::kGit;
  if (tool == "read") return Purpose::kReadFile;
  if (tool == "write" || tool == "edit" || tool == "delete" || tool == "makefile_generate")
    return Purpose::kWriteFile;
  return Purpose::kBuild;
}

std::string ToolText(const Policy& policy, const std::string& tool, bool enabled, bool inner,
                     const std::string& why) {
  std::string text = tool + ": " + (enabled ? "enabled" : "not enabled");
  if (enabled) text += " (" + why + ")\n";
  if (!enabled) {
    text += "\n  enable it with `--enable " + tool + "`, ENABLE_ADDITIONAL_TOOLS=" + tool +
            ", or\n  tools: {enable: [" + tool + "]} in the policy\n";
  }
  text +=
      "  network  " + std::string(sandbox::NetworkName(NetworkFor(policy, PurposeOf(tool)))) + '\n';
  text += inner ? "  pipeline may call it, and so may batch\n"
                : "  pipeline may not call it, nor may batch: pipeline.tools does not name it\n";
  for (const Rule& rule : policy.permissions) {
    if (Concerns(rule, tool)) text += "  rule     " + FormatRule(rule) + '\n';
  }
  for (const Key& key : PolicyKeys()) {
    if (!key.IsLimit()) continue;
    const auto& limit = policy.effective->limits.find(key.name)->second;
    text += "  limit    " + std::string(key.Word()) + " " + FormatLimit(key, limit.value) + " (" +
            limit.at.Format() + ")\n";
  }
  return text;
}

std::string ToolJson(const Policy& policy, const std::string& tool, bool enabled, bool inner,
                     const std::string& why) {
  JsonWriter w;
  w.BeginObject().Field("tool", tool).Field("enabled", enabled);
  if (enabled) w.Field("by", why);
  w.Field("network", sandbox::NetworkName(NetworkFor(policy, PurposeOf(tool))));
  w.Field("in_pipelines", inner);
  w.Key("rules").BeginArray();
  for (const Rule& rule : policy.permissions) {
    if (!Concerns(rule, tool)) continue;
    w.BeginObject().Field("tool", rule.tool).Field("target", rule.target);
    if (!rule.path.empty()) w.Field("path", rule.path);
    if (!rule.command.empty()) w.Field("command", rule.command);
    w.Field("decision", VerdictName(rule.verdict)).Field("reason", rule.reason);
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

// What a path that was asked about stands for.
struct Meaning {
  std::string asked;       // absolute, symlinks and all
  std::string path;        // resolved
  std::string directory;   // where a call would work
  std::string_view never;  // why no grant shows it; "" if one can
};

constexpr const char* kLogHidden =
    "mounts: commands find an empty directory in place of the audit log's";
constexpr std::string_view kServersOwn =
    "server: no command can reach the server's own sockets and tokens";
constexpr const char* kHidden =
    "mounts: commands have a view of their own, in which no name leads there";
constexpr std::string_view kCovered =
    "mounts: of the top of /proc commands see only files that all users of the machine can read";
constexpr const char* kOtherProcess =
    "pids: commands see their own processes alone, numbered anew from 1";

// Directories that a view has anew for each command (supervisor/run/slot_pool.h, worker/child.cc).
struct OwnPlace {
  std::string_view path;
  std::string_view reason;
};
constexpr OwnPlace kOwnPlaces[] = {
    {"/tmp", "private to each command, and empty when it begins"},
    {"/dev/shm", "private to each command, and empty when it begins"},
    {"/dev/pts", "the command's own pseudo-terminals"},
    {"/dev/ptmx", "the command's own pseudo-terminals"},
    {"/dev/tty", "the command's own terminal, if it makes one"},
};

const OwnPlace* OwnPlaceOf(std::string_view path) {
  const auto* found = std::ranges::find_if(
      kOwnPlaces, [&](const OwnPlace& place) { return IsBeneath(path, place.path); });
  return found == std::end(kOwnPlaces) ? nullptr : found;
}

// Where /tmp holds what a command works on, it shows that and no private directory.
bool HoldsGrants(const sandbox::View& view, const std::vector<PathGrant>& grants,
                 std::string_view place) {
  const auto is_in = [&](const sandbox::Mount& mount) {
    return mount.kind != sandbox::MountKind::kDirectory && mount.target != place &&
           IsBeneath(mount.target, place);
  };
  return std::ranges::any_of(sandbox::PlanOwnMounts(view, grants), is_in) ||
         std::ranges::any_of(view.mounts, is_in);
}

// What the view gives of `meaning` beyond the grants; nothing if it is no place of its own.
std::optional<PathGrant> OwnGrant(const sandbox::View& view, const std::vector<PathGrant>& grants,
                                  const std::string& asked) {
  const OwnPlace* place = OwnPlaceOf(asked);
  if (place == nullptr) return std::nullopt;
  PathGrant own{.path = std::string(place->path),
                .access = sandbox::kReadWrite,
                .reason = std::string(place->reason)};
  if (place->path != "/tmp" && place->path != "/dev/shm") return own;
  if (HoldsGrants(view, grants, place->path)) return std::nullopt;
  const bool builds = std::ranges::any_of(grants, [](const PathGrant& grant) {
    return sandbox::Has(grant.access, Access::kWrite) &&
           sandbox::Has(grant.access, Access::kExecute);
  });
  if (builds) own.access = sandbox::kReadWriteExecute;
  return own;
}

// /proc/PID of a process outside a pid namespace.
bool IsOtherProcess(std::string_view path) {
  constexpr std::string_view kProc = "/proc/";
  return path.starts_with(kProc) && path.size() > kProc.size() && path[kProc.size()] >= '0' &&
         path[kProc.size()] <= '9';
}

bool IsInLog(const Policy& policy, const std::string& path) {
  const std::string log = policy.audit.Directory();
  return !log.empty() && path != log && IsBeneath(path, log);
}

bool IsServersOwn(const Policy& policy, const std::string& path) {
  return std::ranges::any_of(
      policy.covered, [&](const CoveredPath& covered) { return IsBeneath(path, covered.path); });
}

bool IsHidden(const Policy& policy, const sandbox::View& view, const std::vector<PathGrant>& grants,
              const Meaning& meaning) {
  if (IsOtherProcess(meaning.asked)) return true;
  if (IsInLog(policy, meaning.path) && ReachLog(grants, policy)) return true;
  std::vector<sandbox::Mount> mounts = sandbox::PlanOwnMounts(view, grants);
  mounts.insert(mounts.end(), view.mounts.begin(), view.mounts.end());
  return !sandbox::CanBeNamed(mounts, meaning.asked);
}

// What the running process would see there is for each command its own.
bool IsOwnState(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 3> kLinks = {"cwd", "exe", "root"};
  const std::string directory = path.parent_path().string();
  if (directory != "/proc/self" && directory != "/proc/thread-self") return false;
  return std::ranges::find(kLinks, path.filename().string()) == kLinks.end();
}

bool IsCovered(const std::string& path) {
  struct stat status{};
  return std::filesystem::path(path).parent_path() == "/proc" &&
         lstat(path.c_str(), &status) == 0 && sandbox::IsCoveredInProc(status);
}

Meaning Understand(const Policy& policy, const std::string& path, bool has_view) {
  const std::filesystem::path asked =
      (std::filesystem::path(policy.roots.front()) / path).lexically_normal();
  Meaning meaning;
  meaning.asked = asked.string();
  meaning.never = WhatNeverShows(meaning.asked);
  // Followed by us, /proc/1/root would lead where it leads no command.
  const bool as_asked = !meaning.never.empty() || IsOwnState(asked);
  meaning.path = as_asked ? asked.string() : ResolvePath(asked.string());
  if (meaning.never.empty()) meaning.never = WhatNeverShows(meaning.path);
  if (meaning.never.empty() && has_view && IsCovered(meaning.path)) meaning.never = kCovered;
  if (IsServersOwn(policy, meaning.path)) meaning.never = kServersOwn;
  // What the host has in a place that commands have anew, such as a link, leads them nowhere.
  if (const OwnPlace* place = OwnPlaceOf(meaning.asked); place != nullptr && has_view) {
    meaning.path = ResolvePath(std::string(place->path)) + meaning.asked.substr(place->path.size());
  }
  meaning.directory = DirectoryFor(policy, meaning.path);
  return meaning;
}

GrantedPaths GrantedFor(const Policy& policy, Purpose purpose, const Meaning& meaning,
                        const sandbox::View* view) {
  if (!meaning.never.empty()) return GrantedPaths({});
  std::vector<PathGrant> grants = GrantsFor(policy, purpose, meaning.directory);
  // The call adds the repository, wherever it lies.
  if (purpose == Purpose::kGitAlone) {
    grants.push_back({meaning.directory + "/.git", sandbox::kReadWrite, "git repository"});
  }
  if (view != nullptr) {
    if (auto own = OwnGrant(*view, grants, meaning.asked)) {
      return GrantedPaths(std::vector{*std::move(own)});
    }
  }
  if (view != nullptr && IsHidden(policy, *view, grants, meaning)) return GrantedPaths({});
  return GrantedPaths(std::move(grants));
}

// Granted under another name: what helps is that name, and no policy.
bool IsHiddenOnly(const Policy& policy, const Meaning& meaning, const sandbox::View* view) {
  if (view == nullptr || !meaning.never.empty()) return false;
  const std::vector<PathGrant> grants = GrantsFor(policy, Purpose::kBuild, meaning.directory);
  if (OwnGrant(*view, grants, meaning.asked)) return false;
  return IsHidden(policy, *view, grants, meaning) &&
         GrantedPaths(grants).Find(meaning.path, Access::kRead) != nullptr;
}

void AddRemedy(const Policy& policy, const Meaning& meaning, const Suggestion& remedy,
               const sandbox::View* view, Explanation& out, JsonWriter& w) {
  if (IsHiddenOnly(policy, meaning, view)) {
    const char* whole = IsOtherProcess(meaning.asked)   ? kOtherProcess
                        : IsInLog(policy, meaning.path) ? kLogHidden
                                                        : nullptr;
    w.Field("blocked_by", whole != nullptr ? whole : kHidden);
    out.text += whole != nullptr ? std::string(whole) + "; no line of policy changes that\n"
                                 : std::string(kHidden) + "; " + meaning.path + " does\n";
    return;
  }
  if (!meaning.never.empty()) {
    w.Field("blocked_by", meaning.never);
    out.text += std::string(meaning.never) + "; no line of policy changes that\n";
    return;
  }
  const OwnPlace* place = OwnPlaceOf(meaning.asked);
  if (view == nullptr && place != nullptr && place->path.starts_with("/dev/p") &&
      policy.namespaces == sandbox::Namespaces::kOff) {
    constexpr const char* kLine = "namespaces: auto";
    w.Field("allow_with", kLine);
    out.text += std::string("to allow more, write in the policy\n  ") + kLine + '\n';
    return;
  }
  if (!remedy.why_none.empty()) {
    w.Field("remark", remedy.why_none);
    out.text += remedy.why_none + '\n';
  }
  if (remedy.line.empty()) return;
  w.Field("allow_with", remedy.line);
  out.text += "to allow more, write in the policy\n  " + remedy.line + '\n';
  const std::string price = PriceOf(meaning.path, policy.home);
  if (price.empty()) return;
  w.Field("remark", price);
  out.text += "which " + price + '\n';
}

// Instead of what everybody shares on this machine.
void AddOwnPlace(const Policy& policy, const Meaning& meaning, const sandbox::View* view,
                 bool granted, Explanation& out, JsonWriter& w) {
  const OwnPlace* place = OwnPlaceOf(meaning.asked);
  if (place == nullptr || granted) return;
  std::string own;
  if (place->path == "/tmp") {
    own = "each command has a directory of its own for temporary files: TMPDIR";
  } else if (view == nullptr) {
    own =
        policy.namespaces == sandbox::Namespaces::kOff
            ? "with namespaces (namespaces: auto) each command has its own"
            : "with namespaces, which this machine does not grant, each command would have its own";
  }
  if (own.empty()) return;
  w.Field("private", own);
  out.text += own + '\n';
}

// In a network namespace of its own a command finds that one's settings, of which there are fewer.
void AddNetworkRemark(const Policy& policy, const Meaning& meaning, Explanation& out,
                      JsonWriter& w) {
  if (NetworkFor(policy, Purpose::kBuild) == sandbox::Network::kFull) return;
  if (!meaning.asked.starts_with("/proc/sys/net/") && !meaning.asked.starts_with("/proc/net/"))
    return;
  constexpr const char* kOwn = "commands have a network of their own, and see its names there";
  w.Field("network", kOwn);
  out.text += std::string(kOwn) + '\n';
}

}  // namespace

Explanation ExplainPath(const Policy& policy, const std::string& path, const sandbox::View* view) {
  const Meaning meaning = Understand(policy, path, view != nullptr);
  Explanation out;
  out.text = path == meaning.path ? path : path + " is " + meaning.path;
  out.text += "\n  for a call in " + meaning.directory + '\n';
  JsonWriter w;
  w.BeginObject().Field("path", meaning.path).Field("working_directory", meaning.directory);
  w.Key("uses").BeginArray();
  Suggestion remedy;
  bool own = false;
  for (const Use& use : kUses) {
    const bool alone = use.purpose == Purpose::kGit && policy.git.hooks == Hooks::kSkip;
    const GrantedPaths granted =
        GrantedFor(policy, alone ? Purpose::kGitAlone : use.purpose, meaning, view);
    if (use.purpose == Purpose::kBuild) {
      const PathGrant* grant = granted.Find(meaning.path, Access::kRead);
      own = grant != nullptr && view != nullptr && OwnPlaceOf(grant->path) != nullptr;
      // There is nothing to add to what is a command's own.
      if (!own) remedy = Remedy(policy, granted, meaning.path);
    }
    out.text += std::string(use.name) + ":\n";
    w.BeginObject().Field("use", use.name);
    for (const Right& right : kRights) {
      const PathGrant* grant = granted.Find(meaning.path, right.access);
      out.text += Line(right, grant);
      WriteRight(w, right, grant);
    }
    WriteKeeping(KeepingOf(policy, use.purpose, meaning.directory, meaning.path, view != nullptr),
                 out, w);
    w.EndObject();
  }
  w.EndArray();
  if (view != nullptr) AddNetworkRemark(policy, meaning, out, w);
  AddMetadataRemark(view, out, w);
  AddOwnPlace(policy, meaning, view, own, out, w);
  AddRemedy(policy, meaning, remedy, view, out, w);
  out.json = std::move(w.EndObject()).Take();
  return out;
}

std::optional<HostAndPort> ReadHost(std::string_view subject) {
  std::string_view port;
  if (const std::size_t scheme = subject.find("://"); scheme != subject.npos) {
    port = subject.substr(0, scheme);
    subject = subject.substr(scheme + 3);
    subject = subject.substr(0, subject.find('/'));
  }
  const std::size_t colon = subject.rfind(':');
  const bool numbered = colon != subject.npos && IsNumber(subject.substr(colon + 1));
  if (numbered) {
    port = subject.substr(colon + 1);
    subject = subject.substr(0, colon);
  }
  if (subject.starts_with('[') && subject.ends_with(']')) {
    subject = subject.substr(1, subject.size() - 2);
  } else if (subject.contains(':')) {
    return std::nullopt;
  }
  if (port.empty() || subject.empty() || subject.find_first_of("/ ") != subject.npos) {
    return std::nullopt;
  }
  return HostAndPort{.host = std::string(subject), .port = std::string(port)};
}

namespace {

bool IsThisMachine(const std::string& host) {
  const std::string lower = Lowered(host);
  return lower == "localhost" || lower.ends_with(".localhost") || lower == "::1" ||
         lower == "0.0.0.0" || lower == "::" || lower.starts_with("127.");
}

constexpr const char* kOwnLoopback =
    "network: loopback is a network of the command's own: it reaches the servers that the command "
    "starts itself, and none of the host's; for those, network: full";

}  // namespace

Explanation ExplainHost(const Policy& policy, const HostAndPort& peer, bool namespaces) {
  using sandbox::Network;
  const Network network = NetworkFor(policy, Purpose::kBuild);
  const bool near = IsThisMachine(peer.host);
  const bool allowed = network == Network::kFull || (near && network == Network::kLoopback);
  std::string by = "network: " + std::string(sandbox::NetworkName(network));
  if (policy.effective && policy.effective->network) {
    by += " (" + policy.effective->network->at.Format() + ")";
  }
  const bool v6 = peer.host.contains(':');
  Explanation out;
  out.text = (v6 ? "[" + peer.host + "]" : peer.host) + ":" + peer.port +
             (near ? " is this machine\n" : " is another host\n");
  out.text += std::string("make, bash:\n  connect  ") + (allowed ? "yes" : "no ") + "  by " + by +
              "\nother tools:\n  connect  no   they never have a network\n";
  JsonWriter w;
  w.BeginObject().Field("host", peer.host).Field("port", peer.port).Field("this_machine", near);
  w.Key("uses").BeginArray();
  w.BeginObject().Field("use", "make").Key("connect").BeginObject();
  w.Field("allowed", allowed).Field("by", by).EndObject().EndObject().EndArray();
  const bool own = near && namespaces && network != Network::kFull;
  if (!allowed) {
    const std::string line = NetworkLine(own);
    w.Field("allow_with", line);
    out.text += "to allow it, write in the policy\n  " + line + '\n';
  }
  const char* remark =
      own ? kOwnLoopback : "network: full opens every host and port; no line opens a single one";
  if (own || !allowed) {
    w.Field("remark", remark);
    out.text += std::string(remark) + '\n';
  }
  out.json = std::move(w.EndObject()).Take();
  return out;
}

Explanation ExplainTool(const Policy& policy, const std::string& tool, bool read_only) {
  const bool enabled = policy.ToolEnabled(tool, read_only);
  const std::string why = WhyEnabled(policy, tool, read_only);
  const bool inner = policy.InnerCallAllowed(tool, read_only);
  return {ToolText(policy, tool, enabled, inner, why), ToolJson(policy, tool, enabled, inner, why)};
}

}  // namespace pa::policy
