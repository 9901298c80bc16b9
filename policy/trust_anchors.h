// Trust anchors: files that the server, or whoever starts it, believes or executes outside every
// sandbox. A command that could write one would decide in the server's place.
//
//   JudgeAnchors(anchors, policy, diagnostics);              // once, when a policy loads
//   if (auto place = WhereCommandsWrite(policy, path)) ...   // "the root /src": pass `path` over
//
// The table in trust_anchors.cc says what happens with each kind (docs/adr/0033). To add one: its
// line there, its path in AnchorsOf (supervisor/cli/configuration.cc), its case in
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
    kPolicyFile,    // was read
    kFuturePolicy,  // would be read if it were there
    kExecutable,    // our own program, by each name that led to it
    kWorker,        // and each place where it would be looked for
    kClient,        // from which a client of the home learns what to start
    kLibraries,     // where the loader looks for our libraries
    kState,         // our directories in the state directory
    kTemporary,     // beneath which the instance directory is made
    kProgram,       // that the server looks for on PATH: git, make, bash, rg
    kPolicyPath,    // roots, and what a policy grants or names otherwise, as it is written there
    kAudit,         // the audit log that no policy names
  };
  Kind kind;
  std::string path;  // absolute, symlinks and all
  Place at = {};     // in a policy, where one names it
};

enum class AnchorFate {
  kRefused,  // the policy does not load
  kNotLed,   // neither, where they can exchange a symlink on the way; what lies at its end is asked
             // elsewhere
  kProtected,   // commands leave it as it is, as what filesystem.protect names
  kWarned,      // somebody outside is to decide
  kPassedOver,  // whoever needs one asks for it and takes another, or does without
};

struct AnchorRow {
  TrustAnchor::Kind kind;
  std::string_view title;   // "the worker"
  AnchorFate fate;          // of one that commands can write
  std::string_view advice;  // what whoever starts the server does then
};
std::span<const AnchorRow> AnchorTable();

// The place in which a command of this policy could write `path`, or exchange a symlink that leads
// to it, in words: `the root /src`. Nothing: no command can. A root stands for the directories in
// it that calls can work in, so / does not stand for /usr.
std::optional<std::string> WhereCommandsWrite(const Policy& policy, const std::string& path);

// The same of the symlinks on the way alone: who can exchange one says where `path` is.
std::optional<std::string> WhereCommandsLead(const Policy& policy, const std::string& path);

struct JudgedAnchors {
  std::vector<Diagnostic> refused;
  std::vector<Diagnostic> warned;
  std::vector<ProtectedPlace> kept;  // absolute
};
JudgedAnchors JudgeAnchors(const Policy& policy, std::span<const TrustAnchor> anchors);

}  // namespace pa::policy
