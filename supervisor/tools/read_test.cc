// read with the real worker, in the real sandbox.
#include "supervisor/tools/read.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "supervisor/text/line_diff.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class ReadTest : public ToolFixture {
 protected:
  ToolResult Read(const std::string& path, const std::string& more = "") {
    JsonWriter w;
    w.String(path);
    return Call("read", R"({"path":)" + std::move(w).Take() + more + "}");
  }
  std::string Content(const std::string& path, const std::string& more = "") {
    return Data(Read(path, more)).Find("content")->AsString();
  }
};

TEST_F(ReadTest, LinesWithTheirNumbersAndWhatTheFileIs) {
  Write("src/a.c", "int main() {\n}\n");
  const ToolResult result = Read("src/a.c");
  const JsonValue data = Data(result);
  const std::string sha = "65d7e147196ba67c23435c1ecd610fc557595d294c718ca0b5efcd32bcec006d";
  EXPECT_EQ(data.Find("path")->AsString(), "src/a.c");
  EXPECT_EQ(data.Find("content")->AsString(), "     1\tint main() {\n     2\t}\n");
  EXPECT_EQ(data.Find("total_lines")->AsInteger(), 2);
  EXPECT_EQ(data.Find("size")->AsInteger(), 15);
  EXPECT_EQ(data.Find("sha256")->AsString(), sha);
  EXPECT_EQ(data.Find("encoding")->AsString(), "utf-8");
  EXPECT_EQ(data.Find("next_offset"), nullptr);
  EXPECT_EQ(result.text, "src/a.c: lines 1 to 2 of 2; utf-8, sha256 " + sha +
                             "\n     1\tint main() {\n     2\t}\n");
}

TEST_F(ReadTest, PagesFollowOneUponTheOther) {
  std::string text;
  for (int i = 1; i <= 5; ++i) text += std::to_string(i) + "\n";
  Write("a", text);
  const JsonValue first = Data(Read("a", R"(,"limit":2)"));
  EXPECT_EQ(first.Find("next_offset")->AsInteger(), 3);
  EXPECT_EQ(Content("a", R"(,"offset":3,"limit":2)"), "     3\t3\n     4\t4\n");
  EXPECT_EQ(Content("a", R"(,"offset":-1)"), "     5\t5\n");
  EXPECT_EQ(Content("a", R"(,"offset":-3,"limit":1)"), "     3\t3\n");
  EXPECT_EQ(Content("a", R"(,"offset":-9,"limit":1)"), "     1\t1\n");
  EXPECT_EQ(Content("a", R"(,"offset":0,"limit":1)"), "     1\t1\n");
  const ToolResult beyond = Read("a", R"(,"offset":9)");
  EXPECT_EQ(Data(beyond).Find("content")->AsString(), "");
  EXPECT_EQ(beyond.warnings,
            std::vector<std::string>{"offset 9 is past the end: the file has 5 lines"});
  EXPECT_TRUE(beyond.text.starts_with("a: no lines; utf-8, ")) << beyond.text;
  EXPECT_EQ(Read("a", R"(,"offset":5)").warnings.size(), 0u);
  EXPECT_EQ(Code(Read("a", R"(,"offset":-2001)")), "INVALID_ARGUMENT");
  std::string wide;
  for (int i = 1; i <= 900; ++i) wide += std::to_string(i) + std::string(9000, ' ') + "\n";
  Write("wide", wide);
  const std::string line = Content("wide", R"(,"offset":-800,"limit":1)");
  EXPECT_TRUE(line.starts_with("   101\t101  ")) << line;
  EXPECT_EQ(Code(Read("a", R"(,"limit":2001)")), "INVALID_ARGUMENT");
}

// 25,000 tokens are what Claude Code shows of a result; a token has two bytes or more.
TEST_F(ReadTest, ALongFileAndALongLineCanBeReadToTheirEnds) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::string(90, 'x') + std::to_string(i) + "\n";
  Write("long", text);
  std::string all;
  std::optional<std::int64_t> offset = 1;
  int pages = 0;
  for (; offset && pages < 30; ++pages) {
    const ToolResult page = Read("long", R"(,"offset":)" + std::to_string(*offset));
    EXPECT_LE(page.text.size(), 50'000u);
    const JsonValue data = Data(page);
    for (std::string_view line : SplitLines(data.Find("content")->AsString())) {
      all += line.substr(line.find('\t') + 1);
    }
    const JsonValue* next = data.Find("next_offset");
    EXPECT_EQ(page.truncated, next != nullptr);
    offset = next == nullptr ? std::nullopt : next->AsInteger();
  }
  EXPECT_EQ(all, text);
  EXPECT_GT(pages, 5);
  Write("line", "a\n" + std::string(2000, 'x') + "the end\n");
  const ToolResult cut = Read("line");
  EXPECT_TRUE(cut.truncated);
  EXPECT_NE(cut.text.find("x... (a line of 2008 bytes, it goes on at column 2001)\n"),
            std::string::npos);
  EXPECT_EQ(Content("line", R"(,"offset":2,"limit":1,"column":2001)"), "     2\tthe end\n");
  EXPECT_FALSE(Read("line", R"(,"column":2001)").truncated);
  EXPECT_EQ(Code(Read("line", R"(,"column":0)")), "INVALID_ARGUMENT");
}

TEST_F(ReadTest, AnEmptyFile) {
  Write("empty", "");
  const ToolResult result = Read("empty");
  EXPECT_EQ(result.warnings, std::vector<std::string>{"the file is empty"});
  const JsonValue data = Data(result);
  EXPECT_EQ(data.Find("content")->AsString(), "");
  EXPECT_EQ(data.Find("total_lines")->AsInteger(), 0);
  EXPECT_EQ(data.Find("sha256")->AsString(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(ReadTest, SymlinksThatStayInside) {
  Write("dir/file", "x\n");
  fs::create_symlink("dir/file", project_ / "link");
  fs::create_directory_symlink("dir", project_ / "other");
  EXPECT_EQ(Data(Read("link")).Find("path")->AsString(), "dir/file");
  EXPECT_EQ(Content("other/../dir/file"), "     1\tx\n");
  EXPECT_EQ(Content((project_ / "link").string()), "     1\tx\n");
}

TEST_F(ReadTest, NothingOutside) {
  Write("a", "");
  testing::WriteText(base_ / "outside/secret", "s\n");
  fs::create_symlink(base_ / "outside/secret", project_ / "absolute");
  fs::create_symlink("../outside/secret", project_ / "relative");
  fs::create_directory_symlink("../outside", project_ / "way");
  for (const std::string& path :
       {std::string("absolute"), std::string("relative"), std::string("way/secret"),
        std::string("../outside/secret"), (base_ / "outside/secret").string(),
        std::string("/etc/passwd"), std::string("/proc/self/environ")}) {
    EXPECT_EQ(Code(Read(path)), "INVALID_PATH") << path;
  }
}

TEST_F(ReadTest, WhatIsNoTextIsRefusedWithWhatItIs) {
  Write("bytes", std::string("a\0b", 3));
  ASSERT_EQ(mkfifo((project_ / "fifo").c_str(), 0600), 0);
  for (const auto& [path, kind] :
       {std::pair<const char*, const char*>{"bytes", "binary data"}, {"fifo", "FIFO"}}) {
    const ToolResult result = Read(path);
    EXPECT_EQ(Code(result), "BINARY_FILE") << path;
    EXPECT_EQ(ParseJson(result.error->details)->Find("kind")->AsString(), kind);
    EXPECT_NE(ParseJson(result.error->details)->Find("size"), nullptr);
  }
  fs::create_directory(project_ / "dir");
  for (const char* path : {"dir", ".", ""}) EXPECT_EQ(Code(Read(path)), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Read("none")), "NOT_FOUND");
  EXPECT_EQ(Code(Read("bytes/none")), "NOT_FOUND");
}

TEST_F(ReadTest, ImagesAreShown) {
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\x0d", 12);
  Write("i.png", png);
  const ToolResult result = Read("i.png");
  EXPECT_EQ(Data(result).Find("mime_type")->AsString(), "image/png");
  ASSERT_EQ(result.images.size(), 1u);
  EXPECT_EQ(result.images[0].mime_type, "image/png");
  EXPECT_EQ(result.images[0].base64, "iVBORw0KGgoAAAAN");
  Write("large.png", png + std::string(5 << 20, 'x'));
  EXPECT_EQ(Code(Read("large.png")), "FILE_TOO_LARGE");
}

TEST_F(ReadTest, WhatTheSystemRefusesIsSaidInItsWords) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  Write("closed", "x");
  chmod((project_ / "closed").c_str(), 0);
  const ToolResult result = Read("closed");
  EXPECT_EQ(Code(result), "FILE_IO");
  EXPECT_NE(result.error->message.find("EACCES"), std::string::npos) << result.error->message;
}

TEST_F(ReadTest, ARuleOfThePolicyRefusesIt) {
  Write("a", "x\n");
  policy_->permissions.push_back({.tool = "read",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no reading",
                                  .where = "policy"});
  EXPECT_EQ(Code(Read("a")), "POLICY_DENIED");
  policy_->permissions.clear();
  EXPECT_EQ(Content("a"), "     1\tx\n");
}

TEST_F(ReadTest, RulesByPathHoldWhereverASymlinkStands) {
  Write("secrets/key", "x\n");
  Write("a", "x\n");
  fs::create_symlink("secrets/key", project_ / "innocent");
  policy_->permissions.push_back({.tool = "*",
                                  .path = "secrets",
                                  .verdict = policy::Verdict::kDeny,
                                  .reason = "no",
                                  .where = "policy"});
  for (const char* path : {"secrets/key", "innocent", "./secrets/../secrets/key"}) {
    EXPECT_EQ(Code(Read(path)), "POLICY_DENIED") << path;
  }
  EXPECT_EQ(Content("a"), "     1\tx\n");
}

// A line in the middle of 50 MB, of which nothing but that is kept.
TEST_F(ReadTest, ALineOfALargeFile) {
  std::string text;
  for (int i = 1; i <= 1'000'000; ++i) text += "a line of a file that is large, or would be one\n";
  Write("large", text);
  const JsonValue data = Data(Read("large", R"(,"offset":500000,"limit":1)"));
  EXPECT_EQ(data.Find("content")->AsString(),
            "500000\ta line of a file that is large, or would be one\n");
  EXPECT_EQ(data.Find("total_lines")->AsInteger(), 1'000'000);
}

// To count and to hash the rest would take fifty times as long.
TEST_F(ReadTest, OfALargeFileThePartThatIsAskedFor) {
  std::string text;
  for (int i = 1; text.size() <= 5U << 20; ++i) text += "line " + std::to_string(i) + "\n";
  Write("large", text);
  const ToolResult part = Read("large", R"(,"limit":2)");
  const JsonValue data = Data(part);
  EXPECT_EQ(data.Find("content")->AsString(), "     1\tline 1\n     2\tline 2\n");
  EXPECT_EQ(data.Find("size")->AsInteger(), static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(data.Find("next_offset")->AsInteger(), 3);
  EXPECT_EQ(data.Find("sha256"), nullptr);
  EXPECT_EQ(data.Find("total_lines"), nullptr);
  EXPECT_TRUE(part.truncated);
  EXPECT_TRUE(part.text.starts_with("large: lines 1 to 2, the next begin at offset 3; utf-8, " +
                                    std::to_string(text.size()) + " bytes; pass whole"))
      << part.text;
  const JsonValue whole = Data(Read("large", R"(,"limit":2,"whole":true)"));
  EXPECT_EQ(whole.Find("sha256")->AsString().size(), 64u);
  EXPECT_GT(whole.Find("total_lines")->AsInteger(), 300'000);
  EXPECT_EQ(whole.Find("content")->AsString(), data.Find("content")->AsString());
  // What the part does not hold.
  const JsonValue far = Data(Read("large", R"(,"offset":300000,"limit":1)"));
  EXPECT_EQ(far.Find("content")->AsString(), "300000\tline 300000\n");
  EXPECT_NE(far.Find("sha256"), nullptr);
  EXPECT_NE(Data(Read("large", R"(,"offset":-1)")).Find("sha256"), nullptr);
  EXPECT_EQ(Data(Read("large", R"(,"offset":9000000)")).Find("content")->AsString(), "");
}

}  // namespace
}  // namespace pa
