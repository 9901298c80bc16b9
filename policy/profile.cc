#include "policy/profile.h"

#include <utility>

#include "base/try.h"
#include "policy/yaml.h"

namespace pa::policy {
namespace {

using Parsed = std::expected<void, Diagnostic>;

std::unexpected<Diagnostic> Wrong(const SourceLocation& at, const std::string& why) {
  return std::unexpected(Diagnostic(at, why));
}

Parsed ReadMapping(const YamlNode& node, Variables& into) {
  if (node.kind != YamlNode::Kind::kMapping) return Wrong(node.at, "expected a mapping");
  for (const YamlNode& member : node.children) {
    if (member.kind != YamlNode::Kind::kScalar) return Wrong(member.at, "expected a value");
    into[member.key] = member.scalar;
  }
  return {};
}

Parsed ReadList(const YamlNode& node, std::vector<std::string>& into) {
  if (node.kind != YamlNode::Kind::kSequence) return Wrong(node.at, "expected a list");
  for (const YamlNode& item : node.children) into.push_back(item.scalar);
  return {};
}

// The one member that a section may have.
Parsed ReadSection(const YamlNode& section, std::string_view only, auto read) {
  const bool is_right = section.kind == YamlNode::Kind::kMapping && section.children.size() == 1 &&
                        section.children.front().key == only;
  if (!is_right) return Wrong(section.at, "expected " + std::string(only) + " and nothing else");
  return read(section.children.front());
}

Parsed ReadMember(const YamlNode& member, Profile& profile) {
  if (member.key == "environment") {
    return ReadSection(member, "set",
                       [&](const YamlNode& node) { return ReadMapping(node, profile.set); });
  }
  if (member.key == "filesystem") {
    return ReadSection(member, "write",
                       [&](const YamlNode& node) { return ReadList(node, profile.write); });
  }
  if (member.key == "unless_granted") return ReadMapping(member, profile.unless_granted);
  if (member.key == "unless_writable") return ReadMapping(member, profile.unless_writable);
  return Wrong(member.key_at, "unknown key '" + member.key + "'");
}

}  // namespace

std::expected<Profile, Diagnostic> ParseProfile(const ProfileText& text) {
  PA_TRY(auto root, ParseYaml(text.yaml, std::string(text.name) + ".yaml"));
  if (root.kind != YamlNode::Kind::kMapping) return Wrong(root.at, "expected a mapping");
  Profile profile;
  profile.name = text.name;
  for (const YamlNode& member : root.children) {
    PA_TRY_VOID(ReadMember(member, profile));
  }
  for (const Variables* places : {&profile.unless_granted, &profile.unless_writable}) {
    for (const auto& [name, place] : *places) {
      if (!profile.set.contains(name)) return Wrong(root.at, name + " is not set here");
    }
  }
  return profile;
}

std::string ReplaceVariables(std::string text, const Variables& values) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) break;
    const auto value = values.find(text.substr(at + 2, end - at - 2));
    if (value == values.end()) {
      at = end;
      continue;
    }
    text.replace(at, end + 1 - at, value->second);
    at += value->second.size();  // what was put in is not looked at again
  }
  return text;
}

}  // namespace pa::policy
