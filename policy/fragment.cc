#include "policy/fragment.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/did_you_mean.h"
#include "base/try.h"
#include "base/units.h"
#include "base/words.h"
#include "policy/host_files.h"
#include "policy/keys.h"
#include "policy/rules.h"
#include "policy/url.h"
#include "policy/variable_name.h"
#include "policy/yaml.h"

namespace pa::policy {
namespace {

constexpr std::size_t kMaxText = 255;
constexpr std::size_t kMaxDiagnostics = 20;  // of one file; more help nobody

// What came, for messages: 'the value' or a kind.
std::string Found(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar ? Quoted(node.scalar) : node.KindName();
}

std::string_view FirstWord(std::string_view name) { return name.substr(0, name.find('.')); }
std::string_view LastWord(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// `none, loopback or full`
std::string OneOf(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

// What is wrong with a path that is relative to wherever a call works, or "".
std::string CheckPlace(std::string_view written) {
  if (written.empty()) return "a path cannot be empty";
  if (written.contains('\0')) return "a path cannot hold a NUL character";
  if (written.starts_with('/') || written.starts_with('~') || written.contains("${")) {
    return "must be relative to the working directory, found " + Quoted(written) +
           "; other paths are read-only unless filesystem.write names them";
  }
  bool names_something = false;
  while (!written.empty()) {
    const std::string_view component = written.substr(0, written.find('/'));
    if (component == "..") return "must not contain '..'";
    names_something = names_something || (!component.empty() && component != ".");
    written.remove_prefix(std::min(component.size() + 1, written.size()));
  }
  return names_something ? "" : "cannot be the working directory itself: nothing could be built";
}

// Of text without blanks, which stands in the claims of tokens.
std::string CheckText(std::string_view text) {
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  return printable && text.size() <= kMaxText ? ""
                                              : "expected up to 255 printable characters of ASCII";
}

// RFC 6749, 3.3.
std::string CheckScope(std::string_view scope) {
  if (scope.empty() || scope.find_first_of("\"\\") != std::string_view::npos) {
    return "expected a scope such as project:use, without \" and \\";
  }
  return CheckText(scope);
}

// A subject is whatever its issuer makes of it.
std::string CheckTokenSubject(const YamlNode& member) {
  if (member.key.empty() || member.key.size() > kMaxText) {
    return "expected the subject of a token, of up to 255 bytes";
  }
  const bool names = member.kind == YamlNode::Kind::kScalar && !member.scalar.empty();
  return names ? "" : "expected the name of a user of this machine for " + Quoted(member.key);
}

class FragmentParser {
 public:
  FragmentParser(const std::string& source, std::optional<std::span<const std::string>> known_tools,
                 std::vector<Diagnostic>& diagnostics)
      : known_tools_(known_tools), diagnostics_(diagnostics) {
    fragment_.source = source;
  }

  PolicyFragment Parse(const YamlNode& root) {
    if (root.kind == YamlNode::Kind::kMapping) ParseMembers(root, "");
    if (root.kind == YamlNode::Kind::kScalar || root.kind == YamlNode::Kind::kSequence) {
      Complain(root.at, "expected a mapping of keys such as `version: 1`, found " + Found(root));
    } else if (!has_version_) {
      Complain({fragment_.source, 1, 1}, "a policy begins with `version: 1`; it is missing here");
    }
    return std::move(fragment_);
  }

 private:
  void Complain(const SourceLocation& at, std::string message) {
    if (++complaints_ <= kMaxDiagnostics) diagnostics_.emplace_back(at, std::move(message));
  }

  bool Expect(const YamlNode& node, YamlNode::Kind kind, std::string_view what) {
    if (node.kind == kind) return true;
    std::string message = Quoted(node.key) + " must be " + std::string(what) + ", found ";
    if (node.key.empty()) message = "expected " + std::string(what) + ", found ";
    Complain(node.at, message + Found(node));
    return false;
  }

  void ParseMembers(const YamlNode& mapping, const std::string& prefix);
  void UnknownKey(const YamlNode& member, const std::string& prefix);
  void ParseKey(const Key& key, const YamlNode& node);
  void ParseVersion(const YamlNode& node);
  void ParseStrings(const Key& key, const YamlNode& node);
  std::string CheckItem(Type type, const YamlNode& item) const;
  void ParsePath(const Key& key, const YamlNode& node);
  void ParseUrl(const Key& key, const YamlNode& node);
  void ParseChoice(const Key& key, const YamlNode& node);
  void ParseVariables(const Key& key, const YamlNode& node);
  void ParseLimit(const Key& key, const YamlNode& node);
  Result<std::uint64_t> LimitValue(const Key& key, const YamlNode& node) const;
  void ParseRules(const Key& key, const YamlNode& node);
  std::optional<RuleText> ParseRule(const YamlNode& node);
  bool ParseRuleMember(const YamlNode& member, RuleText& rule, std::string& decision);
  bool ParseExamples(const YamlNode& member, RuleText& rule);
  // What is wrong with the name of a tool, or "".
  std::string WrongTool(std::string_view name, bool allow_all) const {
    return known_tools_ ? CheckToolName(name, *known_tools_, allow_all) : "";
  }
  std::string CheckSubject(const RuleText& rule) const;
  std::string CheckRule(const RuleText& rule, const std::string& decision) const;

  PolicyFragment fragment_;
  std::optional<std::span<const std::string>> known_tools_;
  std::vector<Diagnostic>& diagnostics_;
  std::size_t complaints_ = 0;
  bool has_version_ = false;
};

void FragmentParser::ParseMembers(const YamlNode& mapping, const std::string& prefix) {
  for (const YamlNode& member : mapping.children) {
    const std::string name = prefix + member.key;
    const bool dotted = member.key.contains('.');  // `limits.memory:` is no way to write it
    if (const Key* key = FindKey(name); key != nullptr && !dotted) {
      ParseKey(*key, member);
      continue;
    }
    const std::string section = name + '.';
    const bool is_section = std::ranges::any_of(
        PolicyKeys(), [&](const Key& key) { return key.name.starts_with(section); });
    if (!is_section || dotted) {
      UnknownKey(member, prefix);
    } else if (Expect(member, YamlNode::Kind::kMapping, "a mapping")) {
      ParseMembers(member, section);
    }
  }
}

void FragmentParser::UnknownKey(const YamlNode& member, const std::string& prefix) {
  if (const Key* key = FindKey(prefix + member.key)) {  // written with a dot
    return Complain(member.key_at, "unknown key " + Quoted(key->name) + " - write '" +
                                       std::string(key->Section()) + ": {" +
                                       std::string(key->Word()) + ": ...}'");
  }
  std::vector<std::string_view> siblings;
  for (const Key& key : PolicyKeys()) {
    if (key.name.starts_with(prefix)) siblings.push_back(FirstWord(key.name.substr(prefix.size())));
  }
  std::string hint = DidYouMean(member.key, siblings);
  for (const Key& key : PolicyKeys()) {
    if (hint.empty() && LastWord(key.name) == LastWord(member.key)) {
      hint = " - did you mean '" + std::string(key.name) + "'?";
    }
  }
  Complain(member.key_at, "unknown key " + Quoted(prefix + member.key) + hint);
}

void FragmentParser::ParseKey(const Key& key, const YamlNode& node) {
  switch (key.type) {
    case Type::kVersion:
      return ParseVersion(node);
    case Type::kPaths:
    case Type::kPlaces:
    case Type::kHostFiles:
    case Type::kTools:
    case Type::kToolNames:
    case Type::kNames:
    case Type::kOrigins:
    case Type::kScopes:
      return ParseStrings(key, node);
    case Type::kVariables:
    case Type::kSubjects:
      return ParseVariables(key, node);
    case Type::kRules:
      return ParseRules(key, node);
    case Type::kPath:
    case Type::kFile:
      return ParsePath(key, node);
    case Type::kUrl:
    case Type::kText:
      return ParseUrl(key, node);
    case Type::kChoice:
    case Type::kSwitch:
      return ParseChoice(key, node);
    case Type::kDuration:
    case Type::kByteSize:
    case Type::kCount:
      return ParseLimit(key, node);
    case Type::kNotBuilt:
      return Complain(node.key_at, std::string(key.not_built));
  }
}

void FragmentParser::ParseVersion(const YamlNode& node) {
  has_version_ = true;
  if (node.kind == YamlNode::Kind::kScalar && !node.quoted && node.scalar == "1") return;
  Complain(node.at, "'version' must be the number 1, found " + Found(node));
}

// What is wrong with one item of a list, or "".
std::string FragmentParser::CheckItem(Type type, const YamlNode& item) const {
  if (item.kind == YamlNode::Kind::kNull && type == Type::kPaths) {
    return "expected a path, found nothing; a lone ~ is YAML's null: write \"~\"";
  }
  if (item.kind != YamlNode::Kind::kScalar) return "expected a value, found " + Found(item);
  switch (type) {
    case Type::kTools:
      return WrongTool(item.scalar, true);
    case Type::kToolNames:
      if (item.scalar == "all") return "'all' stands for no tool here: name each one";
      return WrongTool(item.scalar, false);
    case Type::kNames:
      return CheckVariableName(item.scalar);
    case Type::kOrigins:
      return CheckOrigin(item.scalar);
    case Type::kScopes:
      return CheckScope(item.scalar);
    case Type::kPlaces:
      return CheckPlace(item.scalar);
    case Type::kHostFiles:
      return CheckUnprotected(item.scalar);
    default:
      return item.scalar.empty() ? "a path cannot be empty" : "";
  }
}

void FragmentParser::ParseStrings(const Key& key, const YamlNode& node) {
  if (!Expect(node, YamlNode::Kind::kSequence, "a list")) return;
  Located<Strings> list{{}, node.key_at};
  for (const YamlNode& item : node.children) {
    if (std::string problem = CheckItem(key.type, item); !problem.empty()) {
      Complain(item.at, std::move(problem));
    } else {
      list.value.push_back({item.scalar, item.at});
    }
  }
  fragment_.*std::get<std::optional<Located<Strings>> PolicyFragment::*>(key.field) =
      std::move(list);
}

void FragmentParser::ParsePath(const Key& key, const YamlNode& node) {
  if (!Expect(node, YamlNode::Kind::kScalar, "a path")) return;
  fragment_.*std::get<std::optional<Located<std::string>> PolicyFragment::*>(key.field) = {
      node.scalar, node.at};
}

void FragmentParser::ParseUrl(const Key& key, const YamlNode& node) {
  const bool is_url = key.type == Type::kUrl;
  if (!Expect(node, YamlNode::Kind::kScalar, is_url ? "a URL" : "text")) return;
  if (!node.scalar.empty()) {
    std::string problem = is_url ? CheckUrl(node.scalar) : CheckText(node.scalar);
    if (!problem.empty()) return Complain(node.at, std::move(problem));
  }
  fragment_.*std::get<std::optional<Located<std::string>> PolicyFragment::*>(key.field) = {
      node.scalar, node.at};
}

void FragmentParser::ParseChoice(const Key& key, const YamlNode& node) {
  std::vector<std::string_view> names;
  for (const Choice& choice : key.choices) {
    if (choice.not_built.empty()) names.push_back(choice.name);
    if (node.kind != YamlNode::Kind::kScalar || node.scalar != choice.name) continue;
    if (!choice.not_built.empty()) return Complain(node.at, std::string(choice.not_built));
    fragment_.*std::get<std::optional<Located<std::string>> PolicyFragment::*>(key.field) = {
        node.scalar, node.at};
    return;
  }
  Complain(node.at, Quoted(key.name) + " must be " + OneOf(names) + ", found " + Found(node) +
                        DidYouMean(node.scalar, names));
}

void FragmentParser::ParseVariables(const Key& key, const YamlNode& node) {
  if (!Expect(node, YamlNode::Kind::kMapping, "a mapping of names to values")) return;
  Located<std::vector<Variable>> variables{{}, node.key_at};
  for (const YamlNode& member : node.children) {
    std::string problem =
        key.type == Type::kSubjects ? CheckTokenSubject(member) : CheckVariableName(member.key);
    if (!problem.empty()) {
      Complain(member.key_at, std::move(problem));
    } else if (Expect(member, YamlNode::Kind::kScalar, "text (\"\" for an empty one)")) {
      variables.value.push_back({{member.key, member.key_at}, member.scalar});
    }
  }
  fragment_.*std::get<std::optional<Located<std::vector<Variable>>> PolicyFragment::*>(key.field) =
      std::move(variables);
}

Result<std::uint64_t> FragmentParser::LimitValue(const Key& key, const YamlNode& node) const {
  if (key.type == Type::kByteSize) return ParseByteSize(node.scalar);
  if (key.type == Type::kDuration) {
    if (key.CanBeOff() && node.scalar == "off") return 0;
    PA_TRY(const std::chrono::milliseconds value, ParseDuration(node.scalar));
    return static_cast<std::uint64_t>(value.count());
  }
  std::uint64_t value = 0;
  const char* end = node.scalar.data() + node.scalar.size();
  const auto [stop, error] = std::from_chars(node.scalar.data(), end, value);
  if (error != std::errc() || stop != end || node.quoted) {
    return std::unexpected(Error("parse count", Quoted(node.scalar) + " is not a whole number"));
  }
  return value;
}

void FragmentParser::ParseLimit(const Key& key, const YamlNode& node) {
  if (!Expect(node, YamlNode::Kind::kScalar, "a value")) return;
  const Result<std::uint64_t> value = LimitValue(key, node);
  if (!value) return Complain(node.at, Quoted(key.name) + ": " + value.error().subject);
  const bool off_as_number = key.CanBeOff() && *value == 0 && node.scalar != "off";
  if (*value < key.minimum || *value > key.maximum || off_as_number) {
    return Complain(node.at, Quoted(key.name) + " must be from " + FormatRange(key) + ", found " +
                                 Quoted(node.scalar));
  }
  fragment_.limits[std::string(key.name)] = {*value, node.at};
}

void FragmentParser::ParseRules(const Key& key, const YamlNode& node) {
  if (!Expect(node, YamlNode::Kind::kSequence, "a list of rules")) return;
  Located<std::vector<RuleText>> rules{{}, node.key_at};
  for (const YamlNode& item : node.children) {
    if (!Expect(item, YamlNode::Kind::kMapping, "a rule such as {tool: make, decision: allow}")) {
      continue;
    }
    if (std::optional<RuleText> rule = ParseRule(item)) rules.value.push_back(std::move(*rule));
  }
  fragment_.*std::get<std::optional<Located<std::vector<RuleText>>> PolicyFragment::*>(key.field) =
      std::move(rules);
}

std::optional<RuleText> FragmentParser::ParseRule(const YamlNode& node) {
  RuleText rule{.at = node.at};
  std::string decision;
  bool sound = true;
  for (const YamlNode& member : node.children) {
    sound = ParseRuleMember(member, rule, decision) && sound;
  }
  if (!sound) return std::nullopt;
  if (std::string problem = CheckRule(rule, decision); !problem.empty()) {
    Complain(node.at, std::move(problem));
    return std::nullopt;
  }
  rule.verdict = *VerdictOf(decision);
  return rule;
}

bool FragmentParser::ParseRuleMember(const YamlNode& member, RuleText& rule,
                                     std::string& decision) {
  const auto keys = RuleKeys();
  const auto key = std::ranges::find(keys, member.key, &RuleKey::name);
  if (key == keys.end()) {
    std::vector<std::string_view> names;
    for (const RuleKey& known : keys) names.push_back(known.name);
    Complain(member.key_at,
             "unknown key " + Quoted(member.key) + " in a rule" + DidYouMean(member.key, names));
    return false;
  }
  if (!key->not_built.empty()) {
    Complain(member.key_at, std::string(key->not_built));
    return false;
  }
  if (member.key == "examples") return ParseExamples(member, rule);
  if (!Expect(member, YamlNode::Kind::kScalar, "text")) return false;
  if (member.scalar.empty()) {
    Complain(member.at, Quoted(member.key) + " cannot be empty");
    return false;
  }
  if (member.key == "tool") rule.tool = member.scalar;
  if (member.key == "target") rule.target = member.scalar;
  if (member.key == "path") rule.path = member.scalar;
  if (member.key == "command") rule.command = member.scalar;
  if (member.key == "decision") decision = member.scalar;
  if (member.key == "reason") rule.reason = member.scalar;
  return true;
}

bool FragmentParser::ParseExamples(const YamlNode& member, RuleText& rule) {
  if (!Expect(member, YamlNode::Kind::kSequence, "a list of examples")) return false;
  bool sound = true;
  for (const YamlNode& item : member.children) {
    if (!Expect(item, YamlNode::Kind::kScalar, "text")) return false;
    if (item.scalar.empty() || item.scalar == "!") {
      Complain(item.at, "an example cannot be empty");
      sound = false;
    }
    rule.examples.push_back({item.scalar, item.at});
  }
  return sound;
}

std::string FragmentParser::CheckSubject(const RuleText& rule) const {
  struct Named {
    const char* key;
    const std::string& value;
    Subject kind;
    const char* said;
  };
  const Named subjects[] = {
      {"target", rule.target, Subject::kTarget, "make and project_actions"},
      {"path", rule.path, Subject::kPath, "read, write, edit, delete, glob and grep"},
      {"command", rule.command, Subject::kCommand, "bash"}};
  const char* named = nullptr;
  for (const Named& subject : subjects) {
    if (subject.value.empty()) continue;
    if (rule.tool != "*" && !Has(rule.tool, subject.kind)) {
      return Quoted(subject.key) + " is for " + subject.said + "; " + Quoted(rule.tool) +
             " has none";
    }
    if (named != nullptr) {
      return "no call has both " + Quoted(named) + " and " + Quoted(subject.key) +
             ": write two rules";
    }
    named = subject.key;
  }
  if (!rule.path.empty()) {
    if (std::string problem = WhyNoPathRule(rule.path); !problem.empty()) return problem;
  }
  if (!rule.command.empty() && rule.command.find_first_not_of(" \t") == std::string::npos) {
    return "'command' cannot be blank";
  }
  if (named == nullptr && !rule.examples.empty()) {
    return "'examples' are of 'target', 'path' or 'command', and this rule names none";
  }
  return "";
}

std::string FragmentParser::CheckRule(const RuleText& rule, const std::string& decision) const {
  if (rule.tool.empty()) return "a rule needs 'tool': a tool's name, or \"*\" for any";
  if (rule.tool != "*") {
    if (std::string problem = WrongTool(rule.tool, false); !problem.empty()) {
      return problem;
    }
  }
  if (std::string problem = CheckSubject(rule); !problem.empty()) return problem;
  if (!VerdictOf(decision)) {
    constexpr std::string_view kDecisions[] = {"allow", "ask", "deny"};
    if (decision.empty()) return "a rule needs 'decision': allow, ask or deny";
    return "'decision' must be allow, ask or deny, found " + Quoted(decision) +
           DidYouMean(decision, kDecisions);
  }
  if (decision == "deny" && rule.reason.empty()) {
    return "a rule that denies needs 'reason': the model reads it";
  }
  return "";
}

}  // namespace

std::string CheckToolName(std::string_view name, std::span<const std::string> known_tools,
                          bool allow_all) {
  if (allow_all && name == "all") return "";
  if (std::ranges::find(known_tools, name) != known_tools.end()) return "";
  std::vector<std::string_view> names(known_tools.begin(), known_tools.end());
  if (allow_all) names.push_back("all");
  return "unknown tool " + Quoted(name) + DidYouMean(name, names);
}

std::optional<PolicyFragment> ParsePolicyText(
    std::string_view text, const std::string& source,
    std::optional<std::span<const std::string>> known_tools, std::vector<Diagnostic>& diagnostics) {
  const std::expected<YamlNode, Diagnostic> root = ParseYaml(text, source);
  if (!root) {
    diagnostics.push_back(root.error());
    return std::nullopt;
  }
  const std::size_t before = diagnostics.size();
  PolicyFragment fragment = FragmentParser(source, known_tools, diagnostics).Parse(*root);
  if (diagnostics.size() != before) return std::nullopt;
  return fragment;
}

}  // namespace pa::policy
