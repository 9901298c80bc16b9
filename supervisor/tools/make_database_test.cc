#include "supervisor/tools/make_database.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using Names = std::vector<std::string>;

MakeDatabase Read(std::string_view text, std::size_t chunk = 4096) {
  MakeDatabase database;
  while (!text.empty()) {
    database.Feed(text.substr(0, chunk));
    text.remove_prefix(std::min(chunk, text.size()));
  }
  database.Finish();
  return database;
}

std::string Entry(const std::string& line) {
  return "\n" + line + "\n#  Phony target (prerequisite of .PHONY).\n#  File does not exist.\n";
}

TEST(MakeDatabaseTest, TargetsInTheirOrder) {
  const MakeDatabase database =
      Read(Entry("test: build") + Entry("build:") + Entry("all:") + "\n.PHONY: build all test\n");
  EXPECT_EQ(database.Phony().offered, (Names{"build", "all", "test"}));
  EXPECT_TRUE(database.Phony().refused.empty());
  EXPECT_FALSE(database.too_large());
}

TEST(MakeDatabaseTest, AnyChunksGiveTheSame) {
  const std::string text =
      Entry("a:") + Entry("b::") + "MAKEFILE_LIST := Makefile /tmp/x\n.PHONY: a b";
  for (std::size_t chunk = 1; chunk < 20; ++chunk) {
    const MakeDatabase database = Read(text, chunk);
    EXPECT_EQ(database.Phony().offered, (Names{"a", "b"}));
    EXPECT_EQ(database.Makefiles(), (Names{"Makefile", "/tmp/x"}));
  }
}

TEST(MakeDatabaseTest, TheLastPhonyLineCounts) {
  const MakeDatabase database =
      Read(".PHONY: forged\n" + Entry("real:") + Entry("forged:") + ".PHONY: real\n");
  EXPECT_EQ(database.Phony().offered, (Names{"real"}));
}

TEST(MakeDatabaseTest, NoPhonyLineNoTargets) {
  EXPECT_TRUE(Read("all:\n\techo\n").Phony().offered.empty());
}

// make writes `.PHONY: a b` for one target `a b`; its own entry tells.
TEST(MakeDatabaseTest, NameWithABlankIsOneRefusedName) {
  const MakeDatabase database = Read(Entry("a b: x") + Entry("b:") + ".PHONY: b a b\n");
  EXPECT_EQ(database.Phony().offered, (Names{"b"}));
  EXPECT_EQ(database.Phony().refused, (Names{"a b"}));
}

TEST(MakeDatabaseTest, RefusedNamesSpoilNothing) {
  const MakeDatabase database =
      Read(Entry("x$y:") + Entry("a:b: c") + Entry("ok-1_A:") + Entry("sub/dir:") + Entry("-n:") +
           ".PHONY: x$y a:b ok-1_A sub/dir -n | -n\n");
  EXPECT_EQ(database.Phony().offered, (Names{"ok-1_A", "-n"}));
  EXPECT_EQ(database.Phony().refused, (Names{"x$y", "a:b", "sub/dir"}));
}

TEST(MakeDatabaseTest, EndlessLinesAreBounded) {
  MakeDatabase database;
  const std::string junk(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) database.Feed(junk);
  database.Feed("\n" + Entry("a:") + ".PHONY: a\n");
  database.Finish();
  EXPECT_EQ(database.Phony().offered, (Names{"a"}));
  EXPECT_FALSE(database.too_large());
}

TEST(MakeDatabaseTest, APhonyLineBeyondTheLimitIsSaidToBe) {
  EXPECT_TRUE(Read(".PHONY: " + std::string(MakeDatabase::kMaxLine, 'x') + "\n").too_large());
}

TEST(MakeDatabaseTest, OfferedNames) {
  EXPECT_TRUE(IsOfferedTargetName("a-Z_09"));
  for (const char* name : {"", "a b", "a=b", "a.b", "a/b", "a%", "\xc3\xa4", "a\n"}) {
    EXPECT_FALSE(IsOfferedTargetName(name)) << name;
  }
}

// $(info) prints before the database: a Makefile without a .PHONY line could bring its own.
TEST(MakeDatabaseTest, WhatTheMakefilePrintedIsNoPartOfTheDatabase) {
  MakeDatabase database;
  database.Feed(
      ".PHONY: faked\nfaked:\n#  Phony target (prerequisite of .PHONY).\n"
      "MAKEFILE_LIST := faked.mk\n"
      "# Make data base, printed on Sat Nov 21 20:00:00 2026\n"
      "MAKEFILE_LIST := Makefile -\nfaked:\n");
  database.Finish();
  EXPECT_TRUE(database.Phony().offered.empty());
  EXPECT_EQ(database.Makefiles(), (std::vector<std::string>{"Makefile", "-"}));
}

}  // namespace
}  // namespace pa
