// make, make_targets and makefile_generate with the real make.
#include "supervisor/tools/make.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/support/deadline.h"
#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class MakeTest : public ToolFixture {
 protected:
  std::vector<std::string> Targets(const std::string& arguments = "{}") {
    const JsonValue data = Data(Call("make_targets", arguments));
    std::vector<std::string> names;
    for (const JsonValue& target : data.Find("targets")->Items()) {
      names.push_back(target.Find("name")->AsString());
    }
    return names;
  }
  // Older than what a cache may trust.
  void WriteOld(const std::string& name, std::string_view text) {
    Write(name, text);
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
  }
  using Names = std::vector<std::string>;
};

TEST_F(MakeTest, TargetsOfTheProject) {
  Write("Makefile",
        ".PHONY: test build a.b\n# Build it\nbuild:\n\t@echo built\n"
        "test: build ## Run the tests\n\t@echo tested\nfile:\n\t@touch file\na.b:\n");
  const JsonValue data = Data(Call("make_targets"));
  EXPECT_EQ(data.Find("makefile")->AsString(), "Makefile");
  const auto& targets = data.Find("targets")->Items();
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].Find("name")->AsString(), "test");
  EXPECT_EQ(targets[0].Find("description")->AsString(), "Run the tests");
  EXPECT_EQ(targets[1].Find("description")->AsString(), "Build it");
  const auto& refused = data.Find("refused")->Items();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].Find("name")->AsString(), "a.b");
}

TEST_F(MakeTest, ComputedTargetsAreMakesOwn) {
  Write("Makefile",
        "N := $(shell echo computed)\n.PHONY: $(N)\n$(N):\n\t@echo\n$(info .PHONY: forged)\n"
        "define T\n.PHONY: forged\nendef\n.PHONY: two\\ words\ninclude more.mk\n");
  Write("more.mk", ".PHONY: included\nincluded:\n");
  EXPECT_EQ(Targets(), (Names{"computed", "included"}));
}

TEST_F(MakeTest, RunsATarget) {
  Write("Makefile", ".PHONY: hi\nhi:\n\t@echo out; echo err >&2; touch made\n");
  const ToolResult result = Call("make", R"({"target":"hi"})");
  const JsonValue data = Data(result);
  EXPECT_EQ(data.Find("command")->AsString(), "make -- hi");
  EXPECT_EQ(data.Find("stdout")->AsString(), "out\n");
  EXPECT_EQ(data.Find("stderr")->AsString(), "err\n");
  EXPECT_EQ(data.Find("exit_code")->AsInteger(), 0);
  EXPECT_EQ(data.Find("working_dir")->AsString(), project_);
  EXPECT_TRUE(fs::exists(project_ / "made"));
  EXPECT_TRUE(result.text.starts_with("make hi: exit code 0 in "));
}

TEST_F(MakeTest, GitInARecipeWorksAlthoughTheUsersConfigurationIsClosed) {
  std::ofstream(home_ / ".gitconfig")
      << "[user]\n\tname = Somebody\n[http]\n\textraHeader = token\n";
  Write("Makefile",
        ".PHONY: config read own change\nconfig:\n\t@git config user.name; "
        "git config http.extraHeader || echo none\nread:\n\t@cat $$HOME/.gitconfig\n"
        "own:\n\t@printf '[user]\\nname = Own\\n' > own; GIT_CONFIG_GLOBAL=$$PWD/own git config "
        "user.name\nchange:\n\t@git config --global user.name Other\n");
  EXPECT_EQ(Data(Call("make", R"({"target":"config"})")).Find("stdout")->AsString(),
            "Somebody\nnone\n");
  EXPECT_EQ(Data(Call("make", R"({"target":"own"})")).Find("stdout")->AsString(), "Own\n");
  EXPECT_TRUE(Call("make", R"({"target":"change"})").error) << "it is read-only";
  EXPECT_EQ(Data(Call("make", R"({"target":"config"})")).Find("stdout")->AsString(),
            "Somebody\nnone\n");
  EXPECT_TRUE(Call("make", R"({"target":"read"})").error) << "it is closed";
}

TEST_F(MakeTest, FailureIsTheCommands) {
  Write("Makefile", ".PHONY: bad die\nbad:\n\t@exit 3\ndie:\n\t@kill -9 $$PPID\n");
  const ToolResult bad = Call("make", R"({"target":"bad"})");
  EXPECT_EQ(Code(bad), "COMMAND_FAILED");
  EXPECT_EQ(ParseJson(bad.data)->Find("exit_code")->AsInteger(), 2);
  const ToolResult died = Call("make", R"({"target":"die"})");
  EXPECT_EQ(Code(died), "COMMAND_FAILED");
  EXPECT_EQ(ParseJson(died.data)->Find("outcome")->AsString(), "signaled");
}

TEST_F(MakeTest, OnlyPhonyTargets) {
  Write("Makefile", ".PHONY: good a.b\ngood:\nfile:\n\t@touch file\na.b:\n\t@touch file\n");
  for (const char* target : {"file", "missing", "a.b", "-n", "X=1", "good file", ""}) {
    const ToolResult result = Call("make", R"({"target":")" + std::string(target) + "\"}");
    EXPECT_EQ(Code(result), "INVALID_TARGET") << target;
    EXPECT_EQ(result.error->message,
              "target '" + std::string(target) + "' not found in Makefile .PHONY targets");
    EXPECT_NE(result.error->details.find("\"good\""), std::string::npos);
    const bool declared =
        result.error->ai_message.starts_with("It is declared .PHONY, but its name");
    EXPECT_EQ(declared, std::string_view(target) == "a.b") << result.error->ai_message;
  }
  EXPECT_FALSE(fs::exists(project_ / "file"));
}

TEST_F(MakeTest, AnOptionForANameIsATargetBehindTheDashes) {
  Write("Makefile", ".PHONY: -n --version\n-n --version:\n\t@echo ran $@\n");
  EXPECT_EQ(Data(Call("make", R"({"target":"--version"})")).Find("stdout")->AsString(),
            "ran --version\n");
}

TEST_F(MakeTest, DiscoveryCannotChangeTheProjectOrSeeOutside) {
  testing::WriteText(outside_ / "secret", "secret");
  Write("Makefile", "X := $(shell touch planted; cat " + (outside_ / "secret").string() +
                        " > /dev/null && echo read)\n.PHONY: t $(X)\nt:\n");
  EXPECT_EQ(Targets(), (Names{"t"}));
  EXPECT_FALSE(fs::exists(project_ / "planted"));
}

TEST_F(MakeTest, MakefileThatMakeCannotLoad) {
  Write("Makefile", ".PHONY: a\na:\n\techo\nnonsense here\n");
  const ToolResult result = Call("make_targets");
  EXPECT_EQ(Code(result), "MAKEFILE_INVALID");
  EXPECT_NE(result.error->message.find("Makefile:4: *** missing separator"), std::string::npos);
  EXPECT_EQ(Code(Call("make", R"({"target":"a"})")), "MAKEFILE_INVALID");
}

TEST_F(MakeTest, NoMakefileSaysHowToGetOne) {
  const ToolResult result = Call("make_targets");
  EXPECT_EQ(Code(result), "NOT_FOUND");
  EXPECT_NE(result.error->ai_message.find("makefile_generate"), std::string::npos);
}

TEST_F(MakeTest, AMakefileHigherUpIsNamed) {
  Write("Makefile", ".PHONY: a\na:\n");
  Write("sub/deep/x", "");
  ToolResult result = Call("make_targets", R"({"working_directory":"sub/deep"})");
  EXPECT_EQ(Code(result), "NOT_FOUND");
  EXPECT_EQ(result.error->message, "no Makefile in " + (project_ / "sub/deep").string() + ", but " +
                                       project_.string() + " has one");
  EXPECT_EQ(result.error->ai_message, "Pass " + project_.string() + " as working_directory.");
  fs::remove(project_ / "Makefile");
  testing::WriteText(base_ / "Makefile", "");
  result = Call("make_targets", R"({"working_directory":"sub/deep"})");
  EXPECT_EQ(result.error->message, "no Makefile in " + (project_ / "sub/deep").string())
      << "above the root nobody may work";
}

TEST_F(MakeTest, NoTargetsSayWhy) {
  Write("Makefile", "a:\n\t@echo\n");
  const auto warnings = [&] { return Call("make_targets").warnings; };
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_TRUE(warnings()[0].starts_with("Makefile declares no target as .PHONY, "))
      << warnings()[0];
  Write("Makefile", ".PHONY: a.b\na.b:\n");
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_TRUE(warnings()[0].starts_with("all .PHONY targets are refused by name: "));
  Write("Makefile", ".PHONY: a\na:\n");
  EXPECT_TRUE(warnings().empty());
}

TEST_F(MakeTest, WhoReachesAboveTheWorkingDirectoryIsToldFromWhereToCall) {
  Write("src/x.c", "");
  Write("common.mk", "");
  Write(".git/HEAD", "ref: refs/heads/main\n");
  testing::WriteText(outside_ / "secret", "");
  const std::string makefile =
      ".PHONY: read cd git absolute missing outside fine\nread:\n\tcat ../src/x.c\n"
      "cd:\n\tcd ../src\ngit:\n\tgit describe\nabsolute:\n\tcat " +
      (project_ / "src/x.c").string() +
      "\nmissing:\n\tcat ../none\noutside:\n\tcat ../../outside/secret\nfine:\n\tcat none\n";
  Write("sub/Makefile", makefile);
  const auto advice = [&](const std::string& target) {
    const ToolResult result =
        Call("make", R"({"target":")" + target + R"(","working_directory":"sub"})");
    EXPECT_EQ(Code(result), "COMMAND_FAILED") << result.text;
    EXPECT_TRUE(result.text.contains(result.error->ai_message)) << result.text;
    return result.error->ai_message;
  };
  const std::string above =
      " lies above the working directory, and a command reaches nothing above "
      "it: call from " +
      project_.string() +
      " as working_directory, and go down from there (cd "
      "sub, make -C sub).";
  EXPECT_TRUE(advice("read").starts_with("../src/x.c" + above)) << advice("read");
  EXPECT_TRUE(advice("cd").starts_with("../src" + above)) << advice("cd");
  EXPECT_TRUE(advice("absolute").starts_with((project_ / "src/x.c").string() + above));
  EXPECT_TRUE(advice("git").starts_with("the git repository " + project_.string() + above))
      << advice("git");
  for (const char* target : {"missing", "outside", "fine"}) {
    EXPECT_FALSE(advice(target).contains("above the working directory")) << target;
  }
  Write("Makefile", makefile);
  Write("sub/Makefile", "include ../common.mk\n.PHONY: a\na:\n");
  const ToolResult listed = Call("make_targets", R"({"working_directory":"sub"})");
  EXPECT_EQ(Code(listed), "MAKEFILE_INVALID");
  EXPECT_TRUE(listed.error->ai_message.contains("../common.mk" + above)) << listed.text;
  Write("sub/Makefile", "include common.mk\n.PHONY: a\na:\n");
  const ToolResult its_own = Call("make_targets", R"({"working_directory":"sub"})");
  EXPECT_TRUE(its_own.error->ai_message.contains("Mend the Makefile")) << its_own.text;
}

TEST_F(MakeTest, AnIncludedFileThatMakeHasToMake) {
  const std::string rest =
      " config.mk\n.PHONY: show\nshow:\n\t@echo $(X)\nconfig.mk:\n\t@echo X=made > $@\n";
  Write("Makefile", "include" + rest);
  const ToolResult result = Call("make_targets");
  EXPECT_EQ(Code(result), "MAKEFILE_INVALID");
  EXPECT_TRUE(result.error->ai_message.contains(
      "Write `-include config.mk` in place of `include config.mk`"))
      << result.text;
  Write("Makefile", "-include" + rest);
  EXPECT_EQ(Targets(), (Names{"show"}));
  EXPECT_FALSE(fs::exists(project_ / "config.mk"));
  EXPECT_EQ(Data(Call("make", R"({"target":"show"})")).Find("stdout")->AsString(), "made\n")
      << "as the advice says";
}

TEST_F(MakeTest, OnlyTheWorkingDirectorysOwnMakefile) {
  Write("Makefile", ".PHONY: above\nabove:\n");
  Write("sub dir/makefile", ".PHONY: lower\nlower:\n\t@pwd\n");
  Write("sub dir/Makefile", ".PHONY: upper\nupper:\n");
  fs::create_directories(project_ / "empty");
  EXPECT_EQ(Targets(R"({"working_directory":"sub dir"})"), (Names{"lower"}));
  EXPECT_EQ(Code(Call("make_targets", R"({"working_directory":"empty"})")), "NOT_FOUND");
  EXPECT_EQ(Data(Call("make", R"({"target":"lower","working_directory":"sub dir"})"))
                .Find("stdout")
                ->AsString(),
            (project_ / "sub dir").string() + "\n");
}

TEST_F(MakeTest, ThePresentFileIsTheTruth) {
  WriteOld("Makefile", ".PHONY: a\na:\n\t@echo 1\n");
  EXPECT_EQ(Targets(), (Names{"a"}));
  EXPECT_EQ(Targets(), (Names{"a"}));
  EXPECT_EQ(changes_, 0);
  Write("Makefile", ".PHONY: b\nb:\n\t@echo 1\n");  // the same size
  EXPECT_EQ(Targets(), (Names{"b"}));
  EXPECT_EQ(changes_, 1);
  Write("makefile", ".PHONY: c\nc:\n");
  EXPECT_EQ(Targets(), (Names{"c"}));
  EXPECT_EQ(changes_, 2);
}

TEST_F(MakeTest, WhatLooksElsewhereIsAskedAgain) {
  WriteOld("Makefile", ".PHONY: a $(wildcard t*)\na:\n");
  EXPECT_EQ(Targets(), (Names{"a"}));
  Write("t1", "");
  EXPECT_EQ(Targets(), (Names{"a", "t1"}));
}

// make itself is gone, and the answer is still there: it was remembered.
TEST_F(MakeTest, WhatCannotHaveChangedIsNotAskedAgain) {
  WriteOld("Makefile", ".PHONY: a\na:\n\t@echo\n");
  fs::create_directories(base_ / "bin");
  testing::WriteText(base_ / "bin/make", "#!/bin/sh\n[ -e " + (project_ / "stop").string() +
                                             " ] && exit 2\nexec /usr/bin/make \"$@\"\n");
  fs::permissions(base_ / "bin/make", fs::perms::owner_all);
  policy_->filesystem.push_back({base_ / "bin", sandbox::kReadExecute, "test"});
  ambient_["PATH"] = (base_ / "bin").string() + ":/usr/bin:/bin";
  EXPECT_EQ(Targets(), (Names{"a"}));
  Write("stop", "");
  EXPECT_EQ(Targets(), (Names{"a"}));
  Write("Makefile", ".PHONY: b\nb:\n");
  EXPECT_EQ(Code(Call("make_targets")), "MAKEFILE_INVALID");
}

TEST_F(MakeTest, DryRunChangesNothing) {
  Write("Makefile", ".PHONY: t\nt:\n\ttouch made\n\t+@touch forced\n");
  const ToolResult result = Call("make", R"({"target":"t","dry_run":true})");
  const JsonValue data = Data(result);
  EXPECT_EQ(data.Find("argv")->Dump(), R"(["make","--","t"])");
  EXPECT_NE(data.Find("would_print")->AsString().find("touch made\n"), std::string::npos);
  const JsonValue* confinement = data.Find("confinement");
  ASSERT_NE(confinement, nullptr);
  EXPECT_EQ(confinement->Find("network")->AsString(), "none");
  EXPECT_FALSE(confinement->Find("enforcement")->Items().empty());
  bool writable = false;
  for (const JsonValue& path : confinement->Find("paths")->Items()) {
    if (path.Find("path")->AsString() != project_.string()) continue;
    writable = path.Find("access")->AsString() == "read, write, execute";
  }
  EXPECT_TRUE(writable);
  // Lines with + run even so, and could not write.
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(ParseJson(result.data)->Find("would_print")->AsString().find("touch: cannot touch"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(project_ / "made"));
  EXPECT_FALSE(fs::exists(project_ / "forced"));
}

TEST_F(MakeTest, TimeoutMayOnlyShorten) {
  Write("Makefile", ".PHONY: t\nt:\n\t@echo begun; touch written; sleep 60\n");
  const ToolResult result =
      testing::WithLongerDeadlines(project_ / "written", [&](std::chrono::milliseconds deadline) {
        const std::string milliseconds = std::to_string(deadline.count());
        return Call("make", R"({"target":"t","timeout_ms":)" + milliseconds + "}");
      });
  EXPECT_EQ(Code(result), "TIMED_OUT");
  EXPECT_EQ(ParseJson(result.data)->Find("stdout")->AsString(), "begun\n");
  EXPECT_EQ(ParseJson(result.data)->Find("outcome")->AsString(), "timed_out");
  policy_->limits.wall_time = std::chrono::milliseconds(500);
  EXPECT_EQ(Code(Call("make", R"({"target":"t","timeout_ms":60000})")), "TIMED_OUT");
}

TEST_F(MakeTest, ReadingHasADeadlineThatNoArgumentMoves) {
  Write("Makefile", "X := $(shell sleep 60)\n.PHONY: t\nt:\n");
  policy_->limits.wall_time = std::chrono::milliseconds(300);
  for (const std::string tool : {"make_targets", "make"}) {
    const ToolResult result =
        Call(tool, tool == "make" ? R"({"target":"t","timeout_ms":60000})" : "{}");
    ASSERT_EQ(Code(result), "TIMED_OUT");
    EXPECT_TRUE(result.error->message.starts_with("reading Makefile timed out after"));
    EXPECT_EQ(result.error->ai_message.find("timeout_ms"), std::string::npos);
    EXPECT_NE(result.error->ai_message.find("$(shell)"), std::string::npos);
  }
}

TEST_F(MakeTest, ARefusedCallRunsNothing) {
  Write("Makefile", "X := $(shell touch $$HOME/ran; echo)\n.PHONY: t\nt:\n");
  policy_->enable_all = false;
  EXPECT_EQ(Code(Call("make", R"({"target":"t"})")), "TOOL_DISABLED");
  policy_->enabled_tools = {"make"};
  policy_->permissions.push_back({.tool = "make", .target = "t", .reason = "not now"});
  const ToolResult denied = Call("make", R"({"target":"t"})");
  EXPECT_EQ(Code(denied), "POLICY_DENIED");
  EXPECT_NE(denied.error->message.find("not now"), std::string::npos);
  EXPECT_EQ(store_->List().size(), 0u);
}

TEST_F(MakeTest, NoMakeOnThePath) {
  Write("Makefile", ".PHONY: t\nt:\n");
  ambient_["PATH"] = "/nonexistent:" + project_.string();
  Write("make", "#!/bin/sh\n");
  fs::permissions(project_ / "make", fs::perms::owner_all);
  EXPECT_EQ(Code(Call("make", R"({"target":"t"})")), "TOOL_NOT_FOUND");
  EXPECT_EQ(Code(Call("make_targets")), "TOOL_NOT_FOUND");
}

TEST_F(MakeTest, MakeflagsOfOursAreNotMakes) {
  ambient_["MAKEFLAGS"] = "--eval=.PHONY:evil";
  ambient_["MAKEFILES"] = "other.mk";
  policy_->environment_pass = {"MAKEFLAGS", "MAKEFILES"};
  Write("other.mk", ".PHONY: evil\nevil:\n");
  Write("Makefile", ".PHONY: t\nt:\n");
  EXPECT_EQ(Targets(), (Names{"t"}));
}

TEST_F(MakeTest, WorkingDirectoryErrors) {
  EXPECT_EQ(Code(Call("make_targets", R"({"working_directory":"/etc"})")), "INVALID_DIRECTORY");
  EXPECT_EQ(Code(Call("make_targets", R"({"working_directory":"../outside"})")),
            "INVALID_DIRECTORY");
}

TEST_F(MakeTest, GeneratesAMakefileThatMakeCanLoad) {
  Write("Cargo.toml", "");
  const JsonValue data = Data(Call("makefile_generate"));
  EXPECT_EQ(data.Find("language")->AsString(), "rust");
  EXPECT_EQ(Read("Makefile"), data.Find("content")->AsString());
  EXPECT_EQ(Targets(), (Names{"default", "fix", "format", "lint", "test", "build"}));
  EXPECT_EQ(Data(Call("make", R"({"target":"default"})")).Find("stdout")->AsString(),
            "No default action\n");
}

TEST_F(MakeTest, GenerateNeverOverwrites) {
  for (const char* name : {"GNUmakefile", "makefile", "Makefile"}) {
    Write(name, "mine\n");
    const ToolResult result = Call("makefile_generate", R"({"language":"go"})");
    EXPECT_EQ(Code(result), "MAKEFILE_INVALID") << name;
    EXPECT_EQ(Read(name), "mine\n");
    fs::remove(project_ / name);
    EXPECT_TRUE(fs::is_empty(project_));
  }
  fs::create_symlink(outside_ / "planted", project_ / "Makefile");
  EXPECT_EQ(Code(Call("makefile_generate", R"({"language":"go"})")), "MAKEFILE_INVALID");
  EXPECT_FALSE(fs::exists(outside_ / "planted"));
}

TEST_F(MakeTest, GenerateAsksWhenItCannotTell) {
  const ToolResult unknown = Call("makefile_generate");
  EXPECT_EQ(Code(unknown), "INVALID_ARGUMENT");
  EXPECT_NE(unknown.error->ai_message.find("Write a Makefile yourself"), std::string::npos);
  Write("go.mod", "");
  Write("package.json", "{}");
  const ToolResult ambiguous = Call("makefile_generate");
  EXPECT_EQ(Code(ambiguous), "INVALID_ARGUMENT");
  EXPECT_NE(ambiguous.error->message.find("go.mod, package.json"), std::string::npos);
  EXPECT_FALSE(fs::exists(project_ / "Makefile"));
}

TEST_F(MakeTest, GenerateDryRun) {
  const JsonValue data = Data(Call("makefile_generate", R"({"language":"python","dry_run":true})"));
  EXPECT_NE(data.Find("would_print")->AsString().find("\truff check --fix .\n"), std::string::npos);
  EXPECT_NE(data.Find("confinement"), nullptr);
  EXPECT_TRUE(fs::is_empty(project_));
}

TEST_F(MakeTest, ProjectActionsDoesTheSame) {
  Write("package.json", "{}");
  Data(Call("project_actions", R"({"operation":"generate"})"));
  EXPECT_EQ(Data(Call("project_actions", R"({"operation":"default"})")).Find("stdout")->AsString(),
            "No default action\n");
  EXPECT_EQ(Code(Call("project_actions", R"({"operation":"missing"})")), "INVALID_TARGET");
  for (const char* misfit : {R"({"operation":"add"})", R"({"operation":"commit"})",
                             R"({"operation":"default","paths":["a"]})",
                             R"({"operation":"add","paths":["a"],"message":"m"})",
                             R"({"operation":"generate","message":"m"})",
                             R"({"operation":"commit","message":"m","language":"go"})"}) {
    EXPECT_EQ(Code(Call("project_actions", misfit)), "INVALID_ARGUMENT") << misfit;
  }
}

// Behind the back of every stamp: the second write to a mapped page moves no time, unless it was
// written back in between.
TEST_F(MakeTest, AMakefileThatIsWrittenThroughAMappingIsSeenAsItIs) {
  Write("Makefile", ".PHONY: one two\none:\ntwo:\n");
  const UniqueFd file(open((project_ / "Makefile").c_str(), O_RDWR | O_CLOEXEC));
  constexpr std::size_t kBytes = 4096;
  auto* text =
      static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  ASSERT_NE(text, MAP_FAILED);
  bool unmoved = false;
  for (int i = 0; i < 20 && !unmoved; ++i) {
    text[8] = 'O';  // .PHONY: One
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_NE(Call("make_targets", "{}").data.find("\"One\""), std::string::npos);
    struct stat before{};
    fstat(file.get(), &before);
    text[8] = 'o';
    struct stat after{};
    fstat(file.get(), &after);
    unmoved = before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
              before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
    EXPECT_NE(Call("make_targets", "{}").data.find("\"one\""), std::string::npos);
  }
  EXPECT_TRUE(unmoved) << "then this proves nothing";
  munmap(text, kBytes);
}

// Writes through a mapping, so that the file is another one and its stamp the same.
class MappedText {
 public:
  explicit MappedText(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDWR | O_CLOEXEC)),
        text_(static_cast<char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0))) {
    EXPECT_NE(text_, MAP_FAILED);
    text_[0] = text_[0];  // this moves the time once
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ~MappedText() { munmap(text_, kBytes); }
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;

  // False if its time has moved: the page was written back in between.
  bool Replace(std::size_t at, std::string_view by) {
    const timespec before = Modified();
    by.copy(text_ + at, by.size());
    const timespec after = Modified();
    return before.tv_sec == after.tv_sec && before.tv_nsec == after.tv_nsec;
  }

 private:
  static constexpr std::size_t kBytes = 4096;

  timespec Modified() const {
    struct stat status{};
    fstat(file_.get(), &status);
    return status.st_mtim;
  }

  UniqueFd file_;
  char* text_;
};

// The worker compares the text that the list of targets is of, so nothing runs that there is no
// target for, and nothing is refused that there is one for.
TEST_F(MakeTest, ATargetOfAnotherTextThanTheOneThatWasReadIsLookedForAgain) {
  const std::string text = ".PHONY: one two\none:\n\techo first > out\ntwo:\n";
  const std::size_t recipe = text.find("first");
  bool unmoved = false;
  for (int i = 0; i < 20 && !unmoved; ++i) {
    Write("Makefile", text);
    MappedText mapped(project_ / "Makefile");
    EXPECT_EQ(Call("make", R"({"target":"one"})").error, std::nullopt);
    EXPECT_EQ(testing::ReadText(project_ / "out"), "first\n");

    unmoved = mapped.Replace(recipe, "other");
    EXPECT_EQ(Call("make", R"({"target":"one"})").error, std::nullopt);
    EXPECT_EQ(testing::ReadText(project_ / "out"), "other\n");

    unmoved = mapped.Replace(8, "ONE") && unmoved;
    const ToolResult gone = Call("make", R"({"target":"one"})");
    ASSERT_TRUE(gone.error);
    EXPECT_EQ(gone.error->code, ErrorCode::kInvalidTarget);
    EXPECT_EQ(Call("make", R"({"target":"ONE"})").error, std::nullopt) << "there is nothing to do";
  }
  EXPECT_TRUE(unmoved) << "then this proves nothing";
}

}  // namespace
}  // namespace pa
