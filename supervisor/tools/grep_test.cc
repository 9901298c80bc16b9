// grep with the real ripgrep, in the real sandbox.
#include "supervisor/tools/grep.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/json_writer.h"
#include "tests/support/sanitizers.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class GrepTest : public ToolFixture {
 protected:
  void SetUp() override {
    if (access("/usr/bin/rg", X_OK) != 0) GTEST_SKIP() << "no ripgrep here";
  }
  ToolResult Grep(const std::string& pattern, const std::string& more = "") {
    JsonWriter w;
    w.String(pattern);
    return Call("grep", R"({"pattern":)" + std::move(w).Take() + more + "}");
  }
  using Names = std::vector<std::string>;
  Names Files(const std::string& pattern, const std::string& more = "") {
    const JsonValue data = Data(Grep(pattern, more));
    Names names;
    for (const JsonValue& file : data.Find("files")->Items()) names.push_back(file.AsString());
    return names;
  }
  // `path:line:text` of each.
  Names Lines(const std::string& pattern, const std::string& more = "") {
    const JsonValue data = Data(Grep(pattern, R"(,"mode":"content")" + more));
    Names lines;
    for (const JsonValue& match : data.Find("matches")->Items()) {
      lines.push_back(match.Find("path")->AsString() + ":" + match.Find("line")->NumberToken() +
                      ":" + match.Find("text")->AsString());
    }
    return lines;
  }
};

TEST_F(GrepTest, FilesInTheOrderOfTheirPaths) {
  for (const char* name : {"c", "a", "sub/x", "b"}) Write(name, "needle\n");
  Write("none", "hay\n");
  EXPECT_EQ(Files("needle"), (Names{"a", "b", "c", "sub/x"}));
  EXPECT_EQ(Files("needle", R"(,"path":"sub")"), (Names{"sub/x"}));
  EXPECT_EQ(Files("needle", R"(,"glob":"[ab]")"), (Names{"a", "b"}));
  EXPECT_EQ(Files("needle", R"(,"glob":"!sub")"), (Names{"a", "b", "c"}));
  EXPECT_EQ(Files("needle", R"(,"glob":"s*/*")"), (Names{"sub/x"}));
  EXPECT_EQ(Files("needle", R"(,"glob":"none/*")"), Names{});
  EXPECT_EQ(Files("thread"), Names{});
  EXPECT_EQ(Grep("needle").text, "found in 4 files\na\nb\nc\nsub/x\n");
}

TEST_F(GrepTest, Counts) {
  Write("a", "x\nx\ny\n");
  Write("line\nbreak", "x\n");
  const JsonValue data = Data(Grep("x", R"(,"mode":"count")"));
  const auto& counts = data.Find("counts")->Items();
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].Find("count")->AsInteger(), 2);
  EXPECT_EQ(counts[1].Find("path")->AsString(), "line\nbreak");
  EXPECT_EQ(data.Find("total_matches")->AsInteger(), 3);
  EXPECT_EQ(data.Find("total_files")->AsInteger(), 2);
}

TEST_F(GrepTest, LinesWithTheirContext) {
  Write("a", "1\n2\n3 x\n4\n5 x\n6\n7\n8\n9 x\n");
  EXPECT_EQ(Lines("x"), (Names{"a:3:3 x", "a:5:5 x", "a:9:9 x"}));
  const ToolResult result = Grep("x", R"(,"mode":"content","context":1)");
  EXPECT_EQ(result.text,
            "3 matching lines in 1 file\na-2-2\na:3:3 x\na-4-4\n--\na:5:5 "
            "x\na-6-6\n--\na-8-8\na:9:9 x\n--\n");
  const JsonValue data = Data(result);
  const auto& matches = data.Find("matches")->Items();
  EXPECT_EQ(matches[0].Find("before")->Dump(), R"(["2"])");
  EXPECT_EQ(matches[0].Find("after")->Dump(), R"(["4"])");
  EXPECT_EQ(matches[1].Find("before"), nullptr) << "each line is shown once";
  EXPECT_EQ(matches[2].Find("before")->Dump(), R"(["8"])");
}

TEST_F(GrepTest, PatternsAreWhatTheyAreSaidToBe) {
  Write("a", "a.b\naxb\nA.B\nfoo(\nbar\n-v\n");
  EXPECT_EQ(Lines("a.b"), (Names{"a:1:a.b", "a:2:axb"}));
  EXPECT_EQ(Lines("a.b", R"(,"literal":true)"), (Names{"a:1:a.b"}));
  EXPECT_EQ(Lines("a.b", R"(,"literal":true,"ignore_case":true)"), (Names{"a:1:a.b", "a:3:A.B"}));
  EXPECT_EQ(Lines("-v"), (Names{"a:6:-v"})) << "no option";
  EXPECT_EQ(Lines("foo\\(\\nbar", R"(,"multiline":true)"), (Names{"a:4:foo(\nbar"}));
  EXPECT_EQ(Code(Grep("foo\\nbar")), "INVALID_ARGUMENT");
}

TEST_F(GrepTest, ALineMayEndInCrLf) {
  Write("dos", "foo\r\nbar foo\r\nfoo bar\r\n\xff foo\r\n");
  Write("unix", "foo\nfoo bar\n");
  EXPECT_EQ(Lines("foo$"),
            (Names{"dos:1:foo", "dos:2:bar foo", "dos:4:\xef\xbf\xbd foo", "unix:1:foo"}));
  EXPECT_EQ(Lines("^foo$"), (Names{"dos:1:foo", "unix:1:foo"}));
  EXPECT_EQ(Lines(R"(\s$)"), Names{}) << "the end of a line is no blank at its end";
  EXPECT_EQ(Lines("foo$\n^bar foo$", R"(,"multiline":true)"), (Names{"dos:1:foo\r\nbar foo"}));
  EXPECT_EQ(Lines("bar$", R"(,"glob":"dos","context":1)"), (Names{"dos:3:foo bar"}));
  // Who asks for \r gets it.
  EXPECT_EQ(Files(R"(foo\r$)"), (Names{"dos"}));
  EXPECT_EQ(Files(R"(foo\x0d?$)"), (Names{"dos", "unix"}));
  EXPECT_EQ(Files("foo\r$"), (Names{"dos"}));
  EXPECT_EQ(Files("foo$", R"(,"literal":true)"), Names{});
}

TEST_F(GrepTest, NothingFoundInNoFileSaysWhy) {
  Write("src/a", "needle\n");
  const auto why = [&](const std::string& glob) {
    const ToolResult result = Grep("needle", R"(,"glob":")" + glob + "\"");
    EXPECT_EQ(Data(result).Find("total_files")->AsInteger(), 0) << glob;
    return result.warnings.empty() ? "" : result.warnings.at(0);
  };
  EXPECT_TRUE(why("/etc/*").starts_with("a / at the beginning of a glob is ")) << why("/etc/*");
  EXPECT_TRUE(why("../*").starts_with("a glob cannot lead upwards")) << why("../*");
  EXPECT_TRUE(why("src").starts_with("`src` names a directory")) << why("src");
  EXPECT_EQ(why("*.c"), "");
  EXPECT_EQ(Grep("needle", R"(,"glob":"src/*")").warnings.size(), 0u);
  EXPECT_EQ(Grep("thread").warnings.size(), 0u);
}

TEST_F(GrepTest, ABadPatternIsRefusedInRipgrepsWords) {
  Write("a", "x\n");
  for (const auto& [pattern, words] :
       {std::pair<const char*, const char*>{"(", "unclosed group"}, {"(?=x)", "look-around"}}) {
    const ToolResult bad = Grep(pattern);
    EXPECT_EQ(Code(bad), "INVALID_ARGUMENT") << pattern;
    EXPECT_NE(bad.error->message.find(words), std::string::npos) << bad.error->message;
  }
  EXPECT_EQ(Code(Grep("")), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Grep("x", R"(,"mode":"all")")), "INVALID_ARGUMENT");
  const ToolResult glob = Grep("x", R"(,"glob":"[")");
  EXPECT_EQ(Code(glob), "INVALID_ARGUMENT");
  EXPECT_FALSE(glob.text.contains("regular expression")) << glob.text;
  EXPECT_TRUE(Grep("(").text.contains("regular expression"));
  EXPECT_EQ(Files("x"), (Names{"a"}));
}

TEST_F(GrepTest, PagesFollowOneUponTheOther) {
  for (int i = 10; i < 40; ++i) Write("f" + std::to_string(i), "x\nx\n");
  Names all;
  std::optional<std::int64_t> offset = 0;
  for (int pages = 0; offset && pages < 20; ++pages) {
    const std::string more = R"(,"mode":"content","limit":7,"offset":)" + std::to_string(*offset);
    const JsonValue data = Data(Grep("x", more));
    EXPECT_EQ(data.Find("total_matches")->AsInteger(), 60);
    for (const JsonValue& match : data.Find("matches")->Items()) {
      all.push_back(match.Find("path")->AsString() + match.Find("line")->NumberToken());
    }
    const JsonValue* next = data.Find("next_offset");
    offset = next == nullptr ? std::nullopt : next->AsInteger();
  }
  ASSERT_EQ(all.size(), 60u);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 60u);
}

TEST_F(GrepTest, APageOfLongLinesEndsEarlyAndGoesOn) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x" + std::string(1500, 'y') + std::to_string(i) + "\n";
  Write("a", text);
  std::set<std::int64_t> lines;
  std::optional<std::int64_t> offset = 0;
  int pages = 0;
  for (; offset && pages < 20; ++pages) {
    const ToolResult page = Grep("x", R"(,"mode":"content","offset":)" + std::to_string(*offset));
    EXPECT_LE(page.text.size(), 33'000u);
    const JsonValue data = Data(page);
    for (const JsonValue& match : data.Find("matches")->Items()) {
      lines.insert(*match.Find("line")->AsInteger());
    }
    const JsonValue* next = data.Find("next_offset");
    EXPECT_EQ(page.truncated, next != nullptr);
    offset = next == nullptr ? std::nullopt : next->AsInteger();
  }
  EXPECT_EQ(lines.size(), 100u);
  EXPECT_GT(pages, 3);
}

TEST_F(GrepTest, APageCountsTheLinesAroundItsMatchesAndShowsAFirstOneWhole) {
  std::string text;
  for (int i = 0; i < 120; ++i) {
    text += (i % 30 == 15 ? "x" : "-") + std::string(1900, 'y') + "\n";
  }
  Write("a", text);
  for (const char* offset : {"0", "1", "2", "3"}) {
    const ToolResult page =
        Grep("x", std::string(R"(,"mode":"content","context":9,"offset":)") + offset);
    EXPECT_EQ(Data(page).Find("matches")->Items().size(), 1u) << offset;
    EXPECT_GT(page.text.size(), 19u * 1900) << offset;
  }
}

TEST_F(GrepTest, OneFileAlsoIfItIsIgnored) {
  Write(".gitignore", "*.log\n");
  Write("sub/a.log", "x\n");
  Write("sub/b.log", "x\n");
  Write("sub/[a].log", "x\n");
  EXPECT_EQ(Files("x"), Names{});
  EXPECT_EQ(Files("x", R"(,"path":"sub/a.log")"), (Names{"sub/a.log"}));
  EXPECT_EQ(Files("x", R"(,"path":"sub/[a].log")"), (Names{"sub/[a].log"}));
}

TEST_F(GrepTest, AGlobDoesNotBringBackWhatIsIgnored) {
  Write(".gitignore", "gen_*\n");
  for (const char* name : {"a.py", "gen_b.py", ".c.py", "sub/d.py", "sub/gen_e.py"}) {
    Write(name, "x = 1\n");
  }
  EXPECT_EQ(Files("x", R"(,"glob":"*.py")"), (Names{"a.py", "sub/d.py"}));
  EXPECT_EQ(Files("x", R"(,"glob":"s?b/*.py")"), (Names{"sub/d.py"}));
  EXPECT_EQ(Lines("x", R"(,"glob":"s?b/*.py")"), (Names{"sub/d.py:1:x = 1"}));
  EXPECT_EQ(
      Data(Grep("x", R"(,"mode":"count","glob":"s?b/*.py")")).Find("total_matches")->AsInteger(),
      1);
  EXPECT_EQ(Files("x", R"(,"glob":"!sub")"), (Names{"a.py"}));
}

// ripgrep searches what an ignore file brings back, also what is hidden.
TEST_F(GrepTest, HiddenFilesAreLeftOutWhateverTheIgnoreFileSays) {
  Write(".gitignore", "!.github\n!.*\n");
  for (const char* name : {"a", ".b", ".github/c", "sub/.d", "sub/.e/f", "sub/g"}) {
    Write(name, "needle\n");
  }
  EXPECT_EQ(Files("needle"), (Names{"a", "sub/g"}));
  EXPECT_EQ(Files("needle", R"(,"glob":"!sub")"), (Names{"a"}));
  EXPECT_EQ(Lines("needle"), (Names{"a:1:needle", "sub/g:1:needle"}));
  EXPECT_EQ(Data(Grep("needle", R"(,"mode":"count")")).Find("total_matches")->AsInteger(), 2);
  EXPECT_EQ(Files("needle", R"(,"path":".github")"), (Names{".github/c"})) << "named by the path";
  EXPECT_EQ(Files("needle", R"(,"path":"sub/.d")"), (Names{"sub/.d"}));
}

TEST_F(GrepTest, BytesOfNoEncoding) {
  Write("latin", "caf\xe9 x\n");
  Write("dos", "x\r\ny\r\n");
  Write("utf16", std::string("\xff\xfex\0\n\0", 6));
  Write("binary", std::string("x\0x\n", 4));
  EXPECT_EQ(Lines("x"), (Names{"dos:1:x", "latin:1:caf\xef\xbf\xbd x", "utf16:1:x"}));
  Write("long", std::string(5000, 'y') + "x\n");
  const Names lines = Lines("yx");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("... (3001 more bytes)"), std::string::npos);
  EXPECT_LT(lines[0].size(), 2100u);
}

TEST_F(GrepTest, NothingOutsideIsRead) {
  testing::WriteText(outside_ / "secret", "needle\n");
  fs::create_symlink(outside_ / "secret", project_ / "link");
  fs::create_symlink(outside_, project_ / "linked");
  Write("mine", "needle\n");
  EXPECT_EQ(Files("needle"), (Names{"mine"}));
  for (const std::string path : {"link", "linked", "linked/secret", "../outside/secret"}) {
    EXPECT_EQ(Code(Grep("needle", R"(,"path":")" + path + "\"")), "INVALID_PATH") << path;
  }
  EXPECT_EQ(Code(Grep("needle", R"(,"path":"none")")), "NOT_FOUND");
  policy_->roots.push_back(outside_);
  EXPECT_EQ(Files("needle", R"(,"path":")" + outside_.string() + "\""),
            (Names{(outside_ / "secret").string()}))
      << "another root";
  EXPECT_EQ(Code(Grep("needle", R"(,"path":"link")")), "INVALID_PATH") << "but not by a symlink";
}

TEST_F(GrepTest, TheSameWithoutNamespaces) {
  policy_->namespaces = sandbox::Namespaces::kOff;
  testing::WriteText(outside_ / "secret", "needle\n");
  fs::create_symlink(outside_, project_ / "linked");
  Write(".gitignore", "*.o\n");
  Write("a.o", "needle\n");
  Write("sub/mine", "a\nneedle\n");
  EXPECT_EQ(Lines("needle"), (Names{"sub/mine:2:needle"}));
  EXPECT_EQ(Lines("needle", R"(,"path":"sub")"), (Names{"sub/mine:2:needle"}));
  EXPECT_EQ(Code(Grep("needle", R"(,"path":"linked")")), "INVALID_PATH");
}

// Eight megabytes of matching lines, of which two are asked for.
TEST_F(GrepTest, MuchIsCountedAndNotKept) {
  constexpr auto kLines = static_cast<std::int64_t>(testing::Volume(20'000));
  std::string text;
  for (std::int64_t i = 0; i < kLines; ++i) text += "x of a line that is found\n";
  for (const char* name : {"a", "b", "c"}) Write(name, text);
  const JsonValue data = Data(Grep("x", R"(,"mode":"content","limit":2)"));
  EXPECT_EQ(data.Find("matches")->Items().size(), 2u);
  EXPECT_EQ(data.Find("total_matches")->AsInteger(), 3 * kLines);
  EXPECT_EQ(data.Find("next_offset")->AsInteger(), 2);
}

TEST_F(GrepTest, WhatARuleKeepsFromItIsLeftOut) {
  Write("a", "x\n");
  Write("keys/b", "x\n");
  Write("c.pem", "x\n");
  policy_->permissions.push_back({.tool = "grep",
                                  .path = "keys",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  policy_->permissions.push_back({.tool = "*",
                                  .path = "*.pem",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  for (const char* mode : {"files", "content", "count"}) {
    const ToolResult result = Grep("x", R"(,"mode":")" + std::string(mode) + R"(")");
    const JsonValue data = Data(result);
    EXPECT_EQ(data.Find("total_files")->AsInteger(), 1) << mode;
    EXPECT_EQ(result.text.find("keys"), std::string::npos) << result.text;
    EXPECT_EQ(result.text.find("pem"), std::string::npos) << result.text;
    EXPECT_EQ(result.warnings.size(), 1u);
  }
  EXPECT_EQ(Code(Grep("x", R"(,"path":"keys")")), "POLICY_DENIED");
  EXPECT_EQ(Code(Grep("x", R"(,"path":"c.pem")")), "POLICY_DENIED");
  EXPECT_EQ(Code(Grep("x", R"(,"glob":"keys/*")")), "POLICY_DENIED");
  EXPECT_EQ(Files("x", R"(,"path":"a")"), (Names{"a"}));
}

// Of a page that lies further in than anything is kept for: no page after it, and it is said.
TEST_F(GrepTest, WhatIsNotKeptIsNotPromised) {
  const std::string line = "x" + std::string(899, '-') + "\n";
  std::string text;
  for (int i = 0; i < 12'000; ++i) text += line;
  Write("a", text);
  const ToolResult result = Grep("x", R"(,"mode":"content","offset":11000,"limit":10)");
  const JsonValue data = Data(result);
  EXPECT_EQ(data.Find("matches")->Items().size(), 0u);
  EXPECT_EQ(data.Find("total_matches")->AsInteger(), 12'000);
  EXPECT_EQ(data.Find("next_offset"), nullptr);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("more matches follow than can be shown"), std::string::npos);
  EXPECT_NE(result.text.find(result.warnings[0]), std::string::npos) << result.text;
}

// With complaints of its own ripgrep says only of arguments.
TEST_F(GrepTest, WhatCannotBeReadIsSaidToBeLeftOut) {
  Write("a", "x\n");
  Write("closed", "x\n");
  chmod((project_ / "closed").c_str(), 0);
  const ToolResult result = Grep("x");
  const JsonValue data = Data(result);
  const bool reads_all = geteuid() == 0;
  EXPECT_EQ(data.Find("files")->Items().size(), reads_all ? 2u : 1u);
  EXPECT_EQ(result.warnings.size(), reads_all ? 0u : 1u);
  chmod((project_ / "closed").c_str(), 0600);
}

}  // namespace
}  // namespace pa
