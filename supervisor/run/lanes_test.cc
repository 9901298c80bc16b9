#include "supervisor/run/lanes.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/few_descriptors.h"

namespace pa {
namespace {

using policy::Purpose;

class LanesTest : public ::testing::Test {
 protected:
  bool Runs(Purpose purpose) {
    // Whoever waits hears it later.
    const auto runs = std::make_shared<bool>(false);
    last_ = lanes_.For(purpose).Enter("", PlacesIn(purpose, limits_),
                                      [runs](bool granted) { *runs = granted; });
    return *runs;
  }
  void Fill(Purpose purpose) {
    while (Runs(purpose)) {
    }
  }
  Lanes lanes_;
  policy::Limits limits_ = [] {
    policy::Limits limits;
    limits.concurrent = 1;
    limits.queue = 0;
    return limits;
  }();
  RunQueue::Ticket last_ = RunQueue::kFull;
};

TEST_F(LanesTest, WhatChangesSharesThePlacesOfThePolicy) {
  EXPECT_TRUE(Runs(Purpose::kBuild));
  for (const Purpose purpose : {Purpose::kBuild, Purpose::kGit, Purpose::kWriteFile}) {
    EXPECT_FALSE(Runs(purpose));
    EXPECT_EQ(last_, RunQueue::kFull);
  }
}

TEST_F(LanesTest, WhoLooksWaitsForNoBuild) {
  Fill(Purpose::kBuild);
  for (const Purpose purpose :
       {Purpose::kInspect, Purpose::kSearch, Purpose::kReadFile, Purpose::kGitIdentity}) {
    EXPECT_TRUE(Runs(purpose)) << static_cast<int>(purpose);
  }
}

TEST_F(LanesTest, WhoReadsWaitsForNoMakefile) {
  Fill(Purpose::kInspect);
  EXPECT_TRUE(Runs(Purpose::kReadFile));
  EXPECT_TRUE(Runs(Purpose::kBuild));
}

TEST_F(LanesTest, WhoLooksWaitsForOthersWhoLookAndIsRefusedLate) {
  Fill(Purpose::kSearch);
  EXPECT_NE(last_, RunQueue::kFull) << "it waits, although limits.queue is 0";
  EXPECT_EQ(lanes_.running(), kPlacesToLook);
  for (std::uint64_t waiting = 1; waiting < kPlacesToWaitForALook; ++waiting) {
    EXPECT_FALSE(Runs(Purpose::kReadFile));
    EXPECT_NE(last_, RunQueue::kFull);
  }
  EXPECT_FALSE(Runs(Purpose::kReadFile));
  EXPECT_EQ(last_, RunQueue::kFull);
}

TEST_F(LanesTest, APolicyThatGivesMoreGivesMoreToWhoLooks) {
  limits_.concurrent = 10;
  limits_.queue = 1000;
  EXPECT_EQ(PlacesIn(Purpose::kReadFile, limits_).concurrent, 10u);
  EXPECT_EQ(PlacesIn(Purpose::kInspect, limits_).waiting, 1000u);
}

// Those that run and wait are as many as the policy says; who of them has begun is another matter.
TEST_F(LanesTest, WhereThereAreFewDescriptorsFewCallsBeginAndTheOthersWait) {
  limits_.concurrent = 4;
  limits_.queue = 64;
  for (const Purpose purpose : {Purpose::kBuild, Purpose::kReadFile, Purpose::kInspect}) {
    const testing::FewDescriptors few(64);
    const RunQueue::Limits places = PlacesToBegin(purpose, limits_);
    EXPECT_EQ(places.concurrent, 1u);
    EXPECT_EQ(places.waiting, 67u);
  }
  {
    const testing::FewDescriptors some(1024);
    EXPECT_EQ(PlacesToBegin(Purpose::kBuild, limits_).concurrent, 10u);
    EXPECT_EQ(PlacesToBegin(Purpose::kBuild, limits_).waiting, 58u);
  }
  // 12 for each of 3 is less than an eighth: as if there were no limit.
  limits_.concurrent = 1;
  limits_.queue = 2;
  const testing::FewDescriptors enough(512);
  EXPECT_EQ(PlacesToBegin(Purpose::kBuild, limits_).concurrent, UINT64_MAX);
}

TEST_F(LanesTest, AllThatWaitAreRefusedAtTheEnd) {
  Fill(Purpose::kInspect);
  bool refused = false;
  const RunQueue::Ticket waiting = lanes_.For(Purpose::kInspect)
                                       .Enter("", PlacesIn(Purpose::kInspect, limits_),
                                              [&](bool granted) { refused = !granted; });
  lanes_.RefuseAll();
  EXPECT_TRUE(refused);
  EXPECT_FALSE(lanes_.empty());
  lanes_.For(Purpose::kInspect).Leave(waiting);
}

}  // namespace
}  // namespace pa
