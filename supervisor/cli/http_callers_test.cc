#include "supervisor/cli/http_callers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class HttpCallersTest : public ::testing::Test {
 protected:
  static TokenTime Now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
  void Write(const std::vector<Token>& tokens) { WriteRaw(FormatTokens(tokens)); }
  void WriteRaw(const std::string& text) {
    testing::WriteText(path_, text);
    chmod(path_.c_str(), 0600);
  }
  std::optional<HttpAnswer> Ask(const std::string& authorization) {
    peer_ = {};
    HttpHead head;
    if (!authorization.empty()) head.fields.emplace_back("authorization", authorization);
    return callers_.Identify(head, peer_);
  }

  testing::TempDir directory_;
  std::string path_ = (directory_.path() / "tokens.json").string();
  HttpCallers callers_{path_};
  HttpPeer peer_;
};

TEST_F(HttpCallersTest, ATokenNamesItsClient) {
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  Write({laptop.token});
  for (const std::string scheme : {"Bearer ", "bearer ", "BEARER   "}) {
    EXPECT_FALSE(Ask(scheme + laptop.text)) << scheme;
    EXPECT_EQ(peer_.token, "laptop");
  }
}

// The answer says nothing about the tokens that there are.
TEST_F(HttpCallersTest, WhoIsNotKnownIsToldOneThing) {
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  const NewToken old = MakeToken("old", Now(), Now() - std::chrono::hours(1));
  Write({laptop.token, old.token});
  const auto unknown = Ask("Bearer " + MakeToken("x", Now(), std::nullopt).text);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 401);
  for (const std::string& given :
       {"Bearer " + old.text, "Basic " + laptop.text, laptop.text, std::string("Bearer "),
        std::string("Bearer"), "Bearer " + laptop.text + ", Bearer " + laptop.text,
        std::string("Bearer laptop"), "Bearer " + Hex(laptop.token.sha256)}) {
    const auto answer = Ask(given);
    ASSERT_TRUE(answer) << given;
    EXPECT_EQ(answer->status, 401);
    EXPECT_EQ(answer->body, unknown->body);
    EXPECT_EQ(answer->fields, unknown->fields);
    EXPECT_EQ(peer_.token, "");
  }
  const auto none = Ask("");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->status, 401);
  EXPECT_EQ(none->fields[0].second, R"(Bearer realm="project-actions")");
}

TEST_F(HttpCallersTest, WithoutAReadableFileNobodyIsKnown) {
  WriteRaw("broken");
  EXPECT_EQ(Ask("Bearer x")->status, 503);
  EXPECT_FALSE(callers_.CanBeKnown());
  std::filesystem::remove(path_);
  EXPECT_EQ(Ask("Bearer x")->status, 401);
  EXPECT_FALSE(*callers_.CanBeKnown());
}

TEST_F(HttpCallersTest, ATokenThatIsRevokedIsNotKnownAnyMore) {
  const NewToken laptop = MakeToken("laptop", Now(), std::nullopt);
  const NewToken other = MakeToken("other", Now(), std::nullopt);
  Write({laptop.token, other.token});
  ASSERT_FALSE(Ask("Bearer " + laptop.text));
  const HttpPeer peer = peer_;
  EXPECT_TRUE(callers_.StillKnows(peer));
  Write({other.token, MakeToken("laptop", Now(), std::nullopt).token});
  EXPECT_FALSE(callers_.StillKnows(peer)) << "another of the same name is there";
  Write({laptop.token});
  EXPECT_TRUE(callers_.StillKnows(peer));
  WriteRaw("broken");
  EXPECT_FALSE(callers_.StillKnows(peer));
  EXPECT_FALSE(callers_.StillKnows({}));
  EXPECT_TRUE(callers_.StillKnows({.user = 7}));
}

TEST_F(HttpCallersTest, TheKernelNamesWhoComesByAUnixSocket) {
  HttpPeer peer{.user = 7};
  EXPECT_FALSE(callers_.Identify({}, peer));
  EXPECT_EQ(peer.token, "");
}

}  // namespace
}  // namespace pa
