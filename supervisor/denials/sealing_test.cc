#include "supervisor/denials/sealing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <set>

namespace pa {
namespace {

using Kind = FoundPath::Kind;

// A repository in /p, all of which the user may change but for what a test takes away.
class FakeRepository : public PathInspector {
 public:
  FoundPath Look(const std::string& path, bool) override {
    const std::string directory = path.substr(0, path.rfind('/'));
    const auto found = places_.find(path);
    if (found != places_.end())
      return {.kind = found->second, .path = path, .directory = directory};
    if (places_.contains(directory)) {
      return {.kind = Kind::kMissing, .path = path, .directory = directory};
    }
    return {};
  }
  bool May(const std::string& resolved, int) override { return !shut.contains(resolved); }
  bool Owns(const std::string& resolved) override { return !foreign.contains(resolved); }
  bool IsMountPoint(const std::string& resolved) override { return mounted.contains(resolved); }
  bool IsEmpty(const std::string& resolved) override { return empty.contains(resolved); }

  std::string FindFull(std::uint64_t, std::chrono::system_clock::time_point) override { return ""; }

  std::set<std::string> shut;
  std::set<std::string> foreign;
  std::set<std::string> mounted;
  std::set<std::string> empty;

 private:
  std::map<std::string, Kind> places_ = {
      {"/p", Kind::kDirectory},         {"/p/x", Kind::kFile},
      {"/p/d", Kind::kDirectory},       {"/p/.git", Kind::kDirectory},
      {"/p/.git/config", Kind::kFile},  {"/p/.git/hooks", Kind::kDirectory},
      {"/p/.git/hooks/a", Kind::kFile}, {"/p/.git/index", Kind::kFile},
      {"/p/.git/hooks/l", Kind::kOther}};
};

class SealingTest : public ::testing::Test {
 protected:
  std::string Of(Reason reason, Uses uses, const std::vector<std::string>& paths) {
    const auto found = Sealing(sealed_, inspector_).Of(reason, uses, paths);
    return found ? found->path + " by " + found->by->reason : "";
  }
  std::string ReadOnly(Uses uses, const std::string& path) {
    return Of(Reason::kReadOnly, uses, {path});
  }
  std::string Busy(const std::vector<std::string>& paths) {
    return Of(Reason::kBusy, kTriedChange, paths);
  }

  std::vector<SealedPath> sealed_ = {{"/p/.git", false, "repository"},
                                     {"/p/.git/config", true, "configuration"},
                                     {"/p/.git/hooks", true, "hooks"}};
  FakeRepository inspector_;
};

TEST_F(SealingTest, WritingWhatIsReadOnly) {
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/config"), "/p/.git/config by configuration");
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/hooks/a"), "/p/.git/hooks/a by hooks");
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/hooks/new"), "/p/.git/hooks/new by hooks");
  EXPECT_EQ(ReadOnly(kTriedChange, "/p/.git/hooks/new"), "/p/.git/hooks/new by hooks");
  EXPECT_EQ(ReadOnly(kTriedChange, "/p/.git/hooks/l"), "/p/.git/hooks/l by hooks");
  EXPECT_EQ(ReadOnly(kTriedMode, "/p/.git/hooks"), "/p/.git/hooks by hooks");
  EXPECT_EQ(Of(Reason::kReadOnly, kTriedChange, {"/p/x", "/p/.git/hooks/a"}),
            "/p/.git/hooks/a by hooks");
}

TEST_F(SealingTest, WhatIsNotSealedIsRefusedByOthers) {
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/x"), "");
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/index"), "") << "free in a directory that is pinned";
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/hooks2"), "");
  EXPECT_EQ(ReadOnly(kTriedWrite, "/elsewhere/x"), "");
  EXPECT_EQ(ReadOnly(kTriedChange, "/p/.git/config"), "") << "it would have been busy";
  EXPECT_EQ(ReadOnly(0, "/p/.git/config"), "");
  EXPECT_EQ(Of(Reason::kRefused, kTriedWrite, {"/p/.git/config"}), "");
  EXPECT_EQ(Of(Reason::kAbsent, kTriedWrite, {"/p/.git/hooks/new"}), "");
  EXPECT_EQ(Of(Reason::kBusy, kTriedWrite, {"/p/.git/index"}), "");
  sealed_.clear();
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/config"), "");
}

// As where the file system is read-only to everybody, or the file somebody else's.
TEST_F(SealingTest, WhatFailsOutsideAsWellIsNone) {
  inspector_.shut = {"/p/.git/config", "/p/.git/hooks"};
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/config"), "");
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/hooks/new"), "");
  EXPECT_EQ(ReadOnly(kTriedWrite | kTriedChange, "/p/.git/hooks/a"), "") << "perhaps removed it";
  EXPECT_EQ(ReadOnly(kTriedWrite, "/p/.git/hooks/a"), "/p/.git/hooks/a by hooks");
  inspector_.foreign = {"/p/.git/hooks/a"};
  EXPECT_EQ(ReadOnly(kTriedMode, "/p/.git/hooks/a"), "");
  inspector_.shut = {"/p/.git"};
  EXPECT_EQ(Busy({"/p/.git/config"}), "");
  EXPECT_EQ(Of(Reason::kBusy, kTriedReplace, {"/p/.git"}), "");
}

TEST_F(SealingTest, MovingWhatIsPinned) {
  EXPECT_EQ(Busy({"/p/.git", "/p/y"}), "/p/.git by repository");
  EXPECT_EQ(Busy({"/p/.git/config", "/p/.git/c"}), "/p/.git/config by configuration");
  EXPECT_EQ(Busy({"/p/.git/hooks", "/p/.git/h"}), "/p/.git/hooks by hooks");
  EXPECT_EQ(Busy({"/p/x", "/p/.git/config"}), "/p/.git/config by configuration");
  EXPECT_EQ(Busy({"/p/gone", "/p/.git/config"}), "/p/.git/config by configuration");
  EXPECT_EQ(Busy({"/p/d", "/p/.git/config"}), "") << "a directory replaces no file";
  EXPECT_EQ(Busy({"/p/x", "/p/y"}), "");
  EXPECT_EQ(Busy({"/p/.git/hooks/a"}), "");
  inspector_.mounted = {"/p/.git"};
  EXPECT_EQ(Busy({"/p/.git", "/p/y"}), "") << "it is a mount outside as well";
}

TEST_F(SealingTest, OnlyWhatIsEmptyIsRemoved) {
  EXPECT_EQ(Busy({"/p/.git/config"}), "/p/.git/config by configuration");
  EXPECT_EQ(Busy({"/p/.git/hooks"}), "");
  EXPECT_EQ(Busy({"/p/d", "/p/.git/hooks"}), "");
  EXPECT_EQ(Busy({"/p/.git/hooks y", "/p/.git/hooks"}), "") << "two readings of one name";
  inspector_.empty = {"/p/.git/hooks"};
  EXPECT_EQ(Busy({"/p/.git/hooks"}), "/p/.git/hooks by hooks");
  EXPECT_EQ(Busy({"/p/d", "/p/.git/hooks"}), "/p/.git/hooks by hooks");
  EXPECT_EQ(Busy({"/p/x", "/p/.git/hooks"}), "") << "a file replaces no directory";
}

TEST_F(SealingTest, AFileThatIsReplacedIsNamedWhereItCanBeNoOther) {
  const auto replaced = [&] { return Of(Reason::kBusy, kTriedReplace, {"/p/.git"}); };
  EXPECT_EQ(replaced(), "/p/.git/config by configuration");
  EXPECT_EQ(Of(Reason::kBusy, kTriedReplace, {"/p"}), "") << "a directory is not edited";
  sealed_.push_back({"/p/.git/index", true, "another"});
  EXPECT_EQ(replaced(), "");
}

}  // namespace
}  // namespace pa
