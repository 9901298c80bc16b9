#include "supervisor/tools/makefile_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "tests/support/await.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class MakefileTextTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.path() / name) << text;
  }
  std::string Found() {
    const auto file = FindMakefile(fd_.get());
    return file ? file->name : "";
  }

  Result<std::string> TextOf(const MakefileOnDisk& file) {
    return testing::Await(loop_, ReadMakefile(janitor_, {dir_.path(), fd_.get()}, file));
  }

  testing::OwnLoop own_;
  uv_loop_t& loop_ = own_.loop;
  testing::ThreadJanitor janitor_{&loop_};
  testing::TempDir dir_;
  const UniqueFd fd_{open(dir_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(MakefileTextTest, FoundInMakesOrder) {
  EXPECT_EQ(Found(), "");
  Write("Makefile", "");
  EXPECT_EQ(Found(), "Makefile");
  Write("makefile", "");
  EXPECT_EQ(Found(), "makefile");
  Write("GNUmakefile", "");
  EXPECT_EQ(Found(), "GNUmakefile");
}

TEST_F(MakefileTextTest, ReadsRegularFilesOnly) {
  Write("other", "text");
  fs::create_symlink("other", dir_.path() / "Makefile");
  auto file = FindMakefile(fd_.get());
  ASSERT_TRUE(file.has_value());
  EXPECT_FALSE(file->regular);
  EXPECT_FALSE(TextOf(*file).has_value());
  fs::remove(dir_.path() / "Makefile");
  ASSERT_EQ(mkfifo((dir_.path() / "Makefile").c_str(), 0600), 0);
  EXPECT_FALSE(TextOf(*FindMakefile(fd_.get())).has_value());
  fs::remove(dir_.path() / "Makefile");
  Write("Makefile", "all:\n");
  EXPECT_EQ(TextOf(*FindMakefile(fd_.get())).value(), "all:\n");
}

TEST_F(MakefileTextTest, StampChangesWithTheFile) {
  Write("Makefile", "a");
  const auto before = StampOf(fd_.get(), "Makefile");
  EXPECT_EQ(before, StampOf(fd_.get(), "Makefile"));
  Write("Makefile", "ab");
  EXPECT_NE(before, StampOf(fd_.get(), "Makefile"));
  EXPECT_FALSE(StampOf(fd_.get(), "missing").has_value());
}

std::string Description(const std::string& text, const std::string& target = "test") {
  const auto all = TargetDescriptions(text);
  const auto found = all.find(target);
  return found == all.end() ? "" : found->second;
}

TEST(TargetDescriptionsTest, BehindTheRule) {
  EXPECT_EQ(Description("test: build ## Run the tests\n\techo\n"), "Run the tests");
  EXPECT_EQ(Description("test: $(OBJS:.c=.o) ## Run: all = fine\n"), "Run: all = fine");
  EXPECT_EQ(Description("build test:: ## Both\n"), "Both");
  EXPECT_EQ(Description("test: a \\\n  b ## Run the tests\n"), "Run the tests");
}

TEST(TargetDescriptionsTest, BehindOneOfSeveralKindsOfRules) {
  EXPECT_EQ(Description("test: ##Run\n"), "Run");
  EXPECT_EQ(Description("test: ##\tRun\n"), "Run");
  EXPECT_EQ(Description("test other &: ## Both\n"), "Both");
}

TEST(TargetDescriptionsTest, NotFromWhatIsNoRule) {
  EXPECT_EQ(Description("test: ; @echo \"## not\"\n"), "");
  EXPECT_EQ(Description("define text\ntest: ## from a variable\nendef\ntest: ## real\n"), "real");
}

TEST(TargetDescriptionsTest, CommentRightAbove) {
  EXPECT_EQ(Description("# Run the tests\ntest:\n"), "Run the tests");
  EXPECT_EQ(Description("## Run the tests\n.PHONY: test\ntest:\n"), "Run the tests");
  EXPECT_EQ(Description("# Run the tests,\n# all of them\ntest:\n"), "Run the tests, all of them");
  EXPECT_EQ(Description("# ---- Tests ----\n# Run them\ntest:\n"), "Run them");
}

TEST(TargetDescriptionsTest, NoneOfTheRest) {
  EXPECT_EQ(Description("# Run the tests\n\ntest:\n"), "");
  EXPECT_EQ(Description("########\ntest:\n"), "");
  EXPECT_EQ(Description("#\ntest:\n"), "");
  EXPECT_EQ(Description("\t# in a recipe\ntest:\n"), "");
  EXPECT_EQ(Description("test := ## no rule\n"), "");
  EXPECT_EQ(Description("other: ## of another\ntest:\n"), "");
}

TEST(TargetDescriptionsTest, BehindTheRuleIsStronger) {
  EXPECT_EQ(Description("# above\ntest: ## behind\n"), "behind");
}

TEST(TargetDescriptionsTest, OneShortLineOfUtf8) {
  const std::string text = Description("test: ## a\x1b[31m\xff" + std::string(1000, 'x') + "\n");
  EXPECT_TRUE(text.starts_with("a?[31m\xEF\xBF\xBD"));
  EXPECT_LT(text.size(), 210u);
}

TEST(DependsOnTextAloneTest, OrdinaryMakefiles) {
  EXPECT_TRUE(DependsOnTextAlone(""));
  EXPECT_TRUE(DependsOnTextAlone(
      "CC ?= cc\nOBJS := a.o b.o\n.PHONY: all test\n# a *comment*, $(shell x)\nall: $(OBJS:.o=.c)\n"
      "\t$(shell date) rm -f *.o\n\n\t@echo ~ [x] \\\n  include y\ntest: all ## Run *all* tests\n"
      "\tgrep x $(MAKEFILE_LIST)\nifeq ($(CC),cc)\nX = 1\nendif\n"));
}

TEST(DependsOnTextAloneTest, WhatLooksElsewhere) {
  for (const char* line : {"X := $(shell ls)",
                           "X != ls",
                           "X := ${shell ls}",
                           "X := $(wildcard x)",
                           "$(eval $(X))",
                           "$(eval X)",
                           "X := $(call f,a)",
                           "X := $(file <y)",
                           "X := $(realpath x)",
                           "X := $(guile 1)",
                           "include x",
                           "-include x",
                           "  sinclude x",
                           "load x.so",
                           "-load x.so",
                           "define X",
                           "override define X",
                           "X := $(shell\tls)",
                           "X := $(shell \\\n ls)",
                           ".PHONY: test-*",
                           ".PHONY: test-?",
                           ".PHONY: test[12]",
                           ".PHONY: ~/x",
                           ".RECIPEPREFIX = >",
                           ".SECONDEXPANSION:",
                           "MAKEFLAGS += --eval=x",
                           ".PHONY: $(MAKEFILE_LIST)",
                           ".PHONY: $(notdir $(TMPDIR))",
                           "X := $(foreach v,$(.VARIABLES),$($v))",
                           "%: x",
                           "X = 1\r"}) {
    EXPECT_FALSE(DependsOnTextAlone(std::string("a:\n\techo\n") + line + "\n")) << line;
  }
}

// A line with a tab is a recipe only where make takes it for one.
TEST(DependsOnTextAloneTest, RecipesAreOnlyWhatFollowsARule) {
  EXPECT_TRUE(DependsOnTextAlone("a: b\n\techo *\n"));
  EXPECT_FALSE(DependsOnTextAlone("\t.PHONY: *\n"));
  EXPECT_FALSE(DependsOnTextAlone("X = 1\n\t.PHONY: *\n"));
  EXPECT_FALSE(DependsOnTextAlone("a: X = 1\n\t.PHONY: *\n"));
  EXPECT_FALSE(DependsOnTextAlone("$(X):\n\t.PHONY: *\n"));
  EXPECT_FALSE(DependsOnTextAlone("vpath %.c a:b\n\t.PHONY: *\n"));
  EXPECT_FALSE(DependsOnTextAlone("ifdef X\na:\nendif\n\t.PHONY: *\n"));
  EXPECT_FALSE(DependsOnTextAlone("a: b\n\techo \\\\\ninclude x\n"));
}

TEST(DependsOnTextAloneTest, AHashBehindAnExpansionHidesNothing) {
  EXPECT_FALSE(DependsOnTextAlone(".PHONY: $(subst x,#,a) *\n"));
  EXPECT_FALSE(DependsOnTextAlone(".PHONY: a\\# *\n"));
}

}  // namespace
}  // namespace pa
