// Each value arrives as it was packed. PROJECT_ACTIONS_RECORD=DIRECTORY writes what is packed
// there, as seeds of tests/fuzz/janitor_answer_fuzz.cc.
#include "supervisor/guard/guard_fields.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

PathStamp Stamp(std::uint64_t inode, std::uint32_t type = S_IFREG) {
  return {.exists = true,
          .error = 0,
          .device = 1,
          .inode = inode,
          .mode = type | 0644,
          .owner = 2,
          .group = 3,
          .links = 4,
          .size = 5,
          .modified_ns = 6,
          .changed_ns = 7};
}

GuardedPath Guarded(const std::string& path) {
  auto image = std::make_shared<FileImage>();
  image->stamp = Stamp(8, S_IFDIR);
  image->settled = false;
  image->children["a"].content = "content";
  const auto holder =
      std::make_shared<const policy::Holder>(policy::Holder{"/p", Stamp(9, S_IFDIR), true});
  return {.path = {.path = path,
                   .kind = policy::ProtectedPath::Kind::kReadOnly,
                   .found = policy::ProtectedPath::Found::kOther,
                   .area = "/p",
                   .reason = "because",
                   .stamp = Stamp(10),
                   .holder = holder,
                   .repository = true,
                   .host = &policy::HostFiles().back(),
                   .source = policy::ProtectionSource::kPolicy},
          .image = image,
          .pin = nullptr,
          .saved = image,
          .saved_is_certain = true};
}

GuardedState State() {
  RepositoryCopy copy{.path = "/p/.git",
                      .pieces = {Guarded("/p/.git/HEAD")},
                      .left_out = "x",
                      .objects = 3,
                      .object_stamps = {{"/p/.git/objects", Stamp(11)}},
                      .broken_packs = {"/p/.git/objects/pack/a.pack"},
                      .tips = {{"abc", Stamp(12)}}};
  return {.paths = {Guarded("/p/.git")},
          .indexes = {{.path = "/p/.git/index",
                       .top = "/p",
                       .area = "/p",
                       .stamp = Stamp(13),
                       .shared = "/p/.git/sharedindex.1",
                       .shared_stamp = Stamp(14),
                       .links = {"sub"},
                       .settled = false}},
          .deciders = {Guarded("/p/.gitmodules")},
          .inputs = {{.path = "/p/x", .stamp = Stamp(15), .holder = nullptr}},
          .copies = {std::make_shared<const RepositoryCopy>(std::move(copy))},
          .audit_directory = "/p/log",
          .settled = false,
          .left_out = {"/q"},
          .within_read_only = {Guarded("/p/.git/config")},
          .open = {"/p/r/.git"}};
}

Restored Changes() {
  return {.changes = {{.path = "/p/a",
                       .kind = ChangeKind::kNewRepository,
                       .restored = true,
                       .kept = "/s/a",
                       .failure = "f",
                       .why = "w",
                       .repository = true}},
          .owed = {Guarded("/p/b")}};
}

// What was packed is packed again: a field that is left out would be lost on the way.
template <typename T>
void ExpectSame(const T& value, char kind, const std::string& name) {
  const std::string packed = Pack(value);
  T again{};
  Unpacker unpacker(packed);
  ASSERT_TRUE(unpacker(again) && unpacker.AtEnd()) << name;
  EXPECT_EQ(Pack(again), packed) << name;
  EXPECT_NE(Pack(T{}), packed) << name << ": nothing of it is packed";
  if (const char* seeds = getenv("PROJECT_ACTIONS_RECORD")) {
    testing::WriteText(std::string(seeds) + "/" + name, std::string(1, kind) + packed);
  }
}

TEST(GuardFields, ArriveAsTheyWere) {
  ExpectSame(ProtectedOr<GuardedState>(State()), 's', "state");
  ExpectSame(ProtectedOr<GuardedState>(std::unexpected(policy::ProtectionFailure(
                 Error("read", "/p/x", EACCES), policy::ProtectionFailure::Kind::kOutOfReach))),
             's', "failure");
  ExpectSame(Compared{.restored = Changes(), .again = State()}, 'c', "compared");
  ExpectSame(Changes().changes, 'j', "changes");
  ExpectSame(ReadTree{.directories = {{.path = "a",
                                       .stamp = Stamp(16),
                                       .settled = true,
                                       .readable = false,
                                       .closed = true,
                                       .whole = false,
                                       .found = {{"", ".git", DT_DIR}},
                                       .below = {"b"}}},
                      .deeper = "d",
                      .exceeded = "e"},
             'd', "tree");
  ExpectSame(RepositoryList{{.path = "/p/r/.git",
                             .kind = policy::RepositoryBelow::Kind::kBare,
                             .device = 1,
                             .inode = 2,
                             .born_ns = 3}},
             'r', "repositories");
  ExpectSame(Result<std::string>("text"), 't', "text");
  ExpectSame(SavedFile{.image = Guarded("/p/a").image, .certain = true}, 'f', "saved");
}

TEST(GuardFields, OrdersArriveToo) {
  const GuardQuery query{.directory = "/p",
                         .writable = {"/p"},
                         .places = {{"a", "b"}},
                         .unprotected = {"c"},
                         .roots = {"/r"},
                         .anchors = {{"/d", "e"}},
                         .audit_directory = "/f",
                         .home = "/h",
                         .config_home = "/h/.config",
                         .repositories = {{.path = "/p/r/.git"}},
                         .mounts = true,
                         .git_read_only = true};
  const std::string packed = Pack(Comparison{.state = State(),
                                             .query = query,
                                             .condemned = {{"/p/a", "/p"}},
                                             .record = {},
                                             .quarantine = "/q",
                                             .renew = true});
  Comparison again;
  ASSERT_TRUE(Unpacker(packed)(again));
  EXPECT_EQ(Pack(again), packed);
  EXPECT_EQ(again.query.config_home, "/h/.config");
  const ScanLimits limits{
      .directories = 1, .entries = 2, .bytes = 3, .depth = 4, .time = std::chrono::milliseconds(5)};
  ScanLimits read;
  ASSERT_TRUE(Unpacker(Pack(limits))(read));
  EXPECT_EQ(read.time, limits.time);
  EXPECT_EQ(read.depth, limits.depth);
}

// A line of the table that there is not, and enums beyond their last value.
TEST(GuardFields, WhatIsNoneIsRefused) {
  const policy::HostFile* host = nullptr;
  EXPECT_TRUE(Unpacker(Pack(std::int64_t{-1}))(host));
  EXPECT_FALSE(Unpacker(Pack(std::int64_t{-2}))(host));
  EXPECT_FALSE(Unpacker(Pack(std::int64_t{1'000'000}))(host));
  ChangeKind kind{};
  EXPECT_TRUE(Unpacker(Pack(ChangeKind::kNewRepository))(kind));
  EXPECT_FALSE(Unpacker(Pack(std::to_underlying(ChangeKind::kNewRepository) + 1))(kind));
}

}  // namespace
}  // namespace pa
