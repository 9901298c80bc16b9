#include "policy/diagnostic.h"

#include <gtest/gtest.h>

namespace pa::policy {
namespace {

TEST(Diagnostic, BeginsWithThePlace) {
  EXPECT_EQ(Diagnostic({"policy.yaml", 3, 5}, "unknown key").Format(),
            "policy.yaml:3:5: unknown key");
  EXPECT_EQ(Diagnostic({"--enable"}, "unknown tool").Format(), "--enable: unknown tool");
}

TEST(Diagnostic, IsOneLineOfUtf8WhateverItQuotes) {
  EXPECT_EQ(Diagnostic({"a\nb", 1, 1}, "x\x1b[31m\xff").Format(), "a?b:1:1: x?[31m\xef\xbf\xbd");
}

}  // namespace
}  // namespace pa::policy
