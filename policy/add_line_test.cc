#include "policy/add_line.h"

#include <gtest/gtest.h>

#include "policy/yaml.h"
#include "tests/support/policy_fixture.h"

namespace pa::policy {
namespace {

// The text with the line in it, which the second time changes nothing; or the error.
std::string WithLine(std::string_view text, std::string_view line) {
  const auto now = AddLine(text, "p.yaml", line);
  if (!now) return now.error();
  const auto again = AddLine(now->text, "p.yaml", line);
  EXPECT_TRUE(again) << again.error();
  EXPECT_EQ(again->text, now->text) << line;
  return now->text;
}

constexpr std::string_view kRead = "filesystem: {read: [\"/x y\"]}";

TEST(AddLine, MakesANewFile) {
  EXPECT_EQ(WithLine("", kRead), "version: 1\nfilesystem: {read: [\"/x y\"]}\n");
  EXPECT_EQ(WithLine("# mine", "network: loopback"), "# mine\nversion: 1\nnetwork: loopback\n");
  EXPECT_EQ(AddLine("", "p.yaml", kRead)->key->name, "filesystem.read");
}

TEST(AddLine, AddsAKeyThatIsNotThere) {
  EXPECT_EQ(WithLine("version: 1\n", kRead), "version: 1\nfilesystem: {read: [\"/x y\"]}\n");
  EXPECT_EQ(WithLine("version: 1 # last", kRead),
            "version: 1 # last\nfilesystem: {read: [\"/x y\"]}\n");
  EXPECT_EQ(WithLine("---\n  version: 1\n", "network: full"),
            "---\n  version: 1\n  network: full\n");
  EXPECT_EQ(WithLine("{version: 1}", "network: full"), "{version: 1, network: full}");
  EXPECT_EQ(WithLine("\xEF\xBB\xBFversion: 1\r\n", "network: full"),
            "\xEF\xBB\xBFversion: 1\r\nnetwork: full\r\n");
}

TEST(AddLine, AddsAKeyToItsSection) {
  EXPECT_EQ(WithLine("version: 1\nfilesystem: # f\n  # why\n  write: [/w]\nnetwork: none\n", kRead),
            "version: 1\nfilesystem: # f\n  read: [\"/x y\"]\n  # why\n  write: [/w]\n"
            "network: none\n");
  EXPECT_EQ(WithLine("version: 1\nfilesystem: {write: [/w]} # f\n", kRead),
            "version: 1\nfilesystem: {write: [/w], read: [\"/x y\"]} # f\n");
  EXPECT_EQ(WithLine("version: 1\nfilesystem: {}\n", kRead),
            "version: 1\nfilesystem: {read: [\"/x y\"]}\n");
  EXPECT_EQ(WithLine("version: 1\nfilesystem:\n", kRead),
            "version: 1\nfilesystem:\n  read: [\"/x y\"]\n");
  EXPECT_EQ(WithLine("version: 1\r\nlimits:\r\n    processes: 5\r\n", "limits: {file_size: 8GiB}"),
            "version: 1\r\nlimits:\r\n    file_size: 8GiB\r\n    processes: 5\r\n");
}

TEST(AddLine, AppendsToAList) {
  EXPECT_EQ(WithLine("version: 1\nfilesystem: {read: [/a, 'it''s'], write: [/w]}\n", kRead),
            "version: 1\nfilesystem: {read: [/a, 'it''s', \"/x y\"], write: [/w]}\n");
  EXPECT_EQ(WithLine("filesystem: {read: []}\n", kRead), "filesystem: {read: [\"/x y\"]}\n");
  EXPECT_EQ(WithLine("filesystem: {read: [/a,]}\n", kRead),
            "filesystem: {read: [/a, \"/x y\",]}\n");
  EXPECT_EQ(
      WithLine("filesystem:\n  read:\n    - /a\n    - \"/b\"  # b's\n    # none\n  write: []\n",
               kRead),
      "filesystem:\n  read:\n    - /a\n    - \"/b\"  # b's\n    - \"/x y\"\n    # none\n"
      "  write: []\n");
  EXPECT_EQ(WithLine("filesystem:\n  read:\n  - /a", kRead),
            "filesystem:\n  read:\n  - /a\n  - \"/x y\"");
  EXPECT_EQ(WithLine("tools: {enable: [make]}\n", "tools: {enable: [bash, make, bash, read]}"),
            "tools: {enable: [make, bash, read]}\n")
      << "what is there already is not added";
  EXPECT_EQ(WithLine("pipeline: {tools: [make]}\n", "pipeline: {tools: [make, bash]}"),
            "pipeline: {tools: [make, bash]}\n");
}

TEST(AddLine, AppendsToAListOfSeveralLines) {
  EXPECT_EQ(WithLine("filesystem:\n  read: [\n    /a,  # [a\n    '/b]#'  # b, last\n  ]\n", kRead),
            "filesystem:\n  read: [\n    /a,  # [a\n    '/b]#',  # b, last\n    \"/x y\"\n  ]\n");
  EXPECT_EQ(WithLine("filesystem:\n  read: [\n    /a, # a\n  ]\n", kRead),
            "filesystem:\n  read: [\n    /a, # a\n    \"/x y\",\n  ]\n");
  EXPECT_EQ(WithLine("filesystem:\n  read: [/a, # a\n  ]\n", kRead),
            "filesystem:\n  read: [/a, # a\n    \"/x y\",\n  ]\n");
}

TEST(AddLine, ReplacesAValue) {
  EXPECT_EQ(WithLine("network: none # closed\nversion: 1\n", "network: loopback"),
            "network: loopback # closed\nversion: 1\n");
  EXPECT_EQ(WithLine("limits: {file_size: 1GiB, queue: 3}\n", "limits: {file_size: 2GiB}"),
            "limits: {file_size: 2GiB, queue: 3}\n");
  EXPECT_EQ(WithLine("network: \"none\"\n", "network: 'full'"), "network: \"full\"\n");
  EXPECT_EQ(WithLine("namespaces: off", "namespaces: auto"), "namespaces: auto");
}

// Of the line nothing but values comes into the file, and each as one value.
TEST(AddLine, AValueStaysOneValue) {
  for (const char* hostile : {R"("/a\"]}\nnetwork: full\n#")",
                              R"("/a # b: c")",
                              R"("/a, b: [c]")",
                              R"('/a''b"c\d')",
                              R"("/a\u0001\u0085\u2028\t")",
                              R"("- /a")",
                              R"("/a: b")",
                              R"("~")",
                              R"("*a")",
                              R"("!a")",
                              R"("&a")",
                              R"("%a")",
                              R"("@a")",
                              R"("/a\\")",
                              R"("")",
                              R"("null")",
                              R"("# a")",
                              R"("/\xFC")",
                              R"("...")",
                              R"("---")",
                              "\"/a\xE2\x80\xAE\xC2\x85\""}) {
    const std::string line = std::string("filesystem: {read: [") + hostile + "]}";
    const std::string wanted =
        ParseYaml(line, "").value().children[0].children[0].children[0].scalar;
    for (const char* text :
         {"", "version: 1\n", "filesystem: {read: [/b]}\n", "filesystem:\n  read:\n  - /b\n",
          "filesystem: {read: []}\n", "filesystem:\n  write: [/w]\n"}) {
      const auto now = AddLine(text, "p.yaml", line);
      ASSERT_TRUE(now) << hostile << now.error();
      const auto root = ParseYaml(now->text, "p.yaml");
      ASSERT_TRUE(root) << now->text;
      EXPECT_EQ(root->children.size(), std::string_view(text).starts_with("filesystem") ? 1u : 2u);
      const YamlNode& section = root->children.back();
      const auto list = std::ranges::find(section.children, "read", &YamlNode::key);
      ASSERT_NE(list, section.children.end()) << now->text;
      EXPECT_EQ(list->children.back().scalar, wanted) << now->text;
    }
  }
}

TEST(AddLine, RefusesWhatIsNoLine) {
  const auto refused = [](std::string_view line, std::string_view why) {
    const std::string text = "version: 1\n";
    const auto now = AddLine(text, "p.yaml", line);
    ASSERT_FALSE(now) << line;
    EXPECT_TRUE(now.error().contains(why)) << now.error();
  };
  refused("", "nothing");
  refused("network", "a value");
  refused("[network]", "a list");
  refused("network: none\nnamespaces: off", "this sets 2");
  refused("filesystem: {read: [/a], write: [/b]}", "this sets 2");
  refused("network: full\n---\nnetwork: none", "the line:2:1");
  refused("filesystem: {read: [/a}", "the line:1:");
  refused("filesystem: {raed: [/a]}", "did you mean 'filesystem.read'?");
  refused("filesystem.read: [/a]", "no key 'filesystem.read'");
  refused("filesystem: [/a]", "no key 'filesystem'");
  refused("filesystem: {read: /a}", "'filesystem.read' must be a list, found a value");
  refused("filesystem: {read: []}", "empty list");
  refused("filesystem: {read: [{a: b}]}", "found a mapping");
  refused("filesystem: {read: [~]}", "found nothing");
  refused("network: [full]", "'network' must be a value, found a list");
  refused("version: 1", "not a key for a single line");
  refused("permissions: [{tool: make, decision: allow}]", "write it into the file");
  refused("environment: {set: {A: b}}", "write it into the file");
  refused("network: &a full", "anchors");
}

TEST(AddLine, RefusesAFileThatItCannotKeep) {
  const auto refused = [](std::string_view text, std::string_view line, std::string_view why) {
    const auto now = AddLine(text, "p.yaml", line);
    ASSERT_FALSE(now) << now->text;
    EXPECT_TRUE(now.error().contains(why)) << now.error();
  };
  refused("version: 1\n\tb: 2\n", kRead, "p.yaml:2:1");
  refused("- a\n", kRead, "p.yaml:1:1: expected a mapping");
  refused("version: 1\n...\n", kRead, "write it into the file yourself: " + std::string(kRead));
  refused("filesystem: {read: /a}\n", kRead, "write it into the file yourself");
  refused("audit: {path: a b}\n", "audit: {path: /c}", "write it into the file yourself");
  refused("filesystem: {read: ~}\n", kRead, "write it into the file yourself");
}

class AddedLineTest : public PolicyTest {};

// What is added is in force, as what a person wrote there would be.
TEST_F(AddedLineTest, IsInForce) {
  User("filesystem:\n  read:\n    - ~/src\n");
  const std::string text = "version: 1\nfilesystem:\n  read:\n    - ~/src\n";
  const auto now = AddLine(text, "user.yaml", "filesystem: {read: [\"/a\\nb # c\"]}");
  ASSERT_TRUE(now) << now.error();
  sources_.user_text = now->text;
  const PolicyPtr policy = Load();
  ASSERT_EQ(policy->effective->filesystem_read->value.size(), 2u);
  EXPECT_EQ(policy->effective->filesystem_read->value[1].value, "/a\nb # c");
  sources_.user_text.reset();
  EXPECT_EQ(Load()->effective->filesystem_read->value.size(), 1u) << "the file is as it was";
}

// Before it is written the text stands for the file, also where there is none yet, and beneath the
// administrator's ceiling.
TEST_F(AddedLineTest, StandsForTheFileThatIsNotThere) {
  sources_.user_text = "version: 1\nnetwork: full\n";
  EXPECT_EQ(Load()->network, sandbox::Network::kFull);
  Administrator("network: none\n");
  EXPECT_TRUE(Faults().starts_with("user.yaml:2:10: ")) << Faults();
  sources_.user_file = base_ / "elsewhere.yaml";
  EXPECT_TRUE(Faults().starts_with("elsewhere.yaml:2:10: ")) << Faults();
}

}  // namespace
}  // namespace pa::policy
