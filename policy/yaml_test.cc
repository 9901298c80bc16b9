#include "policy/yaml.h"

#include <gtest/gtest.h>

namespace pa::policy {
namespace {

using NodeKind = YamlNode::Kind;

YamlNode Accepted(std::string_view text) {
  std::expected<YamlNode, Diagnostic> root = ParseYaml(text, "p.yaml");
  if (root) return std::move(*root);
  ADD_FAILURE() << root.error().Format();
  return {};
}

std::string Refused(std::string_view text) {
  const std::expected<YamlNode, Diagnostic> root = ParseYaml(text, "p.yaml");
  EXPECT_FALSE(root.has_value());
  return root ? "" : root.error().Format();
}

TEST(Yaml, KnowsWhereEverythingStands) {
  const YamlNode root = Accepted("a: 1\nb:\n  - x\n  - {c: \"2\"}\n");
  ASSERT_EQ(root.kind, NodeKind::kMapping);
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[0].key, "a");
  EXPECT_EQ(root.children[0].at, (SourceLocation{"p.yaml", 1, 4}));
  const YamlNode& list = root.children[1];
  EXPECT_EQ(list.key_at, (SourceLocation{"p.yaml", 2, 1}));
  ASSERT_EQ(list.kind, NodeKind::kSequence);
  EXPECT_EQ(list.children[0].at, (SourceLocation{"p.yaml", 3, 5}));
  const YamlNode& inner = list.children[1].children.at(0);
  EXPECT_EQ(inner.key, "c");
  EXPECT_EQ(inner.at, (SourceLocation{"p.yaml", 4, 9}));
}

TEST(Yaml, TellsQuotedScalarsFromPlainOnes) {
  const YamlNode root = Accepted("[1, \"1\", '1', ~, null, \"~\", \"\"]");
  ASSERT_EQ(root.children.size(), 7u);
  EXPECT_FALSE(root.children[0].quoted);
  EXPECT_TRUE(root.children[1].quoted);
  EXPECT_TRUE(root.children[2].quoted);
  EXPECT_EQ(root.children[3].kind, NodeKind::kNull);
  EXPECT_EQ(root.children[4].kind, NodeKind::kNull);
  EXPECT_EQ(root.children[5].scalar, "~");
  EXPECT_EQ(root.children[6].kind, NodeKind::kScalar);
}

TEST(Yaml, NothingIsNull) {
  EXPECT_EQ(Accepted("").kind, NodeKind::kNull);
  EXPECT_EQ(Accepted("# only a comment\n").kind, NodeKind::kNull);
  EXPECT_EQ(Accepted("---\n").kind, NodeKind::kNull);
}

TEST(Yaml, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_EQ(Refused("a: 1\nb: 2\na: 3\n"),
            "p.yaml:3:1: duplicate key 'a', first at line 1; keep one of them");
  EXPECT_EQ(Refused("x: {a: 1, \"a\": 2}"),
            "p.yaml:1:11: duplicate key 'a', first at line 1; keep one of them");
  EXPECT_EQ(Accepted("x: {a: 1}\ny: {a: 1}").children.size(), 2u);
}

TEST(Yaml, RefusesAnchorsAndAliases) {
  EXPECT_NE(Refused("a: &x 1\nb: *x\n").find("anchors"), std::string::npos);
  EXPECT_NE(Refused("a: &x {b: 1}\n").find("anchors"), std::string::npos);
  // The bomb that doubles with each line would be 2^30 nodes as a tree.
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb +=
        "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  EXPECT_NE(Refused(bomb).find("anchors"), std::string::npos);
}

TEST(Yaml, RefusesTags) {
  EXPECT_EQ(Refused("a: !!str 1\n"),
            "p.yaml:1:4: tags (!name) are not allowed in a policy; put a value that begins with ! "
            "in quotes");
  EXPECT_NE(Refused("a: !mine [1]\n").find("tags"), std::string::npos);
}

TEST(Yaml, RefusesMoreThanOneDocument) {
  EXPECT_EQ(Refused("a: 1\n---\nb: 2\n").substr(0, 9), "p.yaml:2:");
  EXPECT_EQ(Accepted("---\na: 1\n...\n").children.size(), 1u);
}

TEST(Yaml, RefusesKeysThatAreNoWords) {
  EXPECT_EQ(Refused("? [a]\n: 1\n"), "p.yaml:1:3: a key must be a plain word");
  EXPECT_EQ(Refused("{a: 1}: 2\n").find("p.yaml:1:"), 0u);
  EXPECT_EQ(Refused("~: 1\n"), "p.yaml:1:1: a key must be a plain word");
}

TEST(Yaml, RefusesWhatIsNoText) {
  EXPECT_EQ(Refused("a: \"x\\0y\"\n"),
            "p.yaml:1:4: a NUL character cannot be part of a value; remove it");
  EXPECT_EQ(Accepted("\xef\xbb\xbfgr\xc3\xbc\xc3\x9f: 1\n").children.at(0).key,
            "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(Refused("\xef\xbb\xbf\xef\xbb\xbfx: 1\n"),
            "p.yaml:1:1: a byte order mark (U+FEFF), which nobody sees, is in the way; remove it");
  EXPECT_EQ(Refused("x: 1\n\xef\xbb\xbfy: 1\n"),
            "p.yaml:2:1: a byte order mark (U+FEFF), which nobody sees, is in the way; remove it");
}

TEST(Yaml, HasLimits) {
  EXPECT_NE(Refused(std::string(kMaxYamlBytes + 1, '#')).find("1 MiB"), std::string::npos);
  EXPECT_EQ(Accepted(std::string(kMaxYamlBytes, '#')).kind, NodeKind::kNull);
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NE(Refused(nested(kMaxYamlDepth + 1)).find("nested too deeply"), std::string::npos);
  EXPECT_NE(Refused(nested(100'000)).find("nested too deeply"), std::string::npos);
  EXPECT_EQ(Accepted(nested(kMaxYamlDepth)).kind, NodeKind::kSequence);
  std::string keys;
  for (std::size_t i = 0; i <= kMaxYamlMembers; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_NE(Refused(keys).find("too many keys"), std::string::npos);
}

TEST(Yaml, ColumnsCountCharacters) {
  const YamlNode root = Accepted("\xef\xbb\xbf{\xc3\xbc: 1, b: 2,\n \xc3\xbc\xc3\xbc: 3}");
  EXPECT_EQ(root.at, (SourceLocation{"p.yaml", 1, 1}));
  EXPECT_EQ(root.children.at(0).at, (SourceLocation{"p.yaml", 1, 5}));
  EXPECT_EQ(root.children.at(1).at, (SourceLocation{"p.yaml", 1, 11}));
  EXPECT_EQ(root.children.at(2).at, (SourceLocation{"p.yaml", 2, 6}));
}

}  // namespace
}  // namespace pa::policy
