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

// RFC 4648, 10, and RFC 7515, C.
TEST(Base64, OfUrlsHasNoPaddingAndOneTextForEachValue) {
  for (const auto& [text, bytes] : {std::pair{"", ""},
                                    {"Zg", "f"},
                                    {"Zm8", "fo"},
                                    {"Zm9v", "foo"},
                                    {"Zm9vYg", "foob"},
                                    {"-_-_", "\xfb\xff\xbf"}}) {
    EXPECT_EQ(FromBase64Url(text), bytes) << text;
  }
  EXPECT_EQ(FromBase64Url("A-z_4ME"), std::string("\x03\xec\xff\xe0\xc1"));
  for (const char* text :
       {"Z", "Zg==", "Zm9vY", "Zm 9v", "Zm9v\n", "+/+/", "Zh", "Zm9", "Zm8=", "."}) {
    EXPECT_EQ(FromBase64Url(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace pa
