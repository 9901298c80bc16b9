// PolicyFragment: what one source of policy says, as it was written. It is the first of three
// stages (fragment -> Policy -> Decision).
//
//    std::optional<PolicyFragment> f = ParsePolicyText(text, "policy.yaml", tools, diagnostics);
//
// To add a new policy key, you must:
//    1. add its field to PolicyFragment below (a limit needs none: add it to Limits in
//       policy/policy.h);
//    2. add its line to the table in policy/keys.cc: the parser, the JSON Schema, `policy show`
//       and the layering all follow from it;
//    3. if its values compare differently from other keys of its type, define in policy/merge.cc
//       which value is the tighter one;
//    4. compile it into Policy in policy/load.cc, and use it in policy/grants.cc or
//       policy/decide.cc;
//    5. write in policy/relaxations_test.cc how it can weaken a command, with a type in
//       policy/relaxations.h, or why it cannot;
//    6. test it in policy/load_test.cc, the refused value beside the accepted one, and describe it
//       in docs/policy.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/verdict.h"

namespace pa::policy {

using Strings = std::vector<Located<std::string>>;

struct Variable {
  Located<std::string> name;
  std::string value;
};

struct RuleText {
  SourceLocation at;
  std::string tool;
  std::string target;   // "" = any
  std::string path;     // "" = any
  std::string command;  // "" = any
  Strings examples;
  Verdict verdict = Verdict::kDeny;
  std::string reason;
  bool administrator = false;  // set when the layers are merged
};

struct PolicyFragment {
  std::string source;
  std::optional<Located<Strings>> roots;
  std::optional<Located<Strings>> tools_enable;    // names, or `all`
  std::optional<Located<Strings>> pipeline_tools;  // names
  std::optional<Located<std::vector<RuleText>>> permissions;
  std::optional<Located<Strings>> filesystem_read;
  std::optional<Located<Strings>> filesystem_write;
  std::optional<Located<Strings>> filesystem_protect;
  std::optional<Located<Strings>> filesystem_unprotect;
  std::optional<Located<std::string>> filesystem_toolchains;
  std::optional<Located<std::string>> filesystem_sync;  // "true" or "false"
  std::optional<Located<std::string>> network;
  std::optional<Located<std::string>> namespaces;
  std::optional<Located<Strings>> environment_pass;
  std::optional<Located<std::vector<Variable>>> environment_set;
  // By key name; in ms, bytes, or as a count.
  std::map<std::string, Located<std::uint64_t>, std::less<>> limits;
  std::optional<Located<std::string>> jobs_keep;
  std::optional<Located<std::string>> jobs_ports;
  std::optional<Located<std::string>> git_identity;
  std::optional<Located<std::string>> git_hooks;
  std::optional<Located<std::string>> git_commands;
  std::optional<Located<std::string>> git_signing;
  std::optional<Located<std::string>> audit_to;
  std::optional<Located<std::string>> audit_path;  // "" = the default path
  std::optional<Located<std::string>> audit_sync;  // "true" or "false"
  std::optional<Located<std::string>> http_public_url;
  std::optional<Located<Strings>> http_origins;
  std::optional<Located<std::string>> http_issuer;    // "" = no OAuth
  std::optional<Located<std::string>> http_audience;  // "" = http.public_url
  std::optional<Located<std::string>> http_jwks;
  std::optional<Located<Strings>> http_scopes;
  std::optional<Located<std::vector<Variable>>> http_subjects;  // SUBJECT: USER
};

// Appends errors to `diagnostics`; returns nothing if there was any. Reads and writes no file.
// `known_tools`: nothing: names of tools are not looked at.
std::optional<PolicyFragment> ParsePolicyText(
    std::string_view text, const std::string& source,
    std::optional<std::span<const std::string>> known_tools, std::vector<Diagnostic>& diagnostics);

// What is wrong with the name of a tool, or "". `all` is a name only if `allow_all` is set.
std::string CheckToolName(std::string_view name, std::span<const std::string> known_tools,
                          bool allow_all);

}  // namespace pa::policy
