#include "supervisor/guard/repository_copy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using policy::ProtectedPath;

class RepositoryCopyTest : public ::testing::Test {
 protected:
  RepositoryCopyTest() {
    Git("init -q -b main .");
    testing::WriteText(root_ / "file", "text\n");
    Git("add file");
    Commit();
    Git("tag v1");
  }
  int Git(const std::string& arguments) const {
    return testing::RunProgram({.command = {"sh", "-c",
                                            "git -c user.name=a -c user.email=b -C '" +
                                                root_.string() + "' " + arguments},
                                .environment = {"PATH=/usr/bin:/bin", "HOME=" + root_.string()}})
        .exit_code;
  }
  void Commit() const { ASSERT_EQ(Git("commit -q --allow-empty -m next"), 0); }
  std::string GitDirectory() const { return root_ / ".git"; }
  std::optional<RepositoryCopy> CopyOf(const std::string& path) const {
    ImageBudget budget;
    return CopyRepository(path, root_, budget).value();
  }
  RepositoryCopy Copy() const { return CopyOf(GitDirectory()).value(); }
  RepositoryCopy SettledCopy() const {
    RepositoryCopy copy = Copy();
    for (int i = 0; i < 1000 && !IsCurrent(copy); ++i) {  // what was written just now is never sure
      usleep(10'000);
      copy = Copy();
    }
    return copy;
  }
  static fs::path OnlyIn(const fs::path& directory, std::string_view ending) {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (entry.path().native().ends_with(ending)) found = entry.path();
    }
    return found;
  }
  static bool IsWhole(const RepositoryCopy& copy) { return IsIntact(copy).value(); }
  ProtectedChange Restore(const RepositoryCopy& copy) const {
    return RestoreRepository(copy, {}, root_ / "displaced");
  }

  testing::TempDir dir_;
  const fs::path root_ = fs::canonical(dir_.path());
};

TEST_F(RepositoryCopyTest, WhatIsNoRepositoryHasNone) {
  EXPECT_FALSE(CopyOf(root_));
  EXPECT_FALSE(CopyOf(root_ / "absent"));
  EXPECT_TRUE(CopyOf(GitDirectory()));
}

TEST_F(RepositoryCopyTest, WhatGitDoesLeavesItIntact) {
  const RepositoryCopy copy = Copy();
  EXPECT_TRUE(IsWhole(copy));
  Commit();
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_TRUE(IsWhole(copy)) << "a commit";
  Git("checkout -q -b other");
  Git("branch -q -D main");
  EXPECT_TRUE(IsWhole(copy)) << "a branch less";
  Git("gc -q --prune=now");
  EXPECT_TRUE(IsWhole(copy)) << "all packed";
  Git("tag -d v1");
  Git("checkout -q --orphan new");
  Git("branch -q -D other");
  EXPECT_TRUE(IsWhole(copy)) << "on the way to another history";
}

TEST_F(RepositoryCopyTest, WithoutItsPartsItIsNone) {
  for (const char* part : {"HEAD", "objects", "refs", ""}) {
    const RepositoryCopy copy = Copy();
    fs::rename(root_ / ".git" / part, root_ / "aside");
    EXPECT_FALSE(IsWhole(copy)) << part;
    if (*part == '\0') fs::remove_all(root_ / ".git");
    fs::rename(root_ / "aside", root_ / ".git" / part);
    EXPECT_TRUE(IsWhole(copy)) << part;
  }
}

// Opened, each kind has an error of its own.
TEST_F(RepositoryCopyTest, NorWithSomethingElseInItsPlace) {
  const std::string head = root_ / ".git/HEAD";
  const RepositoryCopy copy = Copy();
  fs::rename(head, root_ / "aside");
  for (const int type : {S_IFSOCK, S_IFIFO, S_IFREG}) {
    ASSERT_EQ(mknod(head.c_str(), static_cast<mode_t>(type | 0600), 0), 0);
    EXPECT_FALSE(IsWhole(copy)) << type;
    fs::remove(head);
  }
  fs::create_directory(head);
  EXPECT_FALSE(IsWhole(copy));
}

// git itself is asked, too: what it takes for a repository is one.
TEST_F(RepositoryCopyTest, AHeadIsOneIfGitTakesIt) {
  const fs::path head = root_ / ".git/HEAD";
  const RepositoryCopy copy = Copy();
  const std::string commit = copy.tips.front().object;
  for (const std::string& text :
       {std::string("ref: refs/heads/main\n"), std::string("ref:refs/heads/main\n"),
        std::string("ref: \t refs/heads/main\n"), commit + "\n",
        std::string("ref: x/refs/heads/y\n"), std::string("ref: main\n"), std::string("ref:\n"),
        std::string("refs/heads/main\n")}) {
    testing::WriteText(head, text);
    EXPECT_EQ(IsWhole(copy), Git("rev-parse --git-dir >/dev/null 2>&1") == 0) << text;
  }
  for (const char* target :
       {"refs/heads/main", "refs/heads/none", "nowhere", "x/refs/heads/main"}) {
    fs::remove(head);
    fs::create_symlink(target, head);
    EXPECT_EQ(IsWhole(copy), Git("rev-parse --git-dir >/dev/null 2>&1") == 0) << target;
  }
  EXPECT_FALSE(IsWhole(copy));
  EXPECT_TRUE(Restore(copy).restored);
  EXPECT_EQ(testing::ReadText(head), "ref: refs/heads/main\n");
  EXPECT_FALSE(fs::is_symlink(head));
}

// Root may enter any directory, and git as root takes it for a repository.
TEST_F(RepositoryCopyTest, NorWithADirectoryThatCannotBeEntered) {
  for (const char* part : {"refs", "objects", ""}) {
    const fs::path directory = root_ / ".git" / part;
    const RepositoryCopy copy = Copy();
    fs::permissions(directory, fs::perms::none);
    EXPECT_EQ(IsWhole(copy), geteuid() == 0) << part;
    EXPECT_EQ(Git("rev-parse --git-dir >/dev/null 2>&1") == 0, geteuid() == 0) << part;
    EXPECT_TRUE(Restore(copy).restored) << part;
    EXPECT_TRUE(IsWhole(copy)) << part;
    EXPECT_NE(fs::status(directory).permissions() & fs::perms::owner_exec, fs::perms::none) << part;
  }
}

TEST_F(RepositoryCopyTest, NorWithoutWhatItsReferencesName) {
  for (const bool packed : {false, true}) {
    if (packed) Git("gc -q");
    const RepositoryCopy copy = Copy();
    ASSERT_FALSE(copy.tips.empty());
    const std::string& tip = copy.tips.front().object;
    const fs::path loose = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
    const fs::path there = packed ? root_ / ".git/objects/pack" : loose;
    Git("hash-object -w --stdin </dev/null");  // there are objects left
    fs::rename(there, root_ / "aside");
    EXPECT_FALSE(IsWhole(copy)) << packed;
    fs::rename(root_ / "aside", there);
    EXPECT_TRUE(IsWhole(copy)) << packed;
  }
}

// Neither leaves a trace in the directories above.
TEST_F(RepositoryCopyTest, ALooseCommitThatIsRemovedOrOverwrittenIsSeen) {
  const RepositoryCopy copy = SettledCopy();
  ASSERT_TRUE(IsCurrent(copy));
  const std::string& tip = copy.tips.front().object;
  const fs::path loose = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
  fs::rename(loose, root_ / "aside");
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_FALSE(IsWhole(copy));
  std::ofstream(loose).close();
  EXPECT_FALSE(IsCurrent(copy));
  EXPECT_FALSE(IsWhole(copy));
  testing::WriteText(loose, "tree 0123456789");
  EXPECT_FALSE(IsWhole(copy));
  const ProtectedChange told = Restore(copy);
  EXPECT_FALSE(told.restored);
  EXPECT_NE(told.failure.find("the commit " + tip), std::string::npos) << told.failure;
  fs::rename(root_ / "aside", loose);
  EXPECT_TRUE(IsWhole(copy));
  EXPECT_TRUE(Restore(copy).restored);
}

// A pack is never written again, so the directories above do not tell either.
TEST_F(RepositoryCopyTest, APackThatIsCutOffOrOverwrittenIsSeen) {
  Git("gc -q");
  Commit();
  Git("tag -d v1 >/dev/null");
  Git("pack-refs --all");  // what references name is loose: what the pack holds is older
  for (const char* ending : {".pack", ".idx"}) {
    const RepositoryCopy copy = SettledCopy();
    ASSERT_TRUE(IsCurrent(copy));
    EXPECT_TRUE(copy.broken_packs.empty());
    const std::string gone = "3 of " + std::to_string(copy.objects) + " objects are gone";
    const fs::path file = OnlyIn(root_ / ".git/objects/pack", ending);
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    const std::string content = testing::ReadText(file);
    std::string garbled_end = content;
    garbled_end.back() = static_cast<char>(garbled_end.back() ^ 1);
    std::string garbled_sum = content;  // of the index: that of the pack, which it names
    char& last = garbled_sum[content.size() - 21];
    last = static_cast<char>(last ^ 1);
    const bool is_pack = ending == std::string_view(".pack");
    for (const std::string& now :
         {std::string(), content.substr(0, content.size() / 2), std::string(content.size(), 'x'),
          is_pack ? garbled_end : garbled_sum}) {
      testing::WriteText(file, now);
      EXPECT_FALSE(IsCurrent(copy)) << ending << now.size();
      EXPECT_FALSE(IsWhole(copy)) << ending << now.size();
      const ProtectedChange told = Restore(copy);
      EXPECT_FALSE(told.restored) << ending;
      EXPECT_TRUE(told.failure.starts_with(gone)) << told.failure;
    }
    // With as many new objects, the number says nothing.
    for (int i = 0; i < 4; ++i) {
      testing::WriteText(root_ / "new", ending + std::to_string(i));
      ASSERT_EQ(Git("hash-object -w new >/dev/null"), 0);
    }
    EXPECT_FALSE(IsWhole(copy)) << ending;
    EXPECT_NE(Restore(copy).failure.find("is damaged"), std::string::npos) << ending;
    testing::WriteText(file, content);
    EXPECT_TRUE(IsWhole(copy)) << ending;
    EXPECT_TRUE(Restore(copy).restored) << ending;
  }
}

// git passes over an index without its pack: a gc that is killed may leave one.
TEST_F(RepositoryCopyTest, AnIndexWithoutAPackIsNone) {
  Git("gc -q");
  const fs::path index = OnlyIn(root_ / ".git/objects/pack", ".idx");
  Commit();
  const RepositoryCopy copy = Copy();
  fs::copy_file(index,
                root_ / ".git/objects/pack/pack-0123456789012345678901234567890123456789.idx");
  EXPECT_EQ(Git("fsck >/dev/null 2>&1"), 0);
  EXPECT_TRUE(IsWhole(copy));
  EXPECT_EQ(Copy().objects, copy.objects);
}

// Then no command did it.
TEST_F(RepositoryCopyTest, APackThatWasDamagedBeforeIsNobodysFault) {
  Git("gc -q");
  Commit();
  const fs::path pack = OnlyIn(root_ / ".git/objects/pack", ".pack");
  fs::permissions(pack, fs::perms::owner_write, fs::perm_options::add);
  testing::WriteText(pack, "");
  const RepositoryCopy copy = Copy();
  EXPECT_EQ(copy.broken_packs.size(), 1U);
  EXPECT_TRUE(IsWhole(copy));
}

// Made by hand, as git 2.45 lays them out: older ones cannot.
TEST_F(RepositoryCopyTest, ReferencesInTablesComeBackToo) {
  const fs::path tables = root_ / ".git/reftable";
  fs::create_directory(tables);
  testing::WriteText(tables / "0x01-0x02-00ff.ref", "REFT\1");
  testing::WriteText(tables / "tables.list", "0x01-0x02-00ff.ref\n");
  fs::remove_all(root_ / ".git/refs/heads");
  testing::WriteText(root_ / ".git/refs/heads", "this repository uses the reftable format\n");
  testing::WriteText(root_ / ".git/HEAD", "ref: refs/heads/.invalid\n");
  const RepositoryCopy copy = Copy();
  EXPECT_TRUE(IsWhole(copy));
  testing::WriteText(tables / "tables.list", "0x01-0x02-00ff.ref\n0x03-0x03-00aa.ref\n");
  EXPECT_TRUE(IsWhole(copy)) << "git writes in them";
  for (const fs::path& gone : {tables / "tables.list", tables}) {
    fs::remove_all(gone);
    EXPECT_FALSE(IsWhole(copy)) << gone;
    const ProtectedChange told = Restore(copy);
    EXPECT_TRUE(told.restored) << told.failure;
    EXPECT_EQ(testing::ReadText(tables / "tables.list"), "0x01-0x02-00ff.ref\n") << gone;
    EXPECT_EQ(testing::ReadText(tables / "0x01-0x02-00ff.ref"), "REFT\1") << gone;
    EXPECT_TRUE(IsWhole(copy)) << gone;
  }
}

// With more references than are looked for.
TEST_F(RepositoryCopyTest, TheCommitThatHeadStandsForComesFirst) {
  for (int i = 0; i < 12; ++i) {
    Commit();
    Git("branch -q a" + std::to_string(i));
  }
  Commit();
  for (const char* how : {"loose", "packed", "detached"}) {
    if (how == std::string_view("packed")) Git("pack-refs --all");
    if (how == std::string_view("detached")) Git("checkout -q --detach");
    const RepositoryCopy copy = Copy();
    const std::string packed = testing::ReadText(root_ / ".git/packed-refs");
    const std::string tip = copy.tips.front().object;
    EXPECT_EQ(Git("merge-base --is-ancestor HEAD " + tip), 0) << how;
    const fs::path object = root_ / ".git/objects" / tip.substr(0, 2) / tip.substr(2);
    fs::rename(object, root_ / "aside");
    EXPECT_FALSE(IsWhole(copy)) << how;
    fs::rename(root_ / "aside", object);
    EXPECT_TRUE(IsWhole(copy)) << how;
  }
}

// To restore what is there would be to undo what the command did.
TEST_F(RepositoryCopyTest, WantOfDescriptorsIsNoDamage) {
  const RepositoryCopy copy = Copy();
  Commit();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int free = dup(0);
  ASSERT_GE(free, 0);
  close(free);
  for (rlim_t more = 0; more < 3; ++more) {
    const rlimit few{.rlim_cur = static_cast<rlim_t>(free) + more, .rlim_max = limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const Result<bool> intact = IsIntact(copy);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (intact) {
      EXPECT_TRUE(*intact) << more;
    } else {
      EXPECT_EQ(intact.error().sys_errno, EMFILE) << more;
    }
    EXPECT_TRUE(more != 0 || !intact) << "none at all";
  }
  EXPECT_TRUE(IsWhole(copy));
}

TEST_F(RepositoryCopyTest, AllButTheObjectsComesBack) {
  const RepositoryCopy copy = Copy();
  EXPECT_EQ(copy.objects, 3U) << "a commit, a tree, a file";
  for (const auto& entry : fs::directory_iterator(root_ / ".git")) fs::remove_all(entry);
  const ProtectedChange change = Restore(copy);
  EXPECT_TRUE(change.repository);
  EXPECT_FALSE(change.restored);
  EXPECT_TRUE(change.failure.starts_with("3 of 3 objects are gone")) << change.failure;
  EXPECT_EQ(testing::ReadText(root_ / ".git/HEAD"), "ref: refs/heads/main\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/heads/main"), copy.tips.front().object + "\n");
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/tags/v1"), copy.tips.front().object + "\n");
  EXPECT_TRUE(fs::is_directory(root_ / ".git/objects"));
  EXPECT_EQ(Git("symbolic-ref HEAD"), 0) << "git takes it for a repository";
}

TEST_F(RepositoryCopyTest, WhereTheObjectsAreThereNothingIsGone) {
  const RepositoryCopy copy = Copy();
  testing::WriteText(root_ / ".git/HEAD", "nothing\n");
  fs::remove_all(root_ / ".git/refs/heads");
  fs::remove_all(root_ / ".git/refs/tags");
  const ProtectedChange change = Restore(copy);
  EXPECT_TRUE(change.restored) << change.failure;
  EXPECT_TRUE(IsWhole(copy));
  EXPECT_EQ(Git("fsck"), 0);
  EXPECT_EQ(Git("rev-parse v1 main"), 0);
}

// An index of more than is held: it is gone, and nobody shall take it for restored.
TEST_F(RepositoryCopyTest, WhatWasTooMuchIsNamed) {
  const RepositoryCopy copy = Copy();
  ProtectedPath index{.path = GitDirectory() + "/index",
                      .kind = ProtectedPath::Kind::kFile,
                      .found = ProtectedPath::Found::kOther,
                      .area = root_,
                      .reason = "git repository"};
  const std::vector<GuardedPath> kept = {{index, std::make_shared<const FileImage>(), nullptr}};
  fs::remove(root_ / ".git/HEAD");
  EXPECT_TRUE(RestoreRepository(copy, kept, root_ / "displaced").why.ends_with("as they were"));
  fs::remove(root_ / ".git/HEAD");
  fs::remove(root_ / ".git/index");
  const std::string why = RestoreRepository(copy, kept, root_ / "displaced").why;
  EXPECT_TRUE(why.ends_with("but for what was too much: .git/index")) << why;
}

TEST_F(RepositoryCopyTest, ACommandsOwnReferencesStay) {
  const RepositoryCopy copy = Copy();
  Commit();
  const std::string tip = testing::ReadText(root_ / ".git/refs/heads/main");
  fs::remove(root_ / ".git/HEAD");
  EXPECT_TRUE(Restore(copy).restored);
  EXPECT_EQ(testing::ReadText(root_ / ".git/refs/heads/main"), tip);
}

}  // namespace
}  // namespace pa
