#include "supervisor/run/view_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pa {
namespace {

policy::PolicyPtr PolicyThatShows(const char* path) {
  auto policy = std::make_shared<policy::Policy>();
  policy->system = {{.path = path, .access = sandbox::kReadExecute}};
  policy->roots = {"/srv/work"};
  policy->home = "/home/ann";
  policy->caches.base = "/state/caches";
  return policy;
}

bool Holds(const sandbox::View& view, sandbox::MountKind kind, const std::string& target) {
  return std::ranges::any_of(view.mounts, [&](const sandbox::Mount& mount) {
    return mount.kind == kind && mount.target == target;
  });
}

TEST(ViewCache, ShowsWhatEveryCommandHasAndWhereItsOwnWillBe) {
  ViewCache views;
  const auto view = views.For(PolicyThatShows("/usr"));
  EXPECT_TRUE(Holds(*view, sandbox::MountKind::kReadOnly, "/usr"));
  for (const char* place : {"/srv/work", "/home/ann", "/state/caches", "/tmp", "/dev/shm"}) {
    EXPECT_TRUE(Holds(*view, sandbox::MountKind::kDirectory, place)) << place;
  }
}

TEST(ViewCache, TheSamePolicyHasTheSameViewAndAnotherItsOwn) {
  ViewCache views;
  const policy::PolicyPtr policy = PolicyThatShows("/usr");
  const auto first = views.For(policy);
  EXPECT_EQ(views.For(policy), first);
  EXPECT_NE(views.For(PolicyThatShows("/etc")), first);
}

}  // namespace
}  // namespace pa
