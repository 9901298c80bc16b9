#include "supervisor/daemon/tenant_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "supervisor/state/tenant_directory.h"
#include "tests/support/processes.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr TokenTime kNoon{std::chrono::hours(12)};

class TenantTableTest : public ::testing::Test {
 protected:
  void Settle() const {
    MarkTenantsChanged(Path()).value();
    while (!LookAt(Path()).Settled()) {
    }
  }
  std::string Path() const { return directory_.path(); }
  void Write(uid_t tenant, const std::string& text) const {
    const TenantPaths paths = TenantPathsOf(Path(), tenant);
    fs::create_directories(paths.directory);
    testing::WriteText(paths.tokens, text);
    chmod(paths.tokens.c_str(), 0640);
    MarkTenantsChanged(Path()).value();
  }
  void Write(uid_t tenant, const std::vector<Token>& tokens) const {
    Write(tenant, FormatTokens(tokens));
  }
  std::optional<uid_t> Ask(const NewToken& token) {
    const Digest hash = Sha256Of(token.text);
    const auto found = table_.Find(hash, kNoon);
    return found && *found ? table_.TenantOf(hash) : std::nullopt;
  }

  testing::TempDir directory_;
  TenantTable table_{Path()};
  const NewToken laptop_ = MakeToken("laptop", kNoon, std::nullopt);
  const NewToken phone_ = MakeToken("phone", kNoon, std::nullopt);
};

TEST_F(TenantTableTest, ATokenIsOneTenants) {
  Write(1000, {laptop_.token});
  Write(1001, {phone_.token});
  EXPECT_EQ(Ask(laptop_), 1000u);
  EXPECT_EQ(Ask(phone_), 1001u);
  EXPECT_FALSE(Ask(MakeToken("laptop", kNoon, std::nullopt)));
  EXPECT_EQ(table_.Find(laptop_.token.sha256, kNoon)->value().name, "laptop");
  EXPECT_EQ(table_.size(), 2u);
  EXPECT_TRUE(*table_.HasAny(kNoon));
  EXPECT_TRUE(table_.Check());
}

TEST_F(TenantTableTest, AnExpiredTokenIsNobodys) {
  Write(1000, {MakeToken("old", kNoon, kNoon).token});
  EXPECT_FALSE(*table_.HasAny(kNoon));
  const NewToken old = MakeToken("old", kNoon, kNoon);
  Write(1000, {old.token});
  EXPECT_FALSE(Ask(old));
}

TEST_F(TenantTableTest, AChangeCountsAtOnce) {
  Write(1000, {laptop_.token});
  Settle();
  EXPECT_EQ(Ask(laptop_), 1000u);
  Write(1000, std::vector<Token>{});
  EXPECT_FALSE(Ask(laptop_));
  Settle();
  EXPECT_FALSE(Ask(laptop_));
  Write(1001, {laptop_.token});
  EXPECT_EQ(Ask(laptop_), 1001u);
  fs::remove_all(TenantPathsOf(Path(), 1001).directory);
  EXPECT_FALSE(Ask(laptop_));
  EXPECT_EQ(table_.size(), 1u);
}

// A file that was written by hand: the directory of all has not changed.
TEST_F(TenantTableTest, ItForgetsWhenItIsTold) {
  Write(1000, {laptop_.token});
  Settle();
  EXPECT_EQ(Ask(laptop_), 1000u);
  testing::WriteText(TenantPathsOf(Path(), 1000).tokens, FormatTokens({}));
  EXPECT_EQ(Ask(laptop_), 1000u);
  table_.Forget();
  EXPECT_FALSE(Ask(laptop_));
}

// Whose a token is that nobody else has: nobody can tell.
TEST_F(TenantTableTest, WhatCannotBeReadIsNotEmpty) {
  Write(1000, {laptop_.token});
  Write(1001, "broken");
  EXPECT_EQ(Ask(laptop_), 1000u);
  EXPECT_FALSE(table_.Find(phone_.token.sha256, kNoon));
  EXPECT_FALSE(table_.Check());
  Write(1001, {phone_.token});
  EXPECT_EQ(Ask(phone_), 1001u);
  EXPECT_TRUE(table_.Check());
  fs::permissions(TenantPathsOf(Path(), 1001).tokens, fs::perms::others_write,
                  fs::perm_options::add);
  table_.Forget();
  EXPECT_FALSE(table_.Find(phone_.token.sha256, kNoon));

  TenantTable nowhere(Path() + "/none");
  EXPECT_FALSE(nowhere.Find(phone_.token.sha256, kNoon));
  EXPECT_FALSE(nowhere.HasAny(kNoon));
  EXPECT_FALSE(nowhere.Check());
}

// As after a lack of descriptors: nobody has changed the directory.
TEST_F(TenantTableTest, WhatCouldNotBeReadIsTriedAgain) {
  Write(1000, {laptop_.token});
  const std::string tokens = TenantPathsOf(Path(), 1000).tokens;
  fs::rename(tokens, tokens + ".aside");
  fs::create_directory(tokens);
  Settle();
  EXPECT_FALSE(table_.Find(laptop_.token.sha256, kNoon));
  fs::remove(tokens);
  fs::rename(tokens + ".aside", tokens);
  EXPECT_TRUE(testing::Eventually([&] { return Ask(laptop_) == 1000u; }));
}

TEST_F(TenantTableTest, ANameIsALinkToATenant) {
  Write(1000, {laptop_.token});
  fs::create_directory_symlink("1000", Path() + "/ann");
  fs::create_directory_symlink("1001", Path() + "/bob");
  fs::create_directory_symlink("../1000", Path() + "/eve");
  testing::WriteText(Path() + "/1000.bak", "");
  EXPECT_EQ(table_.TenantNamed("ann"), 1000u);
  EXPECT_EQ(table_.TenantNamed("1000"), 1000u);
  for (const char* none : {"bob", "eve", "1001", "1000.bak", "", "..", "../1000", "0"}) {
    EXPECT_FALSE(table_.TenantNamed(none)) << none;
  }
  EXPECT_TRUE(table_.Served().has("ann"));
  EXPECT_FALSE(table_.Served().has("bob"));
}

}  // namespace
}  // namespace pa
