#include "supervisor/guard/protected_mounts.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using Kind = policy::ProtectedPath::Kind;
using Found = policy::ProtectedPath::Found;
using sandbox::MountKind;

GuardedPath Guarded(const std::string& path, Kind kind, Found found) {
  return {.path = {.path = path, .kind = kind, .found = found, .area = "/p", .reason = ""},
          .image = nullptr,
          .pin = nullptr};
}

TEST(ProtectedMounts, WhatIsThereIsPinnedOrReadOnly) {
  const GuardedState found{.paths = {Guarded("/p/.git", Kind::kPinned, Found::kDirectory),
                                     Guarded("/p/.git/config", Kind::kFile, Found::kFile),
                                     Guarded("/p/.git/hooks", Kind::kTree, Found::kDirectory),
                                     Guarded("/p/.git/modules", Kind::kNames, Found::kDirectory)},
                           .indexes = {}};
  const std::vector<sandbox::Mount> wanted = {
      {MountKind::kWritable, "/p/.git", "/p/.git"},
      {MountKind::kReadOnly, "/p/.git/config", "/p/.git/config"},
      {MountKind::kReadOnly, "/p/.git/hooks", "/p/.git/hooks"},
      {MountKind::kWritable, "/p/.git/modules", "/p/.git/modules"}};
  EXPECT_EQ(MountsOf(SealedPaths(found)), wanted);
}

TEST(ProtectedMounts, NothingIsMadeAndNoLinkFollowed) {
  const GuardedState found{.paths = {Guarded("/p/.git", Kind::kPinned, Found::kAbsent),
                                     Guarded("/p/commondir", Kind::kFile, Found::kAbsent),
                                     Guarded("/p/config", Kind::kFile, Found::kSymlink),
                                     Guarded("/p/hooks", Kind::kTree, Found::kSymlink),
                                     Guarded("/p/pipe", Kind::kFile, Found::kOther)},
                           .indexes = {}};
  EXPECT_TRUE(SealedPaths(found).empty());
}

TEST(ProtectedMounts, NothingIsWritableAgainInWhatIsReadOnly) {
  const GuardedState found{.paths = {Guarded("/p/ci", Kind::kTree, Found::kDirectory),
                                     Guarded("/p/ci/hooks", Kind::kPinned, Found::kDirectory),
                                     Guarded("/p/cix", Kind::kPinned, Found::kDirectory)},
                           .indexes = {}};
  const std::vector<sandbox::Mount> wanted = {{MountKind::kReadOnly, "/p/ci", "/p/ci"},
                                              {MountKind::kWritable, "/p/cix", "/p/cix"}};
  EXPECT_EQ(MountsOf(SealedPaths(found)), wanted);
}

TEST(ProtectedMounts, EachIsKnownByWhatProtectsIt) {
  GuardedState found;
  found.paths = {Guarded("/p/.git", Kind::kPinned, Found::kDirectory),
                 Guarded("/p/.git/hooks", Kind::kTree, Found::kDirectory)};
  found.paths[1].path.reason = "git hooks";
  const std::vector<SealedPath> wanted = {{"/p/.git", false, ""},
                                          {"/p/.git/hooks", true, "git hooks"}};
  EXPECT_EQ(SealedPaths(found), wanted);
}

TEST(ProtectedMounts, ThereIsAnEndToIt) {
  GuardedState found;
  for (int i = 0; i < 1000; ++i) {
    found.paths.push_back(Guarded("/p/" + std::to_string(1000 + i), Kind::kFile, Found::kFile));
  }
  EXPECT_EQ(SealedPaths(found).size(), kMaxProtectedMounts);
}

}  // namespace
}  // namespace pa
