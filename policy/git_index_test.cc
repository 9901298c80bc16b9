// Held against git itself, in each format that it writes.
#include "policy/git_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {
namespace {

namespace fs = std::filesystem;
using Links = std::vector<std::string>;

class GitIndexTest : public ::testing::Test {
 protected:
  bool Git(std::vector<std::string> arguments) {
    std::vector<std::string> command = {"git"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return pa::testing::RunProgram({.command = std::move(command),
                                    .environment = {"HOME=/nonexistent"},
                                    .directory = root_})
               .exit_code == 0;
  }
  // Files with names of many lengths, and two gitlinks among them.
  void Fill(const std::string& format, const std::string& version) {
    ASSERT_TRUE(Git({"init", "-q", "--object-format=" + format}));
    const std::string oid(format == "sha1" ? 40 : 64, '1');
    for (std::size_t i = 1; i < 40; ++i)
      pa::testing::WriteText(root_ / ("d/" + std::string(i, 'x')), "x");
    for (const std::string& link : links_) {
      ASSERT_TRUE(Git({"update-index", "--add", "--cacheinfo", "160000," + oid + "," + link}));
    }
    ASSERT_TRUE(Git({"add", "d"}));
    ASSERT_TRUE(Git({"update-index", "--index-version=" + version}));
  }
  std::string Bytes(const std::string& name = "index") {
    return pa::testing::ReadText(root_ / ".git" / name);
  }
  // With its shared half.
  GitIndex Read() {
    std::expected<GitIndex, std::string> index = ReadGitIndex(Bytes());
    EXPECT_TRUE(index.has_value()) << index.error();
    if (!index) return {};
    if (!index->shared.empty()) {
      const auto rest = ReadGitIndex(Bytes(index->shared), index->replaced);
      EXPECT_TRUE(rest.has_value()) << rest.error();
      if (rest) index->links.insert(index->links.end(), rest->links.begin(), rest->links.end());
    }
    std::ranges::sort(index->links);
    const auto again = std::ranges::unique(index->links);
    index->links.erase(again.begin(), again.end());
    return std::move(*index);
  }
  // What git says has that mode.
  Links OfMode(const std::string& mode) {
    const auto listed = pa::testing::RunProgram({.command = {"git", "ls-files", "-s", "--sparse"},
                                                 .environment = {"HOME=/nonexistent"},
                                                 .directory = root_});
    EXPECT_EQ(listed.exit_code, 0) << listed.errors;
    Links links;
    std::istringstream lines(listed.output);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(mode)) links.push_back(line.substr(line.find('\t') + 1));
    }
    std::ranges::sort(links);
    return links;
  }
  std::string Oid(const std::string& format, char digit) {
    return std::string(format == "sha1" ? 40 : 64, digit);
  }
  bool Link(const std::string& format, char digit, const std::string& path) {
    return Git({"update-index", "--add", "--replace", "--cacheinfo",
                "160000," + Oid(format, digit) + "," + path});
  }

  pa::testing::TempDir dir_;
  const fs::path root_ = dir_.path();
  const Links links_ = {"a", "e/xxxxsub", "lib/deep/er", "z z"};
};

TEST_F(GitIndexTest, InEachFormat) {
  for (const char* format : {"sha1", "sha256"}) {
    for (const char* version : {"2", "3", "4"}) {
      fs::remove_all(root_ / ".git");
      Fill(format, version);
      EXPECT_EQ(Read().links, links_) << format << version;
      EXPECT_EQ(Read().shared, "");
    }
  }
}

TEST_F(GitIndexTest, WithFlagsOfEntries) {
  Fill("sha1", "2");
  pa::testing::WriteText(root_ / "later", "x");
  ASSERT_TRUE(Git({"add", "--intent-to-add", "later"}));
  ASSERT_TRUE(Git({"update-index", "--skip-worktree", "d/x", "lib/deep/er"}));
  EXPECT_EQ(Read().links, links_);
}

TEST_F(GitIndexTest, ASplitOneNamesTheOther) {
  Fill("sha1", "2");
  ASSERT_TRUE(Git({"update-index", "--split-index"}));
  const GitIndex index = Read();
  ASSERT_TRUE(fs::exists(root_ / ".git" / index.shared)) << index.shared;
  EXPECT_EQ(ReadGitIndex(Bytes(index.shared))->links, links_);
}

// Whatever git reads, we read: each format after many changes, against what `git ls-files -s` says.
TEST_F(GitIndexTest, AsGitListsIt) {
  std::mt19937 random(7);
  for (const char* format : {"sha1", "sha256"}) {
    for (const char* version : {"2", "3", "4"}) {
      for (const bool split : {false, true}) {
        fs::remove_all(root_ / ".git");
        Fill(format, version);
        if (split) {
          ASSERT_TRUE(Git({"update-index", "--split-index"}));
        }
        for (int i = 0; i < 12; ++i) {
          const std::string path = "d/" + std::string(1 + random() % 30, 'x');
          const bool done = random() % 3 == 0 ? Git({"update-index", "--force-remove", path})
                                              : Link(format, "123456789"[random() % 9], path);
          EXPECT_TRUE(done);
          EXPECT_EQ(Read().links, OfMode("160000")) << format << version << split << path;
          EXPECT_EQ(Read().shared.empty(), !split);
        }
      }
    }
  }
}

// A file of the shared half that is a gitlink now: its entry has no name of its own.
TEST_F(GitIndexTest, AReplacedEntryIsFoundByItsNumber) {
  Fill("sha1", "2");
  ASSERT_TRUE(Git({"update-index", "--split-index"}));
  ASSERT_TRUE(Git({"config", "splitIndex.maxPercentChange", "100"}));
  ASSERT_TRUE(Link("sha1", '2', "a"));
  ASSERT_TRUE(Link("sha1", '2', "z z"));
  const auto index = ReadGitIndex(Bytes());
  ASSERT_TRUE(index.has_value()) << index.error();
  EXPECT_EQ(index->replaced.size(), 2u);
  EXPECT_EQ(ReadGitIndex(Bytes(index->shared), index->replaced)->links, links_);
  const std::uint32_t third[] = {2};
  EXPECT_EQ(ReadGitIndex(Bytes(index->shared), third)->links.size(), links_.size() + 1);
}

TEST_F(GitIndexTest, ASparseOneSaysWhatItFolds) {
  Fill("sha1", "2");
  ASSERT_TRUE(Git({"-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"}));
  ASSERT_TRUE(Git({"sparse-checkout", "set", "--cone", "--sparse-index", "e"}));
  EXPECT_EQ(Read().folded, OfMode("040000"));
  EXPECT_FALSE(Read().folded.empty());
  EXPECT_EQ(Read().links, OfMode("160000"));
}

TEST_F(GitIndexTest, InWhichDirectoriesItsFilesAre) {
  const std::vector<std::string> all = {"", "d", "e", "lib", "lib/deep"};
  for (const char* format : {"sha1", "sha256"}) {
    for (const char* version : {"2", "3", "4"}) {
      fs::remove_all(root_ / ".git");
      Fill(format, version);
      EXPECT_EQ(ReadIndexDirectories(Bytes(), all.size()).value(), all) << format << version;
      EXPECT_FALSE(ReadIndexDirectories(Bytes(), all.size() - 1)) << format << version;
    }
  }
  EXPECT_FALSE(ReadIndexDirectories(Bytes(), 0));
  EXPECT_FALSE(ReadIndexDirectories(Bytes().substr(0, 200), all.size()));
  ASSERT_TRUE(Git({"update-index", "--split-index"}));
  EXPECT_FALSE(ReadIndexDirectories(Bytes(), all.size())) << "the rest lies elsewhere";
}

TEST_F(GitIndexTest, MoreLinksThanAnybodyHasAreAnError) {
  Fill("sha1", "4");
  std::string bytes = Bytes();
  const auto with = [&](std::size_t links) {
    std::string index("DIRC\0\0\0\2", 8);
    for (const int shift : {24, 16, 8, 0}) index += static_cast<char>(links >> shift);
    for (std::size_t i = 0; i < links; ++i) {
      std::string entry(24, '\0');
      entry += std::string("\0\0\xe0\0", 4) + std::string(12 + 20, '\0');
      const std::string name = std::to_string(1000000 + i);
      entry += std::string("\0\7", 2) + name;
      entry.resize((entry.size() + 8) & ~std::size_t{7});
      index += entry;
    }
    return index + std::string(20, '\0');
  };
  EXPECT_EQ(ReadGitIndex(with(kMaxGitLinks))->links.size(), kMaxGitLinks);
  EXPECT_TRUE(ReadGitIndex(with(kMaxGitLinks + 1)).error().contains("more than"));
  pa::testing::WriteText(root_ / ".git/index", with(3));
  EXPECT_EQ(Read().links, OfMode("160000"));
}

// Bytes that git reads otherwise than one who looks for the end of the name, or only in order.
TEST_F(GitIndexTest, WhatGitWouldReadOtherwiseIsAnError) {
  Fill("sha1", "2");
  std::string bytes = Bytes();
  const std::size_t flags = 12 + 60;
  ASSERT_EQ(bytes[flags + 1], 1);  // the entry `a`
  const auto error = [](std::string changed) {
    const auto read = ReadGitIndex(changed);
    return read ? std::string() : read.error();
  };
  std::string longer = bytes;
  longer[flags + 1] = 2;
  EXPECT_TRUE(error(longer).contains("length")) << error(longer);
  std::string flagged = bytes;
  flagged[flags] = 0x40;
  EXPECT_TRUE(error(flagged).contains("flags")) << error(flagged);
  std::string outside = bytes;
  const std::size_t sub = outside.find("lib/deep/er");
  outside.replace(sub, 6, "../../");
  EXPECT_TRUE(error(outside).contains("outside")) << error(outside);
  const std::string body = bytes.substr(0, bytes.size() - 20);
  const std::string sum(20, '\0');
  EXPECT_EQ(error(body + std::string("ABCD\0\0\0\0", 8) + sum), "");
  for (const std::string& extension :
       {std::string("abcd\0\0\0\0", 8), std::string("ABCD\0\0\0\1", 8),
        std::string("EOIE\0\0\0\4\0\0\0\14", 12),
        std::string("IEOT\0\0\0\14\0\0\0\1\0\0\0\15\0\0\0\53", 20),
        std::string("link\0\0\0\4\0\0\0\0", 12)}) {
    EXPECT_NE(error(body + extension + sum), "") << extension;
  }
}

TEST_F(GitIndexTest, NothingWithoutGitlinks) {
  ASSERT_TRUE(Git({"init", "-q"}));
  pa::testing::WriteText(root_ / "x", "");
  ASSERT_TRUE(Git({"add", "x"}));
  EXPECT_TRUE(Read().links.empty());
  EXPECT_FALSE(ReadGitIndex("").has_value());
  EXPECT_FALSE(ReadGitIndex("DIRC").has_value());
}

TEST_F(GitIndexTest, HostileOnesEnd) {
  for (const char* version : {"2", "4"}) {
    fs::remove_all(root_ / ".git");
    Fill("sha1", version);
    const std::string bytes = pa::testing::ReadText(root_ / ".git/index");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      (void)ReadGitIndex(bytes.substr(0, size));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
      std::string broken = bytes;
      for (int j = 0; j < 3; ++j) broken[random() % 400] = static_cast<char>(random());
      const GitIndex index = ReadGitIndex(broken).value_or(GitIndex{});
      for (const std::string& link : index.links) {
        EXPECT_FALSE(link.empty() || link.starts_with('/') || ("/" + link + "/").contains("/../"));
      }
    }
  }
}

}  // namespace
}  // namespace pa::policy
