// What the tests of the official filesystem server (@modelcontextprotocol/server-filesystem) ask of
// a file server and what makes sense for ours, asked of ours: paths, names, symlinks, the
// beginnings and ends of files, edits in their order, and what a client sees of it all. What is
// refused has a twin that is allowed.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/digest.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::string_view kFilesystemCasesMakefile = ".PHONY: x\nx:\n";
constexpr std::string_view kSecret = "what lies outside\n";

class FilesystemCases : public ::testing::Test {
 protected:
  FilesystemCases() { WriteText(project_.outside() / "file", kSecret); }
  ~FilesystemCases() override {
    EXPECT_EQ(ReadText(project_.outside() / "file"), kSecret);
    EXPECT_EQ(Count(project_.outside()), 1);
  }

  static std::ptrdiff_t Count(const fs::path& directory) {
    return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
  }
  std::string Absolute(const std::string& name) const { return project_.root() / name; }
  void Put(const std::string& name, std::string_view text) const {
    WriteText(project_.root() / name, text);
  }
  std::string Get(const std::string& name) const { return ReadText(project_.root() / name); }
  bool Exists(const std::string& name) const {
    return fs::exists(fs::symlink_status(project_.root() / name));
  }

  McpClient& Client() {
    if (!client_) Serve({});
    return *client_;
  }
  void Serve(std::vector<std::string> arguments) {
    client_ = std::make_unique<McpClient>(project_.Server(std::move(arguments)));
    client_->Initialize();
  }

  Json Read(const std::string& path, Json more = Json::object()) {
    more["path"] = path;
    return Client().CallTool("read", std::move(more));
  }
  Json Write(const std::string& path, const std::string& content, const std::string& old = "") {
    Json arguments = {{"path", path}, {"content", content}};
    if (!old.empty()) arguments["expected_sha256"] = Hex(Sha256Of(old));
    return Client().CallTool("write", std::move(arguments));
  }
  Json Edit(const std::string& path, const std::string& from, const std::string& to) {
    return Client().CallTool("edit", {{"edits", {{{"path", path}, {"old", from}, {"new", to}}}}});
  }
  Json Delete(const std::string& path) { return Client().CallTool("delete", {{"path", path}}); }
  Json Find(const std::string& tool, const std::string& path) {
    return Client().CallTool(tool, {{"pattern", tool == "glob" ? "*" : "."}, {"path", path}});
  }

  // "" when it succeeded.
  static std::string Code(const Json& result) {
    if (result.value("success", false)) return "";
    return result.value("error", Json::object()).value("code", "no result");
  }
  static std::string Message(const Json& result) {
    return result.value("error", Json::object()).value("message", "");
  }
  // Empty when there is none.
  static Json Data(const Json& result) { return result.value("data", Json::object()); }
  static std::string Content(const Json& result) {
    EXPECT_EQ(Code(result), "") << result;
    return Data(result).value("content", "");
  }
  // By every tool that takes a path; all that it names is left as it is.
  Names CodesOfAll(const std::string& path) {
    Names codes = {Code(Read(path)), Code(Write(path, "x")), Code(Write(path, "x", "y")),
                   Code(Edit(path, "what", "x")), Code(Delete(path))};
    for (const char* tool : {"glob", "grep"}) codes.push_back(Code(Find(tool, path)));
    return codes;
  }
  void ExpectOutside(const std::string& path) {
    for (const std::string& code : CodesOfAll(path)) EXPECT_EQ(code, "INVALID_PATH") << path;
  }
  // A path that ends with no name; delete says that first.
  void ExpectDirectoryOutside(const std::string& path) {
    for (const std::string& code : CodesOfAll(path)) {
      EXPECT_TRUE(code == "INVALID_PATH" || code == "INVALID_ARGUMENT") << path << " " << code;
    }
    EXPECT_EQ(Code(Read(path)), "INVALID_PATH") << path;
    EXPECT_EQ(Code(Write(path, "x")), "INVALID_PATH") << path;
  }

  const Project project_{kFilesystemCasesMakefile};
  std::unique_ptr<McpClient> client_;
};

// Paths.

TEST_F(FilesystemCases, WhatBeginsLikeTheRootIsNotTheRoot) {
  const std::string root = project_.root();
  for (const char* more : {"2", "ile", "-backup", ".old", " ", "\\", "Project"}) {
    WriteText(root + more + "/file", kSecret);
    ExpectOutside(root + more + "/file");
    ExpectOutside("../project" + std::string(more) + "/file");
    ExpectOutside(root + "/../project" + more + "/file");
    EXPECT_EQ(ReadText(root + more + "/file"), kSecret);
    EXPECT_EQ(Count(root + more), 1);
  }
  Put("2/file", "inside\n");
  EXPECT_EQ(Content(Read(root + "/2/file")), "     1\tinside\n");
  Serve({"--root", root + "2"});
  EXPECT_EQ(Content(Read(root + "2/file")), "     1\twhat lies outside\n") << "now it is a root";
  EXPECT_EQ(Code(Read(root + "ile/file")), "INVALID_PATH");
  EXPECT_EQ(Content(Read("2/file")), "     1\tinside\n") << "in the first of them";
}

TEST_F(FilesystemCases, HoweverAPathIsWrittenItIsTheSameFile) {
  Put("sub/file", "x\n");
  const std::string root = project_.root();
  for (const std::string& path :
       {std::string("sub/file"), std::string("./sub/file"), std::string("sub//file"),
        std::string("sub/./file"), std::string("sub/../sub/file"), std::string(".//sub/.//file"),
        Absolute("sub/file"), Absolute("./sub/file"), Absolute("sub//file"),
        Absolute("sub/../sub/file"), root + "//sub/file", "/" + root + "///sub//file"}) {
    EXPECT_EQ(Data(Read(path)).value("path", ""), "sub/file") << path;
    EXPECT_EQ(Code(Edit(path, "x", "xx")), "") << path;
    EXPECT_EQ(Code(Write(path, "x\n", "xx\n")), "") << path;
    EXPECT_EQ(Get("sub/file"), "x\n") << path;
  }
  for (const std::string& path :
       {Absolute("sub/../../outside/file"), std::string("../outside/../outside/file")}) {
    ExpectOutside(path);
  }
}

TEST_F(FilesystemCases, HoweverTheRootIsWritten) {
  Put("file", "x\n");
  const std::string root = project_.root();
  fs::create_directory_symlink(root, project_.home() / "link");
  for (const std::string& given :
       {root + "/", root + "//", root + "/.", root + "/../project",
        (project_.home() / "link").string(), (project_.home() / "link/").string()}) {
    client_ = std::make_unique<McpClient>(
        ServerOptions{.arguments = {"--root", given, "--enable", "all"}, .home = project_.home()});
    client_->Initialize();
    EXPECT_EQ(Content(Read("file")), "     1\tx\n") << given;
    EXPECT_EQ(Content(Read(root + "/file")), "     1\tx\n") << given;
    if (!given.contains("..")) {
      EXPECT_EQ(Content(Read(given + "/file")), "     1\tx\n") << given;
      EXPECT_EQ(Code(Write(given + "/file", "x\n", "x\n")), "") << given;
    }
    EXPECT_EQ(Code(Read(given + "/../outside/file")), "INVALID_PATH") << given;
    EXPECT_EQ(Code(Read(project_.outside() / "file")), "INVALID_PATH") << given;
    EXPECT_EQ(Code(Read("../outside/file")), "INVALID_PATH") << given;
  }
}

// As a client that was started in a shell knows them: by $PWD, and by a home that is a symlink.
TEST_F(FilesystemCases, HoweverTheClientHasComeThere) {
  Put("file", "x\n");
  const fs::path home = project_.home() / "home";
  fs::create_directory_symlink(project_.root().parent_path(), home);
  fs::create_directory_symlink(project_.root(), project_.home() / "here");
  ServerOptions options{.arguments = {"--enable", "all"},
                        .environment = {"PWD=" + (project_.home() / "here").string(),
                                        "XDG_STATE_HOME=" + (project_.home() / "state").string()},
                        .directory = project_.root(),
                        .home = home};
  client_ = std::make_unique<McpClient>(options);
  client_->Initialize();
  EXPECT_EQ(Content(Read(project_.home() / "here/file")), "     1\tx\n");
  EXPECT_EQ(Content(Read(home / "project/file")), "     1\tx\n");
  EXPECT_EQ(Code(Read(home / "outside/file")), "INVALID_PATH");
  options.environment[0] = "PWD=" + project_.outside().string();
  client_ = std::make_unique<McpClient>(options);
  client_->Initialize();
  EXPECT_EQ(Code(Read(project_.outside() / "file")), "INVALID_PATH") << "another directory's name";
  EXPECT_EQ(Code(Read(project_.home() / "here/file")), "INVALID_PATH") << "a name that nobody gave";
}

TEST_F(FilesystemCases, TheRootItselfAndNothing) {
  for (const std::string& path : {std::string(), std::string("."), std::string("./"),
                                  std::string("x/.."), project_.root().string()}) {
    fs::create_directories(project_.root() / "x");
    EXPECT_EQ(Code(Read(path)), "INVALID_ARGUMENT") << path;
    EXPECT_EQ(Code(Write(path, "x")), "INVALID_ARGUMENT") << path;
    EXPECT_EQ(Code(Edit(path, "x", "y")), "INVALID_ARGUMENT") << path;
    EXPECT_NE(Code(Delete(path)), "") << path;
    EXPECT_EQ(Data(Find("glob", path))["files"], Json::array({"Makefile"})) << path;
  }
  for (const char* path : {"/", "//", "/.", "..", "../", "../..", "x/../.."}) {
    ExpectDirectoryOutside(path);
  }
  for (const char* path : {"/etc/passwd", "/proc/self/environ"}) ExpectOutside(path);
  EXPECT_EQ(Get("Makefile"), kFilesystemCasesMakefile);
}

TEST_F(FilesystemCases, ANulEndsNoPath) {
  Put("file", "x\n");
  const std::string hidden("file\0.txt", 9);
  const std::string way("file\0/../../outside/file", 24);
  for (const std::string& path : {hidden, way, std::string(1, '\0')}) {
    for (const std::string& code : CodesOfAll(path)) EXPECT_EQ(code, "INVALID_ARGUMENT");
  }
  EXPECT_EQ(Get("file"), "x\n");
  EXPECT_EQ(Count(project_.root()), 2);
  EXPECT_EQ(Content(Read("file")), "     1\tx\n");
}

TEST_F(FilesystemCases, TheLongestNameAndOneMore) {
  const std::string longest(255, 'n');
  EXPECT_EQ(Code(Write(longest, "x\n")), "");
  EXPECT_EQ(Content(Read(longest)), "     1\tx\n");
  EXPECT_EQ(Code(Edit(longest, "x", "y")), "");
  EXPECT_EQ(Get(longest), "y\n");
  EXPECT_EQ(Code(Delete(longest)), "");
  const Json read = Read(longest + "n");
  EXPECT_EQ(Code(read), "NOT_FOUND");
  EXPECT_NE(Message(read).find("ENAMETOOLONG (File name too long)"), std::string::npos) << read;
  const Json written = Write(longest + "n", "x");
  EXPECT_EQ(Code(written), "INVALID_ARGUMENT");
  EXPECT_NE(Message(written).find("a name in it is too long"), std::string::npos) << written;
  EXPECT_EQ(Count(project_.root()), 1);
}

TEST_F(FilesystemCases, TheLongestPathAndOneMore) {
  std::string deep;
  while (project_.root().string().size() + deep.size() < 3500) deep += std::string(200, 'd') + "/";
  fs::create_directories(project_.root() / deep);
  EXPECT_EQ(Code(Write(deep + "file", "x\n")), "");
  EXPECT_EQ(Content(Read(deep + "file")), "     1\tx\n");
  while (deep.size() < 5000) deep += std::string(200, 'd') + "/";
  for (const std::string& code : CodesOfAll(deep + "file")) {
    EXPECT_TRUE(code == "NOT_FOUND" || code == "INVALID_ARGUMENT") << code;
  }
  const std::string message = Message(Read(deep + "file"));
  EXPECT_NE(message.find("ENAMETOOLONG"), std::string::npos) << message;
  EXPECT_LT(message.size(), 1000u) << message;
}

// Names.

// What other systems, shells, URLs and globs take for something else.
TEST_F(FilesystemCases, ANameIsWhatIsWritten) {
  const Names names = {"a b",
                       " begins",
                       "ends ",
                       "-n",
                       "--help",
                       "~",
                       "$HOME",
                       "${HOME}",
                       "%2e%2e",
                       "..\\outside\\file",
                       "C:\\file",
                       "a'b\"c",
                       "*",
                       "[x]",
                       "{a,b}",
                       "a;b|c&d",
                       "tab\tnewline\n",
                       "...",
                       "..file",
                       "\u65e5\u672c\u8a9e.txt",
                       "\u0645\u0631\u062d\u0628\u0627",
                       "\U0001F600",
                       "CON",
                       "x.",
                       "#",
                       "?",
                       "\x7f"};
  for (const std::string& name : names) {
    EXPECT_EQ(Code(Write(name, "one\n")), "") << name;
    EXPECT_EQ(Get(name), "one\n") << name;
    const Json read = Read(name);
    EXPECT_EQ(Data(read).value("path", ""), name);
    EXPECT_EQ(Content(read), "     1\tone\n") << name;
    EXPECT_EQ(Code(Edit(name, "one", "two")), "") << name;
    EXPECT_EQ(Get(name), "two\n") << name;
  }
  EXPECT_EQ(Count(project_.root()), static_cast<std::ptrdiff_t>(names.size()) + 1);
  const Json found = Data(Find("glob", "."))["files"];
  EXPECT_EQ(found.size(), names.size() - 3 + 1) << "three begin with a dot; and Makefile";
  for (const Json& name : found) EXPECT_TRUE(Exists(name)) << name;
  for (const std::string& name : names) {
    EXPECT_EQ(Code(Delete(name)), "") << name;
    EXPECT_FALSE(Exists(name)) << name;
  }
}

TEST_F(FilesystemCases, NothingIsDecodedOnTheWayOut) {
  for (const std::string& path :
       {std::string("%2e%2e/outside/file"), std::string("..%2foutside%2ffile"),
        std::string("..\\outside\\file"), std::string("~/file"), std::string("$HOME/file"),
        std::string("file://") + (project_.outside() / "file").string(),
        std::string("\uFF0E\uFF0E/outside/file")}) {
    const Json result = Read(path);
    EXPECT_NE(Code(result), "") << path;
    EXPECT_EQ(result.dump().find(kSecret.substr(0, 10)), std::string::npos) << path;
    EXPECT_NE(Code(Edit(path, "what", "x")), "") << path;
  }
  Put("~/file", "of the project\n");
  WriteText(project_.home() / "file", kSecret);
  EXPECT_EQ(Content(Read("~/file")), "     1\tof the project\n");
}

// The two spellings of e with an acute accent look alike, and are two files.
TEST_F(FilesystemCases, NormalizationFormsAreNames) {
  const std::string composed = "caf\u00e9";
  const std::string decomposed = "cafe\u0301";
  EXPECT_EQ(Code(Write(composed, "composed\n")), "");
  EXPECT_EQ(Code(Read(decomposed)), "NOT_FOUND");
  EXPECT_EQ(Code(Write(decomposed, "decomposed\n")), "") << "nothing is replaced";
  EXPECT_EQ(Content(Read(composed)), "     1\tcomposed\n");
  EXPECT_EQ(Content(Read(decomposed)), "     1\tdecomposed\n");
  EXPECT_EQ(Code(Delete(composed)), "");
  EXPECT_EQ(Get(decomposed), "decomposed\n");
}

TEST_F(FilesystemCases, LettersHaveTheirCase) {
  Put("Readme", "x\n");
  EXPECT_EQ(Code(Read("README")), "NOT_FOUND");
  EXPECT_EQ(Code(Write("README", "y\n")), "");
  EXPECT_EQ(Get("Readme") + Get("README"), "x\ny\n");
}

// Symlinks.

class SymlinkCases : public FilesystemCases {
 protected:
  void Link(const std::string& to, const std::string& name) const {
    fs::create_symlink(to, project_.root() / name);
  }
};

TEST_F(SymlinkCases, AChainCountsByItsEnd) {
  Put("dir/file", "x\n");
  Link("dir/file", "one");
  Link("one", "two");
  Link("./two", "three");
  EXPECT_EQ(Data(Read("three")).value("path", ""), "dir/file");
  EXPECT_EQ(Code(Edit("three", "x", "y")), "");
  EXPECT_EQ(Code(Write("two", "z\n", "y\n")), "");
  EXPECT_EQ(Get("dir/file"), "z\n");
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_TRUE(fs::is_symlink(project_.root() / name)) << name;
  }
  fs::remove(project_.root() / "one");
  Link("../outside/file", "one");
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_EQ(Code(Read(name)), "INVALID_PATH") << name;
    EXPECT_EQ(Code(Edit(name, "what", "x")), "INVALID_PATH") << name;
    EXPECT_EQ(Code(Write(name, "x", std::string(kSecret))), "INVALID_PATH") << name;
  }
}

TEST_F(SymlinkCases, OneThatLeadsOutAndInAgainIsRefused) {
  Put("file", "x\n");
  fs::create_directory_symlink(project_.root(), project_.outside() / "back");
  Link("../outside", "way");
  EXPECT_EQ(Code(Read("way/back/file")), "INVALID_PATH");
  fs::remove(project_.outside() / "back");
  EXPECT_EQ(Content(Read("file")), "     1\tx\n");
}

TEST_F(SymlinkCases, ACircleIsSaidToBeOne) {
  Put("file", "x\n");
  Link("b", "a");
  Link("a", "b");
  Link("self/x", "self");
  for (const char* name : {"a", "b", "self", "a/file"}) {
    const Json read = Read(name);
    EXPECT_EQ(Code(read), "NOT_FOUND") << name;
    EXPECT_NE(Message(read).find("ELOOP"), std::string::npos) << read;
    EXPECT_EQ(Code(Write(name, "x")), "NOT_FOUND") << name;
    EXPECT_EQ(Code(Edit(name, "x", "y")), "NOT_FOUND") << name;
  }
  EXPECT_EQ(Code(Delete("a")), "") << "it is a name like others";
  EXPECT_FALSE(Exists("a"));
  Link("file", "a");
  EXPECT_EQ(Content(Read("b")), "     1\tx\n");
}

TEST_F(SymlinkCases, ANewFileOnlyWhereTheDirectoryIsInside) {
  fs::create_directories(project_.root() / "dir/sub");
  fs::create_directory_symlink("dir", project_.root() / "inside");
  fs::create_directory_symlink("../outside", project_.root() / "out");
  fs::create_directory_symlink(project_.outside(), project_.root() / "absolute");
  fs::create_directory_symlink("../../out", project_.root() / "dir/sub/nested");
  EXPECT_EQ(Data(Write("inside/new", "x\n")).value("path", ""), "dir/new");
  EXPECT_EQ(Get("dir/new"), "x\n");
  EXPECT_EQ(Data(Write("inside/sub/../newer", "x\n")).value("path", ""), "dir/newer");
  for (const std::string way : {"out", "absolute", "inside/sub/nested", "dir/sub/nested"}) {
    for (const char* name : {"/new", "/file", "/a/b/new"}) {
      const Json result = Client().CallTool(
          "write", {{"path", way + name}, {"content", "x"}, {"create_parents", true}});
      EXPECT_EQ(Code(result), "INVALID_PATH") << way << name;
    }
  }
}

TEST_F(SymlinkCases, WhatLeadsNowhereIsNotWrittenThrough) {
  fs::create_directory(project_.root() / "dir");
  Link("dir/none", "inside");
  Link("../outside/none", "out");
  Link("inside", "chain");
  Link("none/none", "deep");
  for (const char* name : {"inside", "chain", "deep"}) {
    EXPECT_EQ(Code(Read(name)), "NOT_FOUND") << name;
    EXPECT_EQ(Code(Write(name, "x")), "NOT_FOUND") << name;
  }
  EXPECT_NE(Code(Read("out")), "");
  EXPECT_NE(Code(Write("out", "x")), "");
  EXPECT_FALSE(Exists("dir/none"));
  EXPECT_EQ(Code(Write("dir/none", "x\n")), "") << "by its own name";
  EXPECT_EQ(Content(Read("chain")), "     1\tx\n");
}

// Reading.

TEST_F(FilesystemCases, BeginningsAndEnds) {
  const auto some = [&](const std::string& text, int offset, int limit) {
    Put("file", text);
    Json data = Data(Read("file", {{"offset", offset}, {"limit", limit}}));
    return data.value("content", "none") + "of " + std::to_string(data.value("total_lines", -1));
  };
  EXPECT_EQ(some("", 1, 5), "of 0");
  EXPECT_EQ(some("", -5, 5), "of 0");
  EXPECT_EQ(some("\n", 1, 5), "     1\t\nof 1");
  EXPECT_EQ(some("\n", -1, 5), "     1\t\nof 1");
  EXPECT_EQ(some("one", 1, 5), "     1\tone\nof 1");
  EXPECT_EQ(some("one", -1, 1), "     1\tone\nof 1");
  EXPECT_EQ(some("one\ntwo", -1, 5), "     2\ttwo\nof 2") << "no newline at the end";
  EXPECT_EQ(some("one\ntwo\n", -1, 5), "     2\ttwo\nof 2");
  EXPECT_EQ(some("one\ntwo\n\n", -1, 5), "     3\t\nof 3");
  EXPECT_EQ(some("one\r\ntwo\r\n", -2, 1), "     1\tone\nof 2");
  EXPECT_EQ(some("one\ntwo\n", 2, 1), "     2\ttwo\nof 2");
  EXPECT_EQ(some("one\ntwo\n", -3, 9), "     1\tone\n     2\ttwo\nof 2") << "more than there is";
  EXPECT_EQ(some("one\ntwo\n", 3, 9), "of 2");
}

// As many as there are, each of them somewhere cut by the pipe, whatever its size.
TEST_F(FilesystemCases, CharactersAtTheBordersOfWhatIsReadAtOnce) {
  constexpr int kLines = 4000;
  for (const std::string before : {"", "x", "xx", "xxx"}) {
    std::string text = before;
    for (int i = 0; i < kLines; ++i) text += "\u65e5\u672c\u8a9e\U0001F600 \u00e9\u20ac\n";
    Put("file", text);
    int offset = 1;
    std::string shown;
    while (offset <= kLines) {
      const Json data = Data(Read("file", {{"offset", offset}}));
      ASSERT_EQ(data.value("encoding", ""), "utf-8") << data;
      const std::string content = data.value("content", "");
      for (std::size_t at = 0; at < content.size(); at = content.find('\n', at) + 1) {
        shown += content.substr(at + 7, content.find('\n', at) + 1 - at - 7);
      }
      offset = data.value("next_offset", kLines + 1);
    }
    EXPECT_TRUE(shown == text) << before;
  }
}

TEST_F(FilesystemCases, ALineThatIsTooLongIsCutAndTheNextIsNot) {
  const std::string line(2000, 'x');
  Put("file", line + "\n" + line + "y\nlast");
  const std::string content = Content(Read("file"));
  EXPECT_EQ(content, "     1\t" + line + "\n     2\t" + line +
                         "... (a line of 2002 bytes, it goes on at column 2001)\n" +
                         "     3\tlast\n");
  EXPECT_EQ(Content(Read("file", {{"offset", -1}})), "     3\tlast\n");
  EXPECT_EQ(Code(Edit("file", "y\nlast", "y\nend")), "") << "what is not shown can be edited";
  EXPECT_EQ(Get("file"), line + "\n" + line + "y\nend");
}

// Writing.

TEST_F(FilesystemCases, ADirectoryIsNotWrittenTo) {
  Put("dir/file", "x\n");
  for (const char* path : {"dir", "dir/", "dir/.", "dir/../dir"}) {
    EXPECT_EQ(Code(Write(path, "x")), "INVALID_ARGUMENT") << path;
    EXPECT_EQ(Code(Write(path, "x", "x\n")), "INVALID_ARGUMENT") << path;
    EXPECT_EQ(Code(Edit(path, "x", "y")), "INVALID_ARGUMENT") << path;
  }
  EXPECT_EQ(Code(Write("dir/file/x", "x")), "INVALID_ARGUMENT") << "nor beneath a file";
  EXPECT_EQ(Code(Write("none/file", "x")), "NOT_FOUND");
  EXPECT_FALSE(Exists("none"));
  EXPECT_EQ(Get("dir/file"), "x\n");
  EXPECT_EQ(Code(Write("dir/other", "y\n")), "");
}

// Whoever has the old file open keeps it, and other names of it do, too.
TEST_F(FilesystemCases, AFileIsReplacedAndNotWrittenInto) {
  Put("file", "old\n");
  fs::create_hard_link(project_.root() / "file", project_.outside() / "other");
  EXPECT_EQ(Code(Write("file", "new\n", "old\n")), "");
  EXPECT_EQ(Get("file"), "new\n");
  EXPECT_EQ(ReadText(project_.outside() / "other"), "old\n");
  fs::remove(project_.outside() / "other");
}

TEST_F(FilesystemCases, ContentsOfEveryKind) {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("no newline"), std::string("\r\n\r\n"),
        std::string("\u65e5\u672c\u8a9e \U0001F600\n"), std::string("tab\tquote\"back\\slash\n"),
        std::string("\x01\x1b[31m\x7f\n"), std::string("\uFEFFmark\n"),
        std::string(100'000, 'x')}) {
    EXPECT_EQ(Code(Write("file", text)), "");
    EXPECT_TRUE(Get("file") == text) << text.substr(0, 50);
    fs::remove(project_.root() / "file");
  }
}

// Editing.

TEST_F(FilesystemCases, EditsComeOneUponTheOther) {
  Put("file", "one two three\n");
  const Json first = {{"path", "file"}, {"old", "one"}, {"new", "1 and zwei"}};
  const Json second = {{"path", "file"}, {"old", "zwei two"}, {"new", "2"}};
  const auto edit = [&](Json edits, bool dry_run) {
    return Client().CallTool("edit", {{"edits", std::move(edits)}, {"dry_run", dry_run}});
  };
  EXPECT_EQ(Code(edit({second, first}, false)), "NO_MATCH") << "the first has not made it yet";
  EXPECT_EQ(Get("file"), "one two three\n");
  struct stat before{};
  ASSERT_EQ(stat(Absolute("file").c_str(), &before), 0);
  const Json tried = edit({first, second}, true);
  EXPECT_EQ(Code(tried), "");
  struct stat after{};
  ASSERT_EQ(stat(Absolute("file").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_EQ(Get("file"), "one two three\n");
  const Json done = edit({first, second}, false);
  EXPECT_EQ(Get("file"), "1 and 2 three\n");
  EXPECT_EQ(Data(done)["diff"], Data(tried)["diff"]);
  EXPECT_EQ(Data(done)["diff"],
            "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one two three\n+1 and 2 three\n");
}

// The other server looks for lines that differ in their blanks alone; ours shows them, and changes
// nothing that nobody has named.
TEST_F(FilesystemCases, BlanksAreCharacters) {
  const std::string text = "if (x) {\n\treturn  1;\n    }\n";
  Put("file", text);
  for (const char* near :
       {"if (x) {\n  return  1;", "\treturn 1;", "return  1;\n\t}", " \treturn"}) {
    const Json result = Edit("file", near, "y");
    EXPECT_EQ(Code(result), "NO_MATCH") << near;
  }
  const Json result = Edit("file", "if (x) {\n  return  1;", "y");
  EXPECT_NE(result.value("/error/details/nearest"_json_pointer, "").find("\treturn  1;"),
            std::string::npos)
      << result;
  EXPECT_EQ(Get("file"), text);
  EXPECT_EQ(Code(Edit("file", "\treturn  1;\n    }", "\treturn  2;\n\t}")), "");
  EXPECT_EQ(Get("file"), "if (x) {\n\treturn  2;\n\t}\n");
}

TEST_F(FilesystemCases, LineEndsOfWindowsStay) {
  Put("file", "one\r\ntwo\r\nthree\r\n");
  EXPECT_EQ(Code(Edit("file", "one\ntwo\n", "1\n2\nand a half\n")), "");
  EXPECT_EQ(Get("file"), "1\r\n2\r\nand a half\r\nthree\r\n");
  EXPECT_EQ(Code(Edit("file", "", "x")), "INVALID_ARGUMENT");
  EXPECT_EQ(Code(Edit("file", "three", "")), "");
  EXPECT_EQ(Get("file"), "1\r\n2\r\nand a half\r\n\r\n");
}

// `$&` and the like mean something to the other server's language.
TEST_F(FilesystemCases, WhatIsPutInIsNoPattern) {
  Put("file", "a.c\nabc\n");
  EXPECT_EQ(Code(Edit("file", "a.c", "$& $1 \\0 $$ %s")), "");
  EXPECT_EQ(Get("file"), "$& $1 \\0 $$ %s\nabc\n");
}

// Searching.

TEST_F(FilesystemCases, WhatIsExcludedAtAnyDepth) {
  Put(".gitignore", "node_modules\n*.log\n!keep.log\n/build/\n**/generated/*.h\n");
  for (const char* name : {"node_modules/a", "sub/node_modules/b", "sub/deep/node_modules/c/d",
                           "x.log", "sub/y.log", "build/z", "sub/generated/a.h"}) {
    Put(name, "needle\n");
  }
  const Names kept = {"keep.log", "node_modules2/a", "sub/build/z", "sub/generated/a.c", "x.logs"};
  for (const std::string& name : kept) Put(name, "needle\n");
  const auto found = [&](const std::string& tool, Json arguments) {
    const Json result = Client().CallTool(tool, std::move(arguments));
    EXPECT_EQ(Code(result), "") << result;
    Names names = Data(result).value("files", Names());
    std::erase(names, "Makefile");
    std::ranges::sort(names);
    return names;
  };
  EXPECT_EQ(found("glob", {{"pattern", "*"}}), kept);
  EXPECT_EQ(found("grep", {{"pattern", "needle"}}), kept);
  const Names all = found("glob", {{"pattern", "*"}, {"include_ignored", true}});
  EXPECT_EQ(all.size(), kept.size() + 7);
  const Names one = {"sub/deep/node_modules/c/d"};
  EXPECT_EQ(found("grep", {{"pattern", "needle"}, {"path", one[0]}}), one) << "who names it";
}

// What a client sees.

TEST_F(FilesystemCases, EveryResultIsAnObjectAndATextForReaders) {
  Put("file", "needle\n");
  Put("other", "x\n");
  std::vector<std::tuple<std::string, Json, std::string>> calls = {
      {"read", {{"path", "file"}}, "     1\tneedle\n"},
      {"write", {{"path", "new"}, {"content", "x\n"}}, "created new"},
      {"edit", {{"edits", {{{"path", "file"}, {"old", "needle"}, {"new", "n"}}}}}, "-needle\n+n\n"},
      {"delete", {{"path", "other"}}, "trash restore"},
      {"read", {{"path", "none"}}, "cannot read none"},
      {"edit",
       {{"edits", {{{"path", "file"}, {"old", "none"}, {"new", "n"}}}}},
       "does not occur in file"},
      {"write", {{"path", 1}, {"content", "x"}}, "argument 'path'"}};
  calls.insert(calls.begin(), {{"glob", {{"pattern", "fi*"}}, "file\n"},
                               {"grep", {{"pattern", "needle"}}, "file\n"},
                               {"glob", {{"pattern", "none"}}, "0 files"}});
  for (const auto& [tool, arguments, text] : calls) {
    Json reply = Client().Request("tools/call", {{"name", tool}, {"arguments", arguments}});
    ASSERT_TRUE(reply.contains("result")) << reply;
    Json result = reply["result"];
    EXPECT_TRUE(result["structuredContent"].is_object()) << result;
    EXPECT_EQ(result.value("isError", false), !result["structuredContent"].value("success", true));
    ASSERT_TRUE(result["content"].is_array() && !result["content"].empty()) << result;
    EXPECT_EQ(result["content"][0].value("type", ""), "text");
    EXPECT_NE(result["content"][0].value("text", "").find(text), std::string::npos) << result;
  }
}

// Roots.

TEST_F(FilesystemCases, ARootThatIsNoDirectoryEndsTheServerAndIsNamed) {
  Put("file", "x");
  for (const std::string& root : {Absolute("none"), Absolute("file")}) {
    for (const bool beside : {false, true}) {
      std::vector<std::string> command = {BuiltProgram("PA_SERVER"), "serve", "--root", root};
      if (beside) command.insert(command.end(), {"--root", project_.root()});
      const ProgramResult result =
          RunProgram({.command = command, .environment = {"HOME=" + project_.home().string()}});
      EXPECT_EQ(result.exit_code, 1) << root;
      EXPECT_EQ(result.output, "");
      EXPECT_NE(result.errors.find("the root '" + root + "' is not a directory"), std::string::npos)
          << result.errors;
    }
  }
}

TEST_F(FilesystemCases, ARootThatGoesAwayAndComesBack) {
  Put("file", "x\n");
  EXPECT_EQ(Content(Read("file")), "     1\tx\n");
  const fs::path away = project_.home() / "away";
  fs::rename(project_.root(), away);
  const Json gone = Read("file");
  EXPECT_EQ(Code(gone), "INVALID_DIRECTORY") << gone;
  EXPECT_NE(Message(gone).find(project_.root().string()), std::string::npos) << gone;
  EXPECT_NE(Code(Write("new", "x")), "");
  EXPECT_FALSE(fs::exists(away / "new"));
  fs::create_directory_symlink(project_.outside(), project_.root());
  EXPECT_NE(Code(Read("file")), "") << "a symlink to elsewhere in its place";
  EXPECT_NE(Code(Write("new", "x")), "");
  fs::remove(project_.root());
  fs::rename(away, project_.root());
  EXPECT_EQ(Content(Read("file")), "     1\tx\n");
}

}  // namespace
}  // namespace pa::testing
