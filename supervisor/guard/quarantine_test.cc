#include "supervisor/guard/quarantine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class QuarantineTest : public ::testing::Test {
 protected:
  QuarantineTest() {
    testing::WriteText(tree_ / "file", "came");
    testing::WriteText(tree_ / "original", "was");
    fd_.reset(open(tree_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    ImageBudget budget;
    image_ = ReadImage(fd_.get(), "original", ImageDepth::kSelf, budget).value();
    fs::remove(tree_ / "original");
  }
  std::vector<std::string> InTree() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(tree_))
      names.push_back(entry.path().filename());
    return names;
  }
  // On another file system, if there is one here.
  std::string Elsewhere() {
    std::string name = "/dev/shm/displaced-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return "";
    elsewhere_ = name;
    return LookAt(name).device == LookAt(tree_).device ? "" : name;
  }
  void TearDown() override {
    if (!elsewhere_.empty()) fs::remove_all(elsewhere_);
  }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const fs::path tree_ = base_ / "tree";
  const fs::path state_ = base_ / "state/displaced";
  std::string elsewhere_;
  UniqueFd fd_;
  FileImage image_;
};

TEST_F(QuarantineTest, UntilItIsNeededNothingIsMade) {
  Quarantine quarantine(state_);
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(QuarantineTest, WhatIsTakenIsKept) {
  Quarantine quarantine(state_);
  const auto kept = quarantine.Take(fd_.get(), "file", fd_.get(), tree_);
  ASSERT_TRUE(kept.has_value()) << kept.error().Message();
  EXPECT_TRUE(kept->starts_with(state_.string())) << *kept;
  EXPECT_EQ(testing::ReadText(*kept), "came");
  EXPECT_TRUE(InTree().empty());
  EXPECT_EQ(LookAt(fs::path(*kept).parent_path()).mode & 07777u, 0700u);
}

TEST_F(QuarantineTest, AnExchangeKeepsWhatCame) {
  Quarantine quarantine(state_);
  const auto kept = quarantine.Exchange(image_, fd_.get(), "file", fd_.get(), tree_);
  ASSERT_TRUE(kept.has_value()) << kept.error().Message();
  EXPECT_EQ(testing::ReadText(tree_ / "file"), "was");
  EXPECT_EQ(testing::ReadText(*kept), "came");
  const auto none = quarantine.Exchange(image_, fd_.get(), "gone", fd_.get(), tree_);
  EXPECT_EQ(none.value(), "");
  EXPECT_EQ(testing::ReadText(tree_ / "gone"), "was");
  EXPECT_EQ(InTree().size(), 2u);
}

TEST_F(QuarantineTest, AnyTypeIsExchangedForAnyOther) {
  Quarantine quarantine(state_);
  fs::remove(tree_ / "file");
  fs::create_directories(tree_ / "file/full");
  chmod((tree_ / "file").c_str(), 0500);
  auto kept = quarantine.Exchange(image_, fd_.get(), "file", fd_.get(), tree_);
  ASSERT_TRUE(kept.has_value()) << kept.error().Message();
  EXPECT_TRUE(fs::is_directory(fs::path(*kept) / "full"));
  fs::remove(tree_ / "file");
  fs::create_symlink("/etc", tree_ / "file");
  kept = quarantine.Exchange(image_, fd_.get(), "file", fd_.get(), tree_);
  EXPECT_EQ(fs::read_symlink(kept.value()), "/etc");
  EXPECT_EQ(testing::ReadText(tree_ / "file"), "was");
}

TEST_F(QuarantineTest, WhereNoRenameLeadsToItStaysInTheTreeUnderAnotherName) {
  const std::string elsewhere = Elsewhere();
  if (elsewhere.empty()) GTEST_SKIP() << "no second file system to write on";
  Quarantine quarantine(elsewhere);
  const auto kept = quarantine.Exchange(image_, fd_.get(), "file", fd_.get(), tree_);
  ASSERT_TRUE(kept.has_value()) << kept.error().Message();
  EXPECT_EQ(testing::ReadText(tree_ / "file"), "was");
  EXPECT_EQ(fs::path(*kept).parent_path(), tree_);
  EXPECT_TRUE(fs::path(*kept).filename().string().starts_with("displaced-by-project-actions-"));
  EXPECT_EQ(testing::ReadText(*kept), "came");
  EXPECT_EQ(InTree().size(), 2u);
  fs::create_directories(tree_ / "directory/full");
  const auto taken = quarantine.Take(fd_.get(), "directory", fd_.get(), tree_);
  EXPECT_TRUE(fs::is_directory(fs::path(taken.value()) / "full"));
}

TEST_F(QuarantineTest, WithoutAStateDirectoryTheSame) {
  testing::WriteText(base_ / "state-is-a-file", "");
  for (const std::string& state : {std::string(), (base_ / "state-is-a-file").string()}) {
    testing::WriteText(tree_ / "file", "came");
    Quarantine quarantine(state);
    const auto kept = quarantine.Exchange(image_, fd_.get(), "file", fd_.get(), tree_);
    ASSERT_TRUE(kept.has_value()) << kept.error().Message();
    EXPECT_EQ(testing::ReadText(tree_ / "file"), "was");
    EXPECT_EQ(testing::ReadText(*kept), "came");
  }
}

// Whoever knows the name could stand in its way.
TEST_F(QuarantineTest, NobodyCanGuessTheNameInTheTree) {
  Quarantine quarantine("");
  const auto name = [&] {
    testing::WriteText(tree_ / "file", "came");
    const auto kept = quarantine.Take(fd_.get(), "file", fd_.get(), tree_);
    const std::string path = kept.value_or("");
    EXPECT_TRUE(path.ends_with("-file")) << path;
    return path.substr(0, path.rfind('-'));
  };
  const std::string one = name();
  const std::string other = name();
  constexpr std::size_t kRandom = 16;
  EXPECT_EQ(one.substr(0, one.size() - kRandom), other.substr(0, other.size() - kRandom));
  const auto random = [](const std::string& text) { return text.substr(text.size() - kRandom); };
  EXPECT_EQ(random(one).find_first_not_of("0123456789abcdef"), std::string::npos) << one;
  int same = 0;
  for (std::size_t i = 0; i < kRandom; ++i) same += random(one)[i] == random(other)[i] ? 1 : 0;
  EXPECT_LT(same, 12) << one << " " << other;
}

TEST_F(QuarantineTest, ANameOfAnyLengthIsMoved) {
  const std::string longest(NAME_MAX - 3, 'a');
  for (const std::string& state : {state_.string(), std::string()}) {
    for (const std::string& name : {longest + "123", longest.substr(3) + "\u00e4\u00f6\u00fc"}) {
      Quarantine quarantine(state);
      testing::WriteText(tree_ / name, "came");
      const auto kept = quarantine.Take(fd_.get(), name, fd_.get(), tree_);
      ASSERT_TRUE(kept.has_value()) << kept.error().Message();
      EXPECT_EQ(testing::ReadText(*kept), "came");
      testing::WriteText(tree_ / name, "came");
      const auto exchanged = quarantine.Exchange(image_, fd_.get(), name, fd_.get(), tree_);
      ASSERT_TRUE(exchanged.has_value()) << exchanged.error().Message();
      EXPECT_EQ(testing::ReadText(tree_ / name), "was");
      EXPECT_EQ(testing::ReadText(*exchanged), "came");
    }
  }
}

TEST_F(QuarantineTest, WhatCannotBeMovedIsAnError) {
  Quarantine quarantine(state_);
  EXPECT_FALSE(quarantine.Take(fd_.get(), "no-such-file", fd_.get(), tree_).has_value());
}

}  // namespace
}  // namespace pa
