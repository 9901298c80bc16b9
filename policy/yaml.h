// ParseYaml: turns YAML text into a small tree that knows the position of everything.
// policy/yaml.cc is the only user of yaml-cpp, whose exceptions end there as a Diagnostic.
//
//    std::expected<YamlNode, Diagnostic> root = ParseYaml(text, "policy.yaml");
//    for (const YamlNode& member : root->children) use(member.key, member);
//
// Supports what a policy needs and no more: mappings with plain keys, sequences, scalars. Refused,
// because each of them has hidden a meaning from a reader or crashed a parser somewhere: duplicate
// keys, anchors and aliases, tags, a second document, more than 1 MiB, deep nesting, anything that
// is not UTF-8.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "policy/diagnostic.h"

namespace pa::policy {

inline constexpr std::size_t kMaxYamlBytes = 1u << 20;
inline constexpr std::size_t kMaxYamlDepth = 16;
inline constexpr std::size_t kMaxYamlMembers = 1000;  // of one mapping

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  Kind kind = Kind::kNull;
  SourceLocation at;
  std::string key;  // if this is a member of a mapping
  SourceLocation key_at;
  std::string scalar;
  bool quoted = false;  // "1" is a string, 1 may be a number
  std::vector<YamlNode> children;

  const char* KindName() const;  // "nothing", "a value", "a list", "a mapping"
};

std::expected<YamlNode, Diagnostic> ParseYaml(std::string_view text, const std::string& source);

}  // namespace pa::policy
