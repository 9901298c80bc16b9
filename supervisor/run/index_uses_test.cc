#include "supervisor/run/index_uses.h"

#include <gtest/gtest.h>
#include <uv.h>

#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class IndexUsesTest : public ::testing::Test {
 protected:
  IndexUsesTest() : index_(directory_.path() / "index") {
    uv_loop_init(&loop_);
    std::ofstream(index_) << "DIRC";
  }
  ~IndexUsesTest() override {
    uses_.Close();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  void Read() const { std::ifstream(index_).get(); }

  testing::TempDir directory_;
  std::string index_;
  uv_loop_t loop_{};
  IndexUses uses_{&loop_};
};

TEST_F(IndexUsesTest, TellsWhetherTheIndexWasRead) {
  Read();
  IndexUses::Watch watch(uses_, index_);
  EXPECT_FALSE(watch.WasRead());
  Read();
  EXPECT_TRUE(watch.WasRead());
  EXPECT_TRUE(watch.WasRead());
}

TEST_F(IndexUsesTest, WhatWasReadBeforeSaysNothingOfTheNextCommand) {
  for (int i = 0; i < 3; ++i) {
    IndexUses::Watch watch(uses_, index_);
    Read();
    Read();
  }
  EXPECT_FALSE(IndexUses::Watch(uses_, index_).WasRead());
}

TEST_F(IndexUsesTest, CommandsThatOverlapBothCount) {
  IndexUses::Watch one(uses_, index_);
  {
    IndexUses::Watch other(uses_, index_);
    EXPECT_FALSE(other.WasRead());
  }
  Read();
  IndexUses::Watch late(uses_, index_);
  EXPECT_TRUE(one.WasRead());
  EXPECT_FALSE(late.WasRead());
  Read();
  EXPECT_TRUE(late.WasRead());
}

TEST_F(IndexUsesTest, NoIndexIsNotRead) {
  IndexUses::Watch watch(uses_, index_ + "-that-is-not-there");
  EXPECT_FALSE(watch.WasRead());
}

TEST_F(IndexUsesTest, RemembersWhatACommandDidLast) {
  EXPECT_EQ(uses_.Expects("make version"), std::nullopt);
  uses_.Learn("make version", true);
  uses_.Learn("make all", false);
  EXPECT_EQ(uses_.Expects("make version"), true);
  EXPECT_EQ(uses_.Expects("make all"), false);
  uses_.Learn("make version", false);
  EXPECT_EQ(uses_.Expects("make version"), false);
  for (int i = 0; i < 5000; ++i) uses_.Learn(std::to_string(i), true);
  EXPECT_EQ(uses_.Expects("make all"), std::nullopt);  // a bounded number is remembered
}

TEST_F(IndexUsesTest, WhoWaitsIsToldWhenItHasEnded) {
  EXPECT_EQ(uses_.UnderWay("/p/.git"), nullptr);
  uses_.Plan("/p/.git", [] {});
  const auto refresh = uses_.UnderWay("/p/.git");
  ASSERT_NE(refresh, nullptr);
  EXPECT_EQ(uses_.UnderWay("/q/.git"), nullptr);
  int told = 0;
  refresh->waiting.emplace_back([&] {
    ++told;
    EXPECT_EQ(uses_.UnderWay("/p/.git"), nullptr);
  });
  uses_.End("/p/.git");
  uses_.End("/p/.git");
  EXPECT_EQ(told, 1);
}

TEST_F(IndexUsesTest, OneThatIsPlannedBeginsOnce) {
  int started = 0;
  for (const bool at_once : {true, false}) {
    uses_.Plan("/p/.git", [&] { ++started; });
    EXPECT_NE(uses_.UnderWay("/p/.git")->start, nullptr);
    if (at_once) uses_.Start("/p/.git");
    EXPECT_EQ(started, at_once ? 1 : 0);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uses_.Start("/p/.git");
    EXPECT_EQ(started, 1);
    EXPECT_EQ(uses_.UnderWay("/p/.git")->start, nullptr) << "it has begun";
    uses_.End("/p/.git");
    started = 0;
  }
}

TEST_F(IndexUsesTest, NothingBeginsOnceItIsClosed) {
  int started = 0;
  uses_.Plan("/p/.git", [&] { ++started; });
  uses_.Plan("/q/.git", [] {});
  uses_.Start("/q/.git");
  uses_.Close();
  EXPECT_EQ(uses_.UnderWay("/p/.git"), nullptr);
  EXPECT_NE(uses_.UnderWay("/q/.git"), nullptr) << "it has begun, and will end";
  uses_.Plan("/p/.git", [&] { ++started; });
  uses_.Start("/p/.git");
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(started, 0);
}

}  // namespace
}  // namespace pa
