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
  const auto refresh = uses_.Begin("/p/.git");
  EXPECT_EQ(uses_.UnderWay("/p/.git"), refresh);
  EXPECT_EQ(uses_.UnderWay("/q/.git"), nullptr);
  EXPECT_EQ(refresh->since, uses_.ended());
  uses_.Learn("make", true);
  EXPECT_NE(refresh->since, uses_.ended());
  int told = 0;
  refresh->waiting.emplace_back([&] {
    ++told;
    EXPECT_EQ(uses_.UnderWay("/p/.git"), nullptr);
  });
  uses_.End("/p/.git");
  uses_.End("/p/.git");
  EXPECT_EQ(told, 1);
}

TEST_F(IndexUsesTest, StartsWhatFollowsAReplyOnlyWhileItIsOpen) {
  int started = 0;
  uses_.AfterReply([&] { ++started; });
  EXPECT_EQ(started, 0);
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(started, 1);
  uses_.AfterReply([&] { ++started; });
  uses_.Close();
  uses_.AfterReply([&] { ++started; });
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(started, 1);
}

}  // namespace
}  // namespace pa
