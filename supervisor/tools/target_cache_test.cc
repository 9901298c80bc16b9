#include "supervisor/tools/target_cache.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TargetKey Key(const std::string& directory = "/p") {
  static const auto policy = std::make_shared<const policy::Policy>();
  return {.directory = directory,
          .directory_device = 1,
          .directory_inode = 2,
          .makefile = "Makefile",
          .stamp = {.device = 1, .inode = 3, .size = 4, .modified_ns = 5, .changed_ns = 6},
          .make = "/usr/bin/make",
          .make_stamp = {.device = 1, .inode = 7, .size = 8, .modified_ns = 9, .changed_ns = 10},
          .policy = policy,
          .environment = {{"PATH", "/usr/bin"}}};
}

KnownTargets Known(const std::string& name, const std::string& text = "") {
  return {Sha256Of(text), {.makefile = "Makefile", .targets = {{name, ""}}}};
}

TargetList List(std::vector<std::string> names) {
  TargetList list{.makefile = "Makefile"};
  for (std::string& name : names) list.targets.push_back({std::move(name), ""});
  return list;
}

TEST(TargetCacheTest, FindsWhatWasStored) {
  TargetCache cache;
  EXPECT_EQ(cache.Find(Key()), nullptr);
  cache.Store(Key(), Known("a", "text"));
  ASSERT_NE(cache.Find(Key()), nullptr);
  EXPECT_EQ(cache.Find(Key())->list, List({"a"}));
  EXPECT_EQ(cache.Find(Key())->digest, Sha256Of("text"));
}

TEST(TargetCacheTest, EveryPartOfTheKeyCounts) {
  TargetCache cache;
  cache.Store(Key(), Known("a"));
  const auto misses = [&](auto change) {
    TargetKey key = Key();
    change(key);
    return cache.Find(key) == nullptr;
  };
  EXPECT_TRUE(misses([](TargetKey& key) { key.directory = "/q"; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.directory_inode; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.directory_device; }));
  EXPECT_TRUE(misses([](TargetKey& key) { key.makefile = "makefile"; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.stamp.inode; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.stamp.size; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.stamp.modified_ns; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.stamp.changed_ns; }));
  EXPECT_TRUE(misses([](TargetKey& key) { key.make = "/opt/make"; }));
  EXPECT_TRUE(misses([](TargetKey& key) { ++key.make_stamp.inode; }));
  EXPECT_TRUE(misses([](TargetKey& key) { key.policy = std::make_shared<policy::Policy>(); }));
  EXPECT_TRUE(misses([](TargetKey& key) { key.environment["X"] = "1"; }));
  EXPECT_FALSE(misses([](TargetKey&) {}));
}

TEST(TargetCacheTest, IsBoundedAndKeepsTheLatestUsed) {
  TargetCache cache;
  for (std::size_t i = 0; i < TargetCache::kMaxEntries; ++i) {
    cache.Store(Key("/" + std::to_string(i)), Known("a"));
  }
  EXPECT_NE(cache.Find(Key("/0")), nullptr);
  cache.Store(Key("/new"), Known("a"));
  EXPECT_NE(cache.Find(Key("/0")), nullptr);
  EXPECT_EQ(cache.Find(Key("/1")), nullptr);
}

TEST(TargetCacheTest, ADirectoryHasOneEntry) {
  TargetCache cache;
  TargetKey old = Key();
  cache.Store(old, Known("a"));
  TargetKey changed = Key();
  ++changed.stamp.size;
  cache.Store(changed, Known("b"));
  EXPECT_EQ(cache.Find(old), nullptr);
  EXPECT_EQ(cache.Find(changed)->list, List({"b"}));
}

TEST(TargetCacheTest, TellsOfAChangeOnce) {
  int changes = 0;
  TargetCache cache([&] { ++changes; });
  cache.Saw("/p", List({"a"}));
  EXPECT_EQ(changes, 0);  // nobody knew anything before
  cache.Saw("/p", List({"a"}));
  cache.Saw("/q", List({"b"}));
  EXPECT_EQ(changes, 0);
  cache.Saw("/p", List({"a", "b"}));
  EXPECT_EQ(changes, 1);
  cache.Saw("/p", List({"a", "b"}));
  EXPECT_EQ(changes, 1);
}

}  // namespace
}  // namespace pa
