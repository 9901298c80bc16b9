#include "supervisor/denials/refused_names.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

Names Before(std::string_view text) {
  const std::vector<std::string_view> segments = Segments(text);
  return NamesBefore(segments);
}

TEST(RefusedNamesTest, BeforeTheErrno) {
  EXPECT_EQ(Before("cat: /h/x"), Names{"/h/x"});
  EXPECT_EQ(Before("cat: x"), Names{"x"});
  EXPECT_EQ(Before("tar: /h/d: Cannot mkdir"), Names{"/h/d"});
  EXPECT_EQ(Before("mv: cannot move 'a' to 'b/c'"), (Names{"a", "b/c"}));
  EXPECT_EQ(Before("cat: /h/a b"), (Names{"/h/a b", "/h/a"}));
  EXPECT_EQ(Before("tool"), Names{}) << "that is the program";
  EXPECT_EQ(Before(""), Names{});
}

TEST(RefusedNamesTest, BehindTheErrno) {
  EXPECT_EQ(NamesBehind(": '/h/x'"), Names{"/h/x"});
  EXPECT_EQ(NamesBehind(": 'a' -> 'b'"), (Names{"a", "b"}));
  EXPECT_EQ(NamesBehind(", open '/h/x'"), Names{"/h/x"});
  EXPECT_EQ(NamesBehind(" @ rb_sysopen - /h/x (Errno::EACCES)"), Names{"/h/x"});
  EXPECT_EQ(NamesBehind(" '/h/x'"), Names{});
}

TEST(RefusedNamesTest, WhatCannotBeShownIsNoName) {
  EXPECT_EQ(Before("cat: '/h/\xff'"), Names{});
  EXPECT_EQ(Before("cat: '/h/\x01'"), Names{});
  EXPECT_EQ(Before("cat: /" + std::string(5000, 'x')), Names{});
}

}  // namespace
}  // namespace pa
