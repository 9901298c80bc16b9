// Rules: which line of `permissions` decides a call.
//
//   const Rule* rule = FirstRule(policy.permissions, {.tool = "make", .target = "deploy"}, true);
//
// A rule matches when all that it names does. A path or a command that the call does not have does
// not match; a target that it does not have is the empty text, which `*` matches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace pa::policy {

struct RuleQuestion {
  std::string tool;  // as the client named it
  std::string target = {};
  std::string path = {};      // relative to the root, by where symlinks lead; "." = the root
  std::string absolute = {};  // the same; "" = the call is about no path
  std::string command = {};
};

// What a rule can name besides the tool, and which tools have such a thing.
enum class Subject { kTarget, kPath, kCommand };
bool Has(std::string_view tool, Subject subject);

// The first of the administrator's rules, or of the others', that matches; null if none does.
const Rule* FirstRule(const std::vector<Rule>& rules, const RuleQuestion& question,
                      bool administrator);

// What the rules say of a call together: of the administrator's word and the others' the stricter
// one.
struct Ruling {
  Verdict verdict = Verdict::kAllow;
  const Rule* rule = nullptr;  // null: none matches, so it is the default's
};
Ruling Judge(const std::vector<Rule>& rules, const RuleQuestion& question);
// Whether there is a call about which they ask.
bool EverAsk(const std::vector<Rule>& rules);

// As .gitignore has it: without a slash (but at its end) any component, else from the root on; `*`
// and `?` within a component, `**` for any number of them; what matches a directory matches all
// that is beneath it. Nothing else is special (WhyNoPathRule refuses what would be, elsewhere).
bool PathRuleMatches(std::string_view pattern, std::string_view path);
// Why a pattern could never mean what it seems to; "" when it can.
std::string WhyNoPathRule(std::string_view pattern);

// By words at the beginning. A rule that allows does not match what could run a second command or
// write a file; one that refuses or asks looks at each command that a shell could see there. It is
// no wall: a shell can spell everything differently. The sandbox is the wall.
bool CommandRuleMatches(std::string_view prefix, std::string_view command, bool allows);

}  // namespace pa::policy
