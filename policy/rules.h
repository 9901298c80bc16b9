// Rules: find the line of `permissions` that decides a call.
//
//    const Rule* rule = FirstRule(policy.permissions, {.tool = "make", .target = "deploy"}, true);
//
// A rule matches if everything that it names matches. A path or a command in a rule does not match
// a call that has none. For a call without a target the target is the empty text, which `*`
// matches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace pa::policy {

struct RuleQuestion {
  std::string tool;  // as the client named it
  std::string target = {};
  std::string path = {};      // relative to the root, symlinks resolved; "." = the root
  std::string absolute = {};  // the same path, absolute; "" = the call is about no path
  std::string command = {};
};

// What a rule can name besides the tool.
enum class Subject { kTarget, kPath, kCommand };
// Whether calls of `tool` have such a subject.
bool Has(std::string_view tool, Subject subject);

// The first rule that matches, among the administrator's or among the others; null if none does.
const Rule* FirstRule(const std::vector<Rule>& rules, const RuleQuestion& question,
                      bool administrator);

// The verdict of all rules on a call: the stricter one of the administrator's and of the others'.
struct Ruling {
  Verdict verdict = Verdict::kAllow;
  const Rule* rule = nullptr;  // null: no rule matches, so the default decides
};
Ruling Judge(const std::vector<Rule>& rules, const RuleQuestion& question);
// Whether there is any rule that asks the user.
bool EverAsk(const std::vector<Rule>& rules);

// As in .gitignore: a pattern without a slash (other than at its end) matches any component, any
// other pattern matches from the root on. `*` and `?` match within a component, `**` matches any
// number of components. A pattern that matches a directory matches everything beneath it. No other
// character is special (WhyNoPathRule refuses those that are special elsewhere).
bool PathRuleMatches(std::string_view pattern, std::string_view path);
// Why a pattern can never mean what it seems to mean; "" if it can.
std::string WhyNoPathRule(std::string_view pattern);

// Compares the first words. A rule that allows does not match a command that could run a second
// command or write a file. A rule that refuses or asks is compared with each command that a shell
// could see in the text. This is no barrier, since a shell can spell everything differently; the
// sandbox is the barrier.
bool CommandRuleMatches(std::string_view prefix, std::string_view command, bool allows);

}  // namespace pa::policy
