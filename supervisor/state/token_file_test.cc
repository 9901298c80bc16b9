#include "supervisor/state/token_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

constexpr TokenTime kNow{std::chrono::seconds(1'800'000'000)};
constexpr std::chrono::hours kDay{24};

TEST(Tokens, EachIsAnother) {
  const NewToken one = MakeToken("one", kNow, std::nullopt);
  const NewToken two = MakeToken("one", kNow, std::nullopt);
  EXPECT_EQ(one.text.size(), 3u + 64u);
  EXPECT_TRUE(one.text.starts_with(kTokenPrefix));
  EXPECT_NE(one.text, two.text);
  EXPECT_EQ(one.token.sha256, Sha256Of(one.text));
}

TEST(Tokens, Names) {
  for (const char* name : {"a", "laptop", "ci-2026.11_x", "A9"}) EXPECT_TRUE(IsTokenName(name));
  EXPECT_TRUE(IsTokenName(std::string(64, 'a')));
  for (const char* name : {"", "a b", "a/b", "\xc3\xa9", "a\n", "a:b"}) {
    EXPECT_FALSE(IsTokenName(name)) << name;
  }
  EXPECT_FALSE(IsTokenName(std::string(65, 'a')));
}

TEST(Tokens, WrittenAndReadTheyAreTheSame) {
  const std::vector<Token> tokens = {MakeToken("a", kNow, std::nullopt).token,
                                     MakeToken("b", kNow, kNow + kDay).token};
  const std::string text = FormatTokens(tokens);
  const Result<std::vector<Token>> read = ParseTokens(text, "f");
  ASSERT_TRUE(read) << read.error().Message();
  EXPECT_EQ(*read, tokens);
  EXPECT_EQ(ParseTokens("", "f")->size(), 0u);
}

// Nothing of a file is believed that is not understood as a whole.
TEST(Tokens, ABrokenFileIsAnError) {
  const std::string hash(64, 'a');
  const auto with = [&](const std::string& entry) {
    return R"({"version":1,"tokens":[)" + entry + "]}";
  };
  const std::string good = R"({"name":"a","sha256":")" + hash + R"(","created":1})";
  ASSERT_TRUE(ParseTokens(with(good), "f"));
  const std::vector<std::string> broken = {
      "x",
      "[]",
      "{}",
      R"({"version":2,"tokens":[]})",
      R"({"version":1})",
      R"({"version":1,"tokens":{}})",
      R"({"version":1,"tokens":[],"more":1})",
      with(good + "," + good),
      with("7"),
      with(R"({"name":"a b","sha256":")" + hash + R"(","created":1})"),
      with(R"({"name":"a","sha256":"abc","created":1})"),
      with(R"({"name":"a","sha256":")" + hash + R"("})"),
      with(R"({"name":"a","sha256":")" + hash + R"(","created":1,"expires":"soon"})"),
      with(R"({"name":"a","sha256":")" + hash + R"(","created":1,"only":"read"})")};
  for (const std::string& text : broken) {
    EXPECT_FALSE(ParseTokens(text, "f")) << text;
  }
}

class TokenFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) {
    const std::string beside = path_ + ".new";
    std::ofstream(beside) << text;
    chmod(beside.c_str(), 0600);
    std::filesystem::rename(beside, path_);
  }

  testing::TempDir directory_;
  std::string path_ = (directory_.path() / "tokens.json").string();
  TokenFile file_{path_};
};

TEST_F(TokenFileTest, WhoHasOneIsKnownUntilItExpires) {
  const NewToken forever = MakeToken("forever", kNow, std::nullopt);
  const NewToken day = MakeToken("day", kNow, kNow + kDay);
  Write(FormatTokens({forever.token, day.token}));
  EXPECT_EQ(*file_.Find(Sha256Of(forever.text), kNow), forever.token);
  EXPECT_EQ(*file_.Find(Sha256Of(day.text), kNow), day.token);
  EXPECT_EQ(*file_.Find(Sha256Of(day.text), kNow + kDay), std::nullopt);
  for (const std::string& text : {std::string(), std::string("pa_"), day.text + "0",
                                  day.text.substr(1), Hex(day.token.sha256)}) {
    EXPECT_EQ(*file_.Find(Sha256Of(text), kNow), std::nullopt) << text;
  }
  EXPECT_TRUE(*file_.HasAny(kNow));
}

TEST_F(TokenFileTest, ItIsReadAgain) {
  EXPECT_FALSE(*file_.HasAny(kNow));
  const NewToken one = MakeToken("one", kNow, kNow + kDay);
  const NewToken two = MakeToken("two", kNow, std::nullopt);
  Write(FormatTokens({one.token}));
  EXPECT_TRUE(*file_.Find(Sha256Of(one.text), kNow));
  EXPECT_FALSE(*file_.HasAny(kNow + kDay));
  Write(FormatTokens({two.token}));
  EXPECT_EQ(*file_.Find(Sha256Of(one.text), kNow), std::nullopt);
  EXPECT_TRUE(*file_.Find(Sha256Of(two.text), kNow));
  std::filesystem::remove(path_);
  EXPECT_EQ(*file_.Find(Sha256Of(two.text), kNow), std::nullopt);
}

// Nobody is known then, and the server says why; it does not look like a wrong token.
TEST_F(TokenFileTest, WhatCannotBeReadIsAnError) {
  const NewToken one = MakeToken("one", kNow, std::nullopt);
  Write(FormatTokens({one.token}));
  ASSERT_TRUE(*file_.Find(Sha256Of(one.text), kNow));
  Write("broken");
  EXPECT_FALSE(file_.Find(Sha256Of(one.text), kNow));
  EXPECT_FALSE(file_.HasAny(kNow));
  Write(FormatTokens({one.token}));
  ASSERT_TRUE(*file_.Find(Sha256Of(one.text), kNow));
  chmod(path_.c_str(), 0620);
  EXPECT_FALSE(file_.Find(Sha256Of(one.text), kNow));
  chmod(path_.c_str(), 0600);
  EXPECT_TRUE(*file_.Find(Sha256Of(one.text), kNow));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(file_.Find(Sha256Of(one.text), kNow));
}

}  // namespace
}  // namespace pa
