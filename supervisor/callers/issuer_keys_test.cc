#include "supervisor/callers/issuer_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/issuer.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using testing::IssuerKey;
using testing::JwkSet;

class IssuerKeysTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) {
    testing::WriteText(path_, text);
    chmod(path_.c_str(), 0644);
  }
  // The names of the keys, or why they cannot be read.
  std::string Names(const std::string& path) {
    const auto keys = keys_.In(path);
    if (!keys) return keys.error().Message();
    std::string names;
    for (const Jwk& key : **keys) names += key.id;
    return names;
  }
  std::string Names() { return Names(path_); }

  testing::TempDir directory_;
  std::string path_ = (directory_.path() / "keys.json").string();
  IssuerKeys keys_;
};

TEST_F(IssuerKeysTest, AChangedFileIsReadAgain) {
  Write(JwkSet({IssuerKey("a").Jwk()}));
  EXPECT_EQ(Names(), "a");
  Write(JwkSet({IssuerKey("a").Jwk(), IssuerKey("b").Jwk()}));
  EXPECT_EQ(Names(), "ab");
  const std::string other = (directory_.path() / "other.json").string();
  testing::WriteText(other, JwkSet({IssuerKey("c").Jwk()}));
  EXPECT_EQ(Names(other), "c");
  EXPECT_EQ(Names(), "ab");
  fs::rename(other, path_);
  EXPECT_EQ(Names(), "c");
}

TEST_F(IssuerKeysTest, ASymlinkIsFollowedEachTime) {
  for (const char* name : {"a", "b"}) {
    fs::create_directory(directory_.path() / name);
    testing::WriteText(directory_.path() / name / "keys.json", JwkSet({IssuerKey(name).Jwk()}));
  }
  const fs::path now = directory_.path() / "now";
  fs::create_directory_symlink("a", now);
  EXPECT_EQ(Names(now / "keys.json"), "a");
  fs::create_directory_symlink("b", directory_.path() / "next");
  fs::rename(directory_.path() / "next", now);
  EXPECT_EQ(Names(now / "keys.json"), "b");
}

// No key is left of what was read before.
TEST_F(IssuerKeysTest, WhatCannotBeReadIsAnError) {
  const std::string good = JwkSet({IssuerKey("a").Jwk()});
  const auto fails = [&](const char* why) {
    EXPECT_FALSE(keys_.In(path_)) << why;
    EXPECT_NE(Names().find(path_), std::string::npos) << why;
    fs::remove_all(path_);
    Write(good);
    EXPECT_EQ(Names(), "a") << why;
  };
  fails("there is none");
  Write("{}");
  fails("no keys");
  Write(good + std::string(kMaxJwkSet, ' '));
  fails("too long");
  fs::remove(path_);
  fs::create_directory(path_);
  fails("a directory");
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  fails("a FIFO");
  for (const mode_t mode : {0664U, 0646U}) {
    chmod(path_.c_str(), mode);
    EXPECT_NE(Names().find("others than root and this user could write"), std::string::npos);
    fails("others can write it");
  }
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  fails("it is another user's");
}

}  // namespace
}  // namespace pa
