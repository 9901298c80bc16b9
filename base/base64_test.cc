#include "base/base64.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

// RFC 4648, section 10.
TEST(Base64, KnownAnswers) {
  EXPECT_EQ(FromBase64(""), "");
  EXPECT_EQ(FromBase64("Zg=="), "f");
  EXPECT_EQ(FromBase64("Zm9vYmE="), "fooba");
  EXPECT_EQ(FromBase64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(FromBase64("//79AA=="), std::string("\xff\xfe\xfd\0", 4));
}

TEST(Base64, ThereAndBack) {
  EXPECT_EQ(ToBase64(""), "");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToBase64("fo"), "Zm8=");
  EXPECT_EQ(ToBase64("foo"), "Zm9v");
  EXPECT_EQ(ToBase64("foob"), "Zm9vYg==");
  EXPECT_EQ(ToBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(ToBase64(std::string("\xff\xfe\xfd\0", 4)), "//79AA==");
}

TEST(Base64, WhatIsNone) {
  for (const char* text : {"Zg=", "Z", "Zm9v!", "Zg==Zg=="})
    EXPECT_EQ(FromBase64(text), std::nullopt);
}

}  // namespace
}  // namespace pa
