#include "policy/trust_anchors.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "policy/path.h"
#include "policy/working_directory.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using AnchorKind = TrustAnchor::Kind;

constexpr AnchorRow kTable[] = {
    {AnchorKind::kPolicyFile, "this policy", AnchorFate::kRefused,
     "keep it where no command can write, or name roots that do not hold it"},
    // A file that a command makes there would be the policy of the next server.
    {AnchorKind::kFuturePolicy, "the user's policy", AnchorFate::kProtected, ""},
    {AnchorKind::kExecutable, "this program", AnchorFate::kRefused,
     "install or copy it to where no command can write, or name roots that do not hold it"},
    {AnchorKind::kWorker, "the worker", AnchorFate::kRefused,
     "install or copy it to where no command can write, or name roots that do not hold it"},
    {AnchorKind::kClient, "configuration of a client", AnchorFate::kProtected, ""},
    // Whatever else is started from that environment would load it, too.
    {AnchorKind::kLibraries, "libraries of this program", AnchorFate::kWarned,
     "unset LD_LIBRARY_PATH, LD_PRELOAD and LD_AUDIT where the server is started, or take empty "
     "entries out"},
    {AnchorKind::kState, "the state directory", AnchorFate::kPassedOver, ""},
    {AnchorKind::kTemporary, "TMPDIR", AnchorFate::kPassedOver, ""},
    {AnchorKind::kProgram, "a program", AnchorFate::kPassedOver, ""},
    // The next policy that is loaded would grant what a command's symlink leads to.
    {AnchorKind::kPolicyPath, "a place that this policy names", AnchorFate::kNotLed,
     "name what it leads to"},
    {AnchorKind::kAudit, "the audit log", AnchorFate::kNotLed, "choose another audit.path"},
    // A command that takes its place would be the server to every client.
    {AnchorKind::kSocket, "a socket of this server", AnchorFate::kCovered,
     "let it listen where no command can write"},
    // A command that adds a token could call the server as the user, and approve its own calls.
    {AnchorKind::kTokens, "the tokens of this server's clients", AnchorFate::kCovered,
     "name roots that do not hold them"},
    {AnchorKind::kFutureTokens, "the tokens of this server's clients", AnchorFate::kCoveredLater,
     ""},
    // A command that adds a key could make tokens. To read public keys gives it nothing.
    {AnchorKind::kIssuerKeys, "the keys of the issuer of tokens", AnchorFate::kRefused,
     "keep http.jwks where no command can write"},
};

const AnchorRow& RowOf(AnchorKind kind) {
  return *std::ranges::find(kTable, kind, &AnchorRow::kind);
}

constexpr int kMaxSymlinks = 40;  // as the kernel

// Every name that has a say in what `path` is: the symlinks on the way, each in its real directory,
// and the end, there or not.
std::vector<std::string> NamesOnTheWay(const std::string& path) {
  std::vector<std::string> names;
  std::vector<fs::path> rest;  // the next component last
  const auto push = [&](const fs::path& more) {
    rest.insert(rest.end(), std::make_reverse_iterator(more.end()),
                std::make_reverse_iterator(more.begin()));
  };
  push(path);
  fs::path at = "/";
  for (int symlinks = 0; !rest.empty();) {
    const fs::path component = std::move(rest.back());
    rest.pop_back();
    if (component.is_absolute()) at = "/";
    if (component == "..") at = at.parent_path();
    if (component.empty() || component.is_absolute() || component == "." || component == "..") {
      continue;
    }
    fs::path next = at / component;
    std::error_code no_link;
    const fs::path target = fs::read_symlink(next, no_link);
    if (no_link || ++symlinks > kMaxSymlinks) {
      at = std::move(next);
      continue;
    }
    names.push_back(next.string());
    push(target);
  }
  names.push_back(at.string());
  return names;
}

// Of the directories that lead to `path`, or are it, one in which a call can work.
bool RootReaches(const Policy& policy, const std::string& root, const std::string& path) {
  for (fs::path at = path; IsBeneath(at.string(), root); at = at.parent_path()) {
    if (!IsSystemDirectory(at.string(), policy.home)) return true;
    if (at == at.root_path()) break;
  }
  return false;
}

// By the text of the path.
std::string PlaceOf(const Policy& policy, const std::string& path) {
  for (const std::string& root : policy.roots) {
    if (RootReaches(policy, root, path)) return "the root " + root;
  }
  for (const sandbox::PathGrant& grant : policy.filesystem) {
    if (sandbox::Has(grant.access, sandbox::Access::kWrite) && IsBeneath(path, grant.path)) {
      return grant.path + " of filesystem.write";
    }
  }
  const std::string& caches = policy.caches.base;
  return !caches.empty() && IsBeneath(path, caches) ? "the projects' caches in " + caches : "";
}

std::optional<std::string> FirstPlace(const Policy& policy, std::span<const std::string> names) {
  for (const std::string& name : names) {
    std::string place = PlaceOf(policy, name);
    if (!place.empty()) return place;
  }
  return std::nullopt;
}

// Roots are told apart from grants: what they hold, commands can write.
CoveredPath CoveredPathAt(const Policy& policy, const std::string& path, std::string_view title) {
  CoveredPath covered{.path = ResolvePath(path), .title = std::string(title)};
  covered.writable = WhereCommandsWrite(policy, path).has_value();
  // Grants are resolved.
  for (const auto* grants : {&policy.system, &policy.system_network, &policy.filesystem}) {
    covered.granted |= std::ranges::any_of(*grants, [&](const sandbox::PathGrant& grant) {
      return IsBeneath(covered.path, grant.path);
    });
  }
  return covered;
}

}  // namespace

std::span<const AnchorRow> AnchorTable() { return kTable; }

std::optional<std::string> WhereCommandsWrite(const Policy& policy, const std::string& path) {
  return FirstPlace(policy, NamesOnTheWay(path));
}

std::optional<std::string> WhereCommandsLead(const Policy& policy, const std::string& path) {
  std::vector<std::string> names = NamesOnTheWay(path);
  names.pop_back();
  return FirstPlace(policy, names);
}

JudgedAnchors JudgeAnchors(const Policy& policy, std::span<const TrustAnchor> anchors) {
  JudgedAnchors judged;
  for (const TrustAnchor& anchor : anchors) {
    const AnchorRow& row = RowOf(anchor.kind);
    const bool covered = row.fate == AnchorFate::kCovered;
    const bool refused = row.fate == AnchorFate::kRefused || covered;
    if (refused) {
      std::ranges::move(NamesOnTheWay(anchor.path), std::back_inserter(judged.unwritable));
    }
    if (covered || row.fate == AnchorFate::kCoveredLater)
      judged.covered.push_back(CoveredPathAt(policy, anchor.path, row.title));
    const bool led = row.fate == AnchorFate::kNotLed;
    const std::optional<std::string> place =
        led ? WhereCommandsLead(policy, anchor.path) : WhereCommandsWrite(policy, anchor.path);
    if (!place) continue;
    const std::string title(row.title);
    const std::string what = led ? "commands can exchange a symlink on the way to " + title + ", " +
                                       anchor.path + ", in "
                                 : "commands can write " + title + ", which lies in ";
    const Diagnostic said(anchor.at.source.empty() ? SourceLocation{anchor.path} : anchor.at,
                          what + *place + ": " + std::string(row.advice));
    if (refused || led) judged.refused.push_back(said);
    if (row.fate == AnchorFate::kWarned) judged.warned.push_back(said);
    if (row.fate == AnchorFate::kProtected) judged.kept.push_back({anchor.path, title});
  }
  return judged;
}

JudgedAnchors TakeAnchors(Policy& policy, std::span<const TrustAnchor> anchors) {
  JudgedAnchors judged = JudgeAnchors(policy, anchors);
  const auto append = [](const auto& more, auto& to) {
    to.insert(to.end(), more.begin(), more.end());
  };
  append(judged.kept, policy.anchors);
  append(judged.unwritable, policy.unwritable);
  append(judged.covered, policy.covered);
  return judged;
}

}  // namespace pa::policy
