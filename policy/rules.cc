#include "policy/rules.h"

#include <algorithm>

#include "policy/glob.h"

namespace pa::policy {
namespace {

using Parts = std::vector<std::string_view>;

// Without the empty ones.
Parts Split(std::string_view text, std::string_view at) {
  Parts parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Whether `pattern` matches the first components. As in GlobMatch, only the last `**` is gone back
// to.
bool MatchFromStart(const Parts& pattern, const Parts& path) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = pattern.size();
  std::size_t retry = 0;
  while (p < pattern.size()) {
    if (pattern[p] == "**") {
      star = p++;
      retry = t;
    } else if (t < path.size() && GlobMatch(pattern[p], path[t])) {
      ++p;
      ++t;
    } else if (star < pattern.size() && retry < path.size()) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  return true;
}

// project_actions does what other tools do; a rule about one of them must not be passed by going
// through it. The tool that the call amounts to.
std::string_view UnderlyingTool(const RuleQuestion& question) {
  if (question.tool != "project_actions") return question.tool;
  if (question.target == "add") return "git_add";
  if (question.target == "commit") return "git_commit";
  if (question.target == "generate") return "makefile_generate";
  return "make";
}

bool MatchesPath(const Rule& rule, const RuleQuestion& question) {
  if (question.absolute.empty()) return false;
  const bool whole = !rule.whole_path.empty() &&
                     MatchFromStart(Split(rule.whole_path, "/"), Split(question.absolute, "/"));
  return whole || PathRuleMatches(rule.path, question.path);
}

bool Matches(const Rule& rule, const RuleQuestion& question) {
  const bool tool =
      rule.tool == "*" || rule.tool == question.tool || rule.tool == UnderlyingTool(question);
  const bool target = rule.target.empty() || GlobMatch(rule.target, question.target);
  const bool path = rule.path.empty() || MatchesPath(rule, question);
  const bool command = rule.command.empty() || CommandRuleMatches(rule.command, question.command,
                                                                  rule.verdict == Verdict::kAllow);
  return tool && target && path && command;
}

bool BeginsWith(const Parts& words, const Parts& prefix) {
  return words.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), words.begin());
}

// NAME=value before a command.
bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         word.substr(0, equals).find_first_of("-./") == std::string_view::npos;
}

}  // namespace

bool Has(std::string_view tool, Subject subject) {
  switch (subject) {
    case Subject::kTarget:
      return tool == "make" || tool == "project_actions";
    case Subject::kPath:
      return tool == "read" || tool == "write" || tool == "edit" || tool == "delete" ||
             tool == "glob" || tool == "grep";
    case Subject::kCommand:
      return tool == "bash";
  }
  return false;
}

std::string WhyNoPathRule(std::string_view pattern) {
  if (pattern.starts_with('!') || pattern.find_first_of("[]{}\\") != std::string_view::npos) {
    return "only *, ? and ** are special in 'path'; write ? for a character of !, [, ], {, } or \\";
  }
  const Parts parts = Split(pattern, "/");
  const bool dots =
      std::ranges::any_of(parts, [](std::string_view part) { return part == "." || part == ".."; });
  if (!dots) return "";
  return "'path' must not contain '.' or '..': it is held against where symlinks lead";
}

bool PathRuleMatches(std::string_view pattern, std::string_view path) {
  const bool anchored = pattern.substr(0, pattern.size() - 1).find('/') != std::string_view::npos;
  const Parts parts = Split(pattern, "/");
  const Parts components = path == "." ? Parts{} : Split(path, "/");
  if (anchored) return MatchFromStart(parts, components);
  return !parts.empty() && std::ranges::any_of(components, [&](std::string_view component) {
    return parts[0] == "**" || GlobMatch(parts[0], component);
  });
}

bool CommandRuleMatches(std::string_view prefix, std::string_view command, bool allows) {
  constexpr std::string_view kBlanks = " \t";
  const Parts wanted = Split(prefix, kBlanks);
  if (allows) {
    const bool simple = command.find_first_of(";|&<>()$`\n") == std::string_view::npos;
    return simple && BeginsWith(Split(command, kBlanks), wanted);
  }
  std::string plain(command);
  std::erase_if(plain, [](char c) { return c == '\'' || c == '"' || c == '\\'; });
  return std::ranges::any_of(Split(plain, ";|&<>(){}$`\n"), [&](std::string_view one) {
    Parts words = Split(one, kBlanks);
    words.erase(words.begin(), std::ranges::find_if_not(words, IsAssignment));
    return BeginsWith(words, wanted);
  });
}

const Rule* FirstRule(const std::vector<Rule>& rules, const RuleQuestion& question,
                      bool administrator) {
  const auto rule = std::ranges::find_if(rules, [&](const Rule& candidate) {
    return candidate.administrator == administrator && Matches(candidate, question);
  });
  return rule == rules.end() ? nullptr : &*rule;
}

bool EverAsk(const std::vector<Rule>& rules) {
  return std::ranges::any_of(rules, [](const Rule& rule) { return rule.verdict == Verdict::kAsk; });
}

Ruling Judge(const std::vector<Rule>& rules, const RuleQuestion& question) {
  const Rule* administrators = FirstRule(rules, question, true);
  const Rule* theirs = FirstRule(rules, question, false);
  const bool binds =
      administrators != nullptr &&
      (theirs == nullptr || administrators->verdict < theirs->verdict ||
       (administrators->verdict == theirs->verdict && administrators->verdict != Verdict::kAllow));
  const Rule* rule = binds ? administrators : theirs;
  return rule == nullptr ? Ruling{} : Ruling{rule->verdict, rule};
}

}  // namespace pa::policy
