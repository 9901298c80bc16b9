#include "supervisor/loop/inotify.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class InotifyTest : public ::testing::Test {
 protected:
  void Make(const std::string& name) { std::ofstream(directory_.path() / name) << ""; }

  testing::TempDir directory_;
  Inotify inotify_;
  std::vector<std::string> names_;
  const Inotify::OnEvent note_ = [this](int, std::uint32_t, std::string_view name) {
    names_.emplace_back(name);
  };
};

TEST_F(InotifyTest, TellsNamesInTheirOrder) {
  EXPECT_EQ(inotify_.fd(), -1);
  EXPECT_TRUE(inotify_.ReadQueued(note_)) << "nothing is watched";
  const int watch = inotify_.Add(directory_.path(), IN_CREATE | IN_DELETE_SELF);
  ASSERT_GE(watch, 0);
  EXPECT_EQ(inotify_.Add(directory_.path() / ".", IN_CREATE | IN_DELETE_SELF), watch);
  for (const char* name : {"a", "b", "a longer name"}) Make(name);
  EXPECT_TRUE(inotify_.ReadQueued(note_));
  EXPECT_EQ(names_, (std::vector<std::string>{"a", "b", "a longer name"}));
  EXPECT_EQ(inotify_.ReadSome(note_), 0u);
  inotify_.Remove(watch);
  Make("c");
  EXPECT_TRUE(inotify_.ReadQueued(note_));
  EXPECT_EQ(names_.size(), 4u) << "that it is watched no more";
  EXPECT_EQ(inotify_.Add(directory_.path() / "absent", IN_CREATE), -1);
  EXPECT_EQ(errno, ENOENT);
}

// Who made it could make one more for each that is read.
TEST_F(InotifyTest, WhatComesMeanwhileIsNotReadToo) {
  Make("a");
  ASSERT_GE(inotify_.Add(directory_.path(), IN_MOVED_TO), 0);
  bool there = true;
  const auto rename = [&] {
    const auto a = directory_.path() / "a";
    const auto b = directory_.path() / "b";
    std::filesystem::rename(there ? a : b, there ? b : a);
    there = !there;
  };
  for (int i = 0; i < 2000; ++i) rename();
  const bool all = inotify_.ReadQueued([&](int, std::uint32_t, std::string_view name) {
    names_.emplace_back(name);
    if (names_.size() < 10'000) rename();
  });
  EXPECT_FALSE(all);
  EXPECT_GE(names_.size(), 2000u);
  EXPECT_LT(names_.size(), 4000u);
  EXPECT_TRUE(inotify_.ReadQueued(note_));
}

}  // namespace
}  // namespace pa
