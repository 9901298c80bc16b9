// Trust anchors: files that the server, or the program that starts it, believes or executes outside
// every sandbox. A command that could write one would decide in place of the server.
//
//    JudgedAnchors judged = JudgeAnchors(policy, anchors);    // once, when a policy loads
//    if (auto place = WhereCommandsWrite(policy, path)) ...   // "the root /src": pass `path` over
//
// The table in trust_anchors.cc says what happens with each kind (docs/adr/0033). To add one: its
// line in that table, its path in AnchorsOf (supervisor/cli/configuration.cc), and its case in
// trust_anchors_test.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"

namespace pa::policy {

struct TrustAnchor {
  enum class Kind {
    kPolicyFile,    // a policy that was read
    kFuturePolicy,  // a policy that would be read if it existed
    kExecutable,    // our own program, under each name that leads to it
    kWorker,        // the worker, and each place where it would be looked for
    kClient,        // the configuration in the home by which a client learns what to start
    kLibraries,     // where the loader looks for our libraries
    kState,         // our directories in the state directory
    kTemporary,     // the directory in which the instance directory is made
    kProgram,       // a program that the server looks for on PATH: git, make, bash, rg
    kPolicyPath,    // roots, and paths that a policy grants or names otherwise, as written there
    kAudit,         // the audit log, if no policy names it
    kSocket,        // a Unix socket on which this server listens
    kTokens,        // the directory with the tokens by which its clients are known
    kFutureTokens,  // the same, as long as nobody has made a token
    kIssuerKeys,    // the keys by which access tokens of its clients are verified
  };
  Kind kind;
  std::string path;        // absolute, symlinks not resolved
  SourceLocation at = {};  // the place in a policy that names it, if one does
};

enum class AnchorFate {
  kRefused,  // the policy does not load
  // The policy does not load if commands can replace a symlink on the way; the file at the end is
  // checked elsewhere.
  kNotLed,
  kProtected,  // commands must leave it as it is, like the paths of filesystem.protect
  kWarned,     // a warning: the user has to decide
  // As kRefused. Besides, commands can neither read it nor connect to it (Policy::covered).
  kCovered,
  // The same, once it is there: until then the policy loads, and then no call begins.
  kCoveredLater,
  kPassedOver,  // not judged here: code that needs such a file checks it, and uses another or none
};

struct AnchorRow {
  TrustAnchor::Kind kind;
  std::string_view title;   // "the worker"
  AnchorFate fate;          // if commands can write it
  std::string_view advice;  // what the user who starts the server should do then
};
std::span<const AnchorRow> AnchorTable();

// The place where a command of this policy could write `path`, or replace a symlink that leads to
// it, in words: `the root /src`. Nothing: no command can. A root stands for the directories in it
// where calls can work, so / does not stand for /usr.
std::optional<std::string> WhereCommandsWrite(const Policy& policy, const std::string& path);

// The same for the symlinks on the way alone: a command that can replace one decides where `path`
// leads.
std::optional<std::string> WhereCommandsLead(const Policy& policy, const std::string& path);

struct JudgedAnchors {
  std::vector<Diagnostic> refused;
  std::vector<Diagnostic> warned;
  std::vector<ConfiguredPath> kept;  // absolute
  // Absolute: every name on the way to an anchor that no command may be able to write.
  std::vector<std::string> unwritable;
  std::vector<CoveredPath> covered;
};
JudgedAnchors JudgeAnchors(const Policy& policy, std::span<const TrustAnchor> anchors);
// The same, and the policy has all but what was refused and warned of. Each anchor is judged by
// itself, so some can be taken later than others.
JudgedAnchors TakeAnchors(Policy& policy, std::span<const TrustAnchor> anchors);

}  // namespace pa::policy
