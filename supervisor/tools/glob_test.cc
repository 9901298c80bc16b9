// glob with the real ripgrep, in the real sandbox.
#include "supervisor/tools/glob.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/json_writer.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class GlobTest : public ToolFixture {
 protected:
  void SetUp() override {
    if (access("/usr/bin/rg", X_OK) != 0) GTEST_SKIP() << "no ripgrep here";
  }
  ToolResult Glob(const std::string& pattern, const std::string& more = "") {
    JsonWriter w;
    w.String(pattern);
    return Call("glob", R"({"pattern":)" + std::move(w).Take() + more + "}");
  }
  using Names = std::vector<std::string>;
  Names Files(const std::string& pattern, const std::string& more = "") {
    const JsonValue data = Data(Glob(pattern, more));
    Names names;
    for (const JsonValue& file : data.Find("files")->Items()) names.push_back(file.AsString());
    return names;
  }
  // `age`: seconds.
  void WriteAged(const std::string& name, int age) {
    Write(name, "x\n");
    fs::last_write_time(project_ / name,
                        fs::file_time_type::clock::now() - std::chrono::seconds(age));
  }
};

TEST_F(GlobTest, NewestFirstAndAsInGitignore) {
  WriteAged("a.h", 30);
  WriteAged("sub/deep/b.h", 10);
  WriteAged("sub/c.cc", 20);
  EXPECT_EQ(Files("*.h"), (Names{"sub/deep/b.h", "a.h"}));
  EXPECT_EQ(Files("/*.h"), (Names{"a.h"}));
  EXPECT_EQ(Files("sub/**/*.{h,cc}"), (Names{"sub/deep/b.h", "sub/c.cc"}));
  EXPECT_EQ(Files("sub/*"), (Names{"sub/c.cc"}));
  EXPECT_EQ(Files("sub/**"), (Names{"sub/deep/b.h", "sub/c.cc"}));
  EXPECT_EQ(Files("s*/*/*.h"), (Names{"sub/deep/b.h"}));
  EXPECT_EQ(Files("**/deep/*"), (Names{"sub/deep/b.h"}));
  EXPECT_EQ(Files("deep/*.h", R"(,"path":"sub")"), (Names{"sub/deep/b.h"}));
  EXPECT_EQ(Files("d*p/*.h", R"(,"path":"sub")"), (Names{"sub/deep/b.h"}));
  EXPECT_EQ(Files("*", R"(,"path":"sub")"), (Names{"sub/deep/b.h", "sub/c.cc"}));
  EXPECT_EQ(Files("none/*.h"), Names{});
  EXPECT_EQ(Files("a.h/*"), Names{});
  EXPECT_EQ(Files("nothing"), Names{});
  const ToolResult result = Glob("*.h");
  EXPECT_EQ(result.text, "2 files, newest first\nsub/deep/b.h\na.h\n");
}

TEST_F(GlobTest, NothingFoundSaysWhy) {
  Write("src/lib/a.h", "");
  Write("a.h", "");
  const auto why = [&](const std::string& pattern, const std::string& more = "") {
    const ToolResult result = Glob(pattern, more);
    EXPECT_EQ(Data(result).Find("total")->AsInteger(), 0) << pattern;
    return result.warnings.empty() ? "" : result.warnings.at(0);
  };
  const std::string project = project_.string();
  const std::string top = "a / at the beginning of a glob is the directory that is searched, " +
                          project + ", and not the top of the file system";
  EXPECT_EQ(why("/etc/*.conf"), top);
  EXPECT_EQ(why(project + "/src/**/*.h"), top + ": pass `/src/**/*.h`");
  EXPECT_TRUE(why("../*.h").starts_with("a glob cannot lead upwards")) << why("../*.h");
  EXPECT_TRUE(why("src/../*.h").starts_with("a glob cannot lead upwards"));
  EXPECT_EQ(why("./*.h"), "`.` as a part of a glob matches nothing: leave ./ out");
  const std::string names = " names a directory, and a glob matches files: for its files pass ";
  EXPECT_EQ(why("src"), "`src`" + names + "`src/**`");
  EXPECT_EQ(why("src/lib"), "`src/lib`" + names + "`src/lib/**`");
  EXPECT_EQ(why("lib"), "`lib`" + names + "`src/lib/**`") << "further down";
  EXPECT_EQ(why("lib", R"(,"path":"src")"), "`lib`" + names + "`lib/**`");
  for (const char* pattern : {"none", "*.cc", "li", "b.h", "a.h/x", "lib/a"}) {
    EXPECT_EQ(why(pattern), "") << pattern;
  }
  EXPECT_EQ(Glob("/*.h").warnings.size(), 0u) << "it finds a.h";
  policy_->permissions.push_back({.tool = "*",
                                  .path = "src",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  for (const char* pattern : {"src", "lib"}) {
    EXPECT_EQ(why(pattern).find("directory, and"), std::string::npos) << "nobody is told";
  }
}

TEST_F(GlobTest, PagesFollowOneUponTheOther) {
  for (int i = 0; i < 10; ++i) WriteAged("f" + std::to_string(i), i);
  const ToolResult page = Glob("*", R"(,"limit":4)");
  EXPECT_TRUE(page.truncated);
  EXPECT_FALSE(Glob("*").truncated);
  const JsonValue first = Data(page);
  EXPECT_EQ(first.Find("total")->AsInteger(), 10);
  EXPECT_EQ(first.Find("next_offset")->AsInteger(), 4);
  EXPECT_EQ(Files("*", R"(,"limit":4,"offset":8)"), (Names{"f8", "f9"}));
  EXPECT_EQ(Data(Glob("*", R"(,"limit":4,"offset":8)")).Find("next_offset"), nullptr);
  EXPECT_EQ(Files("*", R"(,"offset":99)"), Names{});
}

// Also where there is no repository.
TEST_F(GlobTest, IgnoredAndHiddenOnlyWhenAskedFor) {
  Write(".gitignore", "*.o\n/sub/skipped\n");
  for (const char* name : {"a.o", "a.c", ".hidden", "sub/skipped/x", "sub/b.o", ".git/config"}) {
    Write(name, "");
  }
  const auto sorted = [&](const std::string& more) {
    Names names = Files("*", more);
    std::ranges::sort(names);
    return names;
  };
  EXPECT_EQ(sorted(""), (Names{"a.c"}));
  EXPECT_EQ(sorted(R"(,"include_ignored":true)"),
            (Names{"a.c", "a.o", "sub/b.o", "sub/skipped/x"}));
  EXPECT_EQ(sorted(R"(,"include_hidden":true)"), (Names{".gitignore", ".hidden", "a.c"}));
  EXPECT_EQ(sorted(R"(,"include_hidden":true,"include_ignored":true)"),
            (Names{".gitignore", ".hidden", "a.c", "a.o", "sub/b.o", "sub/skipped/x"}))
      << "all but .git";
  // Also where a pattern names it, unless it says that it means hidden ones.
  for (const char* ignored : {"*.o", "*/b.o", "sub/*.o", "*/skipped/*", "[s]ub/*.o", "**/b.o"}) {
    EXPECT_EQ(Files(ignored), Names{}) << ignored;
    EXPECT_NE(Files(ignored, R"(,"include_ignored":true)"), Names{}) << ignored;
  }
  EXPECT_EQ(Files(".hid*"), (Names{".hidden"}));
  Write("sub/.gitignore", "!b.o\n");
  EXPECT_EQ(Files("*.o", R"(,"path":"sub")"), (Names{"sub/b.o"}));
}

TEST_F(GlobTest, IgnoreFilesAboveThePathCount) {
  Write(".gitignore", "*.o\n");
  Write("sub/a.o", "");
  Write("sub/a.c", "");
  EXPECT_EQ(Files("*", R"(,"path":"sub")"), (Names{"sub/a.c"}));
}

TEST_F(GlobTest, NamesAreBytesAndNoOptions) {
  for (const char* name : {"-n", "a b", "line\nbreak", "--files", "!x", "[y]", "c:d", "dot."}) {
    Write(name, "");
  }
  EXPECT_EQ(Files("*").size(), 8u);
  EXPECT_EQ(Files("**").size(), 8u);
  EXPECT_EQ(Files("c:?"), (Names{"c:d"}));
  EXPECT_EQ(Files("-n"), (Names{"-n"}));
  EXPECT_EQ(Files("line*"), (Names{"line\nbreak"}));
  EXPECT_EQ(Files("!x"), (Names{"!x"})) << "never all but x";
  EXPECT_EQ(Files("\\[y\\]"), (Names{"[y]"}));
}

TEST_F(GlobTest, NothingOutsideIsFound) {
  testing::WriteText(outside_ / "secret.h", "");
  fs::create_symlink(outside_, project_ / "link");
  fs::create_directory(project_ / "sub");
  fs::create_symlink("../sub", project_ / "sub/up");
  Write("sub/a.h", "");
  EXPECT_EQ(Files("*.h"), (Names{"sub/a.h"}));
  for (const char* name : {"link", "..", "../outside", "/etc", "sub/../..", "/"}) {
    const std::string path = name;
    const ToolResult refused = Glob("*.h", R"(,"path":")" + path + "\"");
    EXPECT_EQ(Code(refused), "INVALID_PATH") << path;
    EXPECT_TRUE(refused.error->message.starts_with("path escapes working directory: " + path));
  }
  for (const std::string& path : Names{".", "sub/..", "sub/up", project_.string(), ""}) {
    EXPECT_EQ(Files("*.h", R"(,"path":")" + path + "\""), (Names{"sub/a.h"})) << path;
  }
}

TEST_F(GlobTest, BadArgumentsAreRefused) {
  Write("a", "");
  EXPECT_EQ(Code(Glob("")), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Glob("*", R"(,"path":"none")")), "NOT_FOUND");
  EXPECT_EQ(Code(Glob("*", R"(,"path":"a")")), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Glob("*", R"(,"limit":0)")), "INVALID_ARGUMENT");
  const ToolResult bad = Glob("[");
  EXPECT_EQ(Code(bad), "INVALID_ARGUMENT");
  EXPECT_NE(bad.error->message.find("unclosed character class"), std::string::npos)
      << bad.error->message;
  EXPECT_FALSE(bad.text.contains("regular expression")) << bad.text;
  const ToolResult outside = Glob("*", R"(,"path":"../x")");
  EXPECT_EQ(Code(outside), "INVALID_PATH");
  EXPECT_FALSE(outside.text.contains("working_directory")) << "it has no such argument";
}

TEST_F(GlobTest, ARuleOfThePolicyRefusesIt) {
  Write("a", "");
  policy_->permissions.push_back(
      {.tool = "glob", .verdict = policy::Verdict::kDeny, .reason = "no", .where = "p:1"});
  for (const char* pattern : {"*", "none/*"}) {
    EXPECT_EQ(Code(Glob(pattern)), "POLICY_DENIED") << pattern;
  }
  policy_->permissions.clear();
  EXPECT_EQ(Files("*"), (Names{"a"}));
}

TEST_F(GlobTest, WhatARuleKeepsFromItIsLeftOut) {
  Write("a", "");
  Write("keys/b", "");
  policy_->permissions.push_back({.tool = "*",
                                  .path = "keys",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  const ToolResult result = Glob("*");
  EXPECT_EQ(Data(result).Find("total")->AsInteger(), 1);
  EXPECT_EQ(result.warnings.size(), 1u);
  policy_->permissions[0].tool = "grep";
  EXPECT_EQ(Glob("*").warnings.size(), 0u);
  EXPECT_EQ(Files("*").size(), 2u);
}

TEST_F(GlobTest, WhatCannotBeReadIsLeftOutWithoutAFailure) {
  Write("a", "");
  Write("closed/b", "");
  chmod((project_ / "closed").c_str(), 0);
  const ToolResult result = Glob("*");
  chmod((project_ / "closed").c_str(), 0700);
  const bool reads_all = geteuid() == 0;
  EXPECT_EQ(Data(result).Find("files")->Items().size(), reads_all ? 2u : 1u);
  EXPECT_EQ(result.warnings.size(), reads_all ? 0u : 1u);
}

TEST_F(GlobTest, SaysWhatIsMissing) {
  ambient_["PATH"] = base_ / "tmp";
  const ToolResult result = Glob("*");
  EXPECT_EQ(Code(result), "TOOL_NOT_FOUND");
  EXPECT_EQ(result.error->message, "rg not found on PATH - install ripgrep to use this tool");
}

}  // namespace
}  // namespace pa
