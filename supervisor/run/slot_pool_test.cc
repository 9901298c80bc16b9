#include "supervisor/run/slot_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace pa {
namespace {

namespace fs = std::filesystem;

void RemoveNow(const HeldTree& tree, UniqueFd) {
  (void)RemoveTree(tree.parent->get(), tree.name, std::chrono::seconds(10));
}

class SlotPoolTest : public ::testing::Test {
 protected:
  SlotPoolTest() {
    std::string path = ::testing::TempDir() + "slots-XXXXXX";
    base_ = mkdtemp(path.data());
    fs::create_directory(base_ / "tmp");
    fs::create_directory(base_ / "project");
  }
  ~SlotPoolTest() override { fs::remove_all(base_); }

  sandbox::Confinement Confinement(sandbox::Access access = sandbox::kReadWriteExecute) const {
    sandbox::Confinement confinement;
    confinement.paths.push_back({base_ / "project", access, "working directory"});
    return confinement;
  }
  std::unique_ptr<Slot> Acquire(SlotPool& slots, const sandbox::Confinement& confinement) {
    Result<std::unique_ptr<Slot>> slot = slots.Acquire(confinement);
    EXPECT_TRUE(slot) << slot.error().Message();
    return slot ? std::move(*slot) : nullptr;
  }
  fs::path base_;
};

TEST_F(SlotPoolTest, TouchesNothingUntilUsedAndLeavesNothing) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  EXPECT_TRUE(fs::is_empty(base_ / "tmp"));
  std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  EXPECT_TRUE(fs::is_empty(slot->tmp_dir));
  slots.Release(std::move(slot), true);
  slots.RemoveAll();
  EXPECT_TRUE(fs::is_empty(base_ / "tmp"));
}

TEST_F(SlotPoolTest, RenewedItGivesNoSlotASecondTime) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::unique_ptr<Slot> free = Acquire(slots, Confinement());
  std::unique_ptr<Slot> in_use = Acquire(slots, Confinement());
  const std::vector<std::string> old = {free->tmp_dir, in_use->tmp_dir};
  slots.Release(std::move(free), true);
  slots.Renew();
  EXPECT_FALSE(fs::exists(old[0]));
  EXPECT_TRUE(fs::exists(old[1])) << "somebody works there";
  slots.Release(std::move(in_use), true);
  EXPECT_FALSE(fs::exists(old[1]));
  EXPECT_EQ(slots.free_slots(), 0u);
  std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  slots.Release(std::move(slot), true);
  EXPECT_EQ(slots.free_slots(), 1u);
}

// Each holds a descriptor, and there must be some for what comes.
TEST_F(SlotPoolTest, KeepsNoMoreThanDescriptorsAllow) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{128, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::vector<std::unique_ptr<Slot>> all(30);
  for (auto& slot : all) slot = Acquire(slots, Confinement());
  for (auto& slot : all) slots.Release(std::move(slot), true);
  EXPECT_EQ(slots.free_slots(), 128u / 8);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(SlotPoolTest, SweepsWhatADeadInstanceLeftAndNothingElse) {
  const fs::path ours =
      base_ / "tmp" / ("project-actions-" + std::to_string(geteuid()) + "-AbCd12");
  const fs::path stranger = base_ / "tmp/project-actions-999999-AbCd12";
  for (const fs::path& left : {ours, stranger}) {
    fs::create_directories(left / "0");
    std::ofstream(left / "0/left") << "x";
    chmod(left.c_str(), 0700);
  }
  SlotPool slots(base_ / "tmp", RemoveNow);
  const std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  EXPECT_FALSE(fs::exists(ours));
  EXPECT_TRUE(fs::exists(stranger / "0/left"));
}

TEST_F(SlotPoolTest, GrantsItsDirectoryBesideWhatWasAskedFor) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  const std::unique_ptr<Slot> builds = Acquire(slots, Confinement());
  ASSERT_EQ(builds->prepared.confinement.paths.size(), 2u);
  EXPECT_EQ(builds->prepared.confinement.paths[1].path, builds->tmp_dir);
  EXPECT_EQ(builds->prepared.confinement.paths[1].access, sandbox::kReadWriteExecute);
  // Where nothing that is written may be executed, TMPDIR makes no exception.
  const std::unique_ptr<Slot> inspects = Acquire(slots, Confinement(sandbox::kReadExecute));
  EXPECT_EQ(inspects->prepared.confinement.paths[1].access, sandbox::kReadWrite);
}

TEST_F(SlotPoolTest, AFreeSlotOfTheSameConfinementIsUsedAgain) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::unique_ptr<Slot> first = Acquire(slots, Confinement());
  std::unique_ptr<Slot> second = Acquire(slots, Confinement());
  const std::string name = first->tmp_dir;
  EXPECT_NE(name, second->tmp_dir);
  slots.Release(std::move(first), true);
  EXPECT_NE(Acquire(slots, Confinement(sandbox::kReadExecute))->tmp_dir, name);
  EXPECT_EQ(Acquire(slots, Confinement())->tmp_dir, name);
}

TEST_F(SlotPoolTest, ASlotThatIsNotCleanIsRemoved) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  const std::string name = slot->tmp_dir;
  std::ofstream(name + "/left") << "x";
  slots.Release(std::move(slot), false);
  EXPECT_FALSE(fs::exists(name));
  EXPECT_EQ(slots.free_slots(), 0u);
}

// H6: whoever can write in the base puts a symlink where the instance's directory was.
TEST_F(SlotPoolTest, WhatTheNameLeadsToMeanwhileIsLeftAlone) {
  const fs::path victim = base_ / "victim";
  for (const bool clean : {false, true}) {
    fs::create_directories(victim / "0/work");
    std::ofstream(victim / "0/work/file") << "x";
    fs::create_directories(victim / "1");
    {
      SlotPool slots(base_ / "tmp", RemoveNow);
      std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
      const fs::path instance = fs::path(slot->tmp_dir).parent_path();
      std::ofstream(fs::path(slot->tmp_dir) / "left") << "x";
      fs::rename(instance, base_ / "moved");
      fs::create_directory_symlink(victim, instance);
      slots.Release(std::move(slot), clean);
      slots.RemoveAll();
      fs::remove(instance);
    }
    EXPECT_TRUE(fs::exists(victim / "0/work/file")) << clean;
    EXPECT_TRUE(fs::exists(victim / "1")) << clean;
    EXPECT_TRUE(fs::is_empty(base_ / "moved")) << clean;
    fs::remove_all(base_ / "moved");
  }
}

TEST_F(SlotPoolTest, ASlotWhosePathsOrModeChangedIsNotUsedAgain) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  const std::string first = slot->tmp_dir;
  slots.Release(std::move(slot), true);
  fs::rename(base_ / "project", base_ / "old");
  fs::create_directory(base_ / "project");
  slot = Acquire(slots, Confinement());
  const std::string second = slot->tmp_dir;
  EXPECT_NE(first, second);
  EXPECT_FALSE(fs::exists(first));
  chmod(second.c_str(), 0755);
  slots.Release(std::move(slot), true);
  EXPECT_NE(Acquire(slots, Confinement())->tmp_dir, second);
}

TEST_F(SlotPoolTest, SurvivesThatSomebodyRemovesTheInstanceDirectory) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  slots.Release(Acquire(slots, Confinement()), true);
  fs::remove_all(base_ / "tmp");
  fs::create_directory(base_ / "tmp");
  const std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  EXPECT_TRUE(fs::is_directory(slot->tmp_dir));
}

TEST_F(SlotPoolTest, SurvivesThatACommandLocksTheInstanceDirectory) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::unique_ptr<Slot> slot = Acquire(slots, Confinement());
  const fs::path first = slot->tmp_dir;
  std::ofstream(first / "left") << "x";
  fs::permissions(first.parent_path(), fs::perms::none);
  slots.Release(std::move(slot), false);
  EXPECT_FALSE(fs::exists(first));
  fs::permissions(first.parent_path(), fs::perms::none);
  EXPECT_NE(Acquire(slots, Confinement()), nullptr);
}

TEST_F(SlotPoolTest, KeepsABoundedNumber) {
  SlotPool slots(base_ / "tmp", RemoveNow);
  std::vector<std::unique_ptr<Slot>> used;
  for (int i = 0; i < 70; ++i) used.push_back(Acquire(slots, Confinement()));
  for (auto& slot : used) slots.Release(std::move(slot), true);
  EXPECT_EQ(slots.free_slots(), 64u);
  const fs::path instance = *fs::directory_iterator(base_ / "tmp");
  EXPECT_EQ(std::distance(fs::directory_iterator(instance), {}), 64);
}

}  // namespace
}  // namespace pa
