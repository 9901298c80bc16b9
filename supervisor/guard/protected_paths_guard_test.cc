// What overlapping commands see of each other, and what is remembered. What is done about a change:
// restorer_test.cc.
#include "supervisor/guard/protected_paths_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "policy/load.h"
#include "supervisor/loop/pause.h"
#include "supervisor/loop/within_memory.h"
#include "tests/support/await.h"
#include "tests/support/failing_new.h"
#include "tests/support/few_descriptors.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_janitor.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

// Does nothing that may write in `held` before that is another directory.
class HoldingJanitor : public testing::ThreadJanitor {
 public:
  explicit HoldingJanitor(uv_loop_t* loop) : ThreadJanitor(loop), loop_(loop) {}
  Task<Result<std::string>> Do(JanitorOrder order) override {
    if (fails) co_return std::unexpected(Error("janitor", "it was killed", EPIPE));
    while (std::ranges::find(order.write, held) != order.write.end()) {
      Task<bool> pause = Pause(loop_, std::chrono::milliseconds(1));
      [[maybe_unused]] const bool over = co_await pause;
    }
    Task<Result<std::string>> task = ThreadJanitor::Do(std::move(order));
    Result<std::string> answer = co_await task;
    co_return answer;
  }
  std::string held;
  bool fails = false;

 private:
  uv_loop_t* loop_;
};

class ProtectedPathsGuardTest : public ::testing::Test {
 protected:
  ProtectedPathsGuardTest() {
    uv_loop_init(&loop_);
    for (const char* name : {"HEAD", "config", "hooks/pre-commit"}) {
      testing::WriteText(root_ / ".git" / name, "original\n");
    }
    fs::create_directories(root_ / "sub");
    fs::create_directories(base_ / "home");
    policy::PolicySources sources;
    sources.administrator_file = "/nonexistent";
    sources.roots = {root_};
    sources.home = base_ / "home";
    const policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
    auto policy = std::make_shared<policy::Policy>(*loaded.policy);
    policy->enable_all = true;
    policy_ = policy;
    Settle();
  }
  ~ProtectedPathsGuardTest() override { EXPECT_EQ(uv_loop_close(&loop_), 0); }
  static void Settle() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

  Result<ProtectedPathsGuard::Watch> TryBegin(const std::string& directory = "",
                                              policy::Purpose purpose = policy::Purpose::kBuild) {
    auto where = policy::ValidateWorkingDirectory(*policy_, root_ / directory);
    return Await(guard_.Begin(*where, AllowedIn(*where, purpose), policy_));
  }
  policy::Allow AllowedIn(const policy::WorkingDirectory& where,
                          policy::Purpose purpose = policy::Purpose::kBuild) {
    const auto decision = policy::Decide(*policy_, {.tool = "make", .directory = &where});
    return std::get<policy::Permission>(decision).For({.purpose = purpose, .extra = extra_});
  }
  template <typename T>
  T Await(Task<T> task) {
    return testing::Await(loop_, std::move(task));
  }
  std::vector<ProtectedChange> End(ProtectedPathsGuard::Watch watch) {
    return Await(guard_.End(std::move(watch)));
  }
  ProtectedPathsGuard::Watch Begin(const std::string& directory = "") {
    Result<ProtectedPathsGuard::Watch> watch = TryBegin(directory);
    EXPECT_TRUE(watch.has_value()) << watch.error().Message();
    return watch.value_or(nullptr);
  }
  // What it took over from the other one has stamps that prove nothing to it.
  ProtectedPathsGuard::Watch BeginBesideAnother() {
    extra_ = {{base_ / "home", sandbox::kReadWrite, "another key"}};
    const auto other = Begin();
    extra_.clear();
    auto watch = Begin();
    EXPECT_TRUE(End(other).empty());
    return watch;
  }
  void Write(const std::string& name, std::string_view text) {
    testing::WriteText(root_ / name, text);
  }
  std::string Config() const { return testing::ReadText(root_ / ".git/config"); }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const fs::path root_ = base_ / "root";
  policy::PolicyPtr policy_;
  std::vector<sandbox::PathGrant> extra_;
  uv_loop_t loop_;
  HoldingJanitor janitor_{&loop_};
  ProtectedPathsGuard guard_{&loop_, janitor_, base_ / "state"};
};

TEST_F(ProtectedPathsGuardTest, WhatIsFreeIsNoChange) {
  const auto watch = Begin();
  for (const char* name : {"made", ".git/HEAD", ".git/objects/ab/cd", ".git/x"}) {
    Write(name, "x");
  }
  EXPECT_TRUE(End(watch).empty());
  EXPECT_FALSE(fs::exists(base_ / "state"));
}

TEST_F(ProtectedPathsGuardTest, ASlowComparisonHoldsUpNobodyElse) {
  fs::create_directories(root_ / "other");
  const auto slow = Begin("sub");
  const auto quick = Begin("other");
  Write("sub/.mcp.json", "{}");
  Write("other/.mcp.json", "{}");
  janitor_.held = root_ / "sub";
  std::optional<std::vector<ProtectedChange>> ended;
  Detach(guard_.End(slow), [&](std::vector<ProtectedChange> changes) { ended = changes; });
  EXPECT_EQ(End(quick).size(), 1u);
  EXPECT_FALSE(fs::exists(root_ / "other/.mcp.json"));
  EXPECT_FALSE(ended);
  janitor_.held.clear();
  testing::RunUntil(&loop_, [&] { return ended.has_value(); });
  EXPECT_EQ(ended->size(), 1u);
  EXPECT_FALSE(fs::exists(root_ / "sub/.mcp.json"));
}

// Nobody knows what became of it, so nothing begins there before it was put back.
TEST_F(ProtectedPathsGuardTest, WithoutAJanitorNothingRunsAndNothingIsForgotten) {
  const auto watch = Begin();
  Write(".git/config", "evil\n");
  janitor_.fails = true;
  const auto changes = End(watch);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].kind, ChangeKind::kNotCompared);
  EXPECT_FALSE(TryBegin());
  EXPECT_EQ(WithoutJanitor(Error("janitor", "it was killed", EPIPE)).kind,
            policy::ProtectionFailure::Kind::kNobody);
  janitor_.fails = false;
  const auto next = Begin();
  EXPECT_EQ(Config(), "original\n");
  const auto late = End(next);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].path, root_ / ".git/config");
}

TEST_F(ProtectedPathsGuardTest, AChangeIsUndoneAndToldOnce) {
  const auto watch = Begin();
  Write(".git/config", "evil\n");
  const auto changes = End(watch);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, root_ / ".git/config");
  EXPECT_EQ(changes[0].kind, ChangeKind::kChanged);
  EXPECT_TRUE(changes[0].restored);
  EXPECT_EQ(testing::ReadText(changes[0].kept), "evil\n");
  EXPECT_EQ(Config(), "original\n");
  EXPECT_TRUE(End(Begin()).empty());
}

// A home that is the project: a symlink of the agent's would say where the server makes
// directories.
TEST_F(ProtectedPathsGuardTest, NothingIsKeptWhereCommandsCanWrite) {
  const fs::path state = base_ / "state/project-actions";
  fs::create_directories(state);
  fs::create_directory(base_ / "outside");
  fs::create_directory_symlink(base_ / "outside", state / "displaced");
  auto policy = std::make_shared<policy::Policy>(*policy_);
  policy->roots.push_back(base_ / "state");
  policy_ = policy;
  const auto watch = Begin();
  Write(".git/config", "evil\n");
  const auto changes = End(watch);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].restored);
  EXPECT_EQ(Config(), "original\n");
  EXPECT_TRUE(fs::path(changes[0].kept).parent_path() == root_) << changes[0].kept;
  EXPECT_EQ(testing::ReadText(changes[0].kept), "evil\n");
  EXPECT_TRUE(fs::is_empty(base_ / "outside"));
}

TEST_F(ProtectedPathsGuardTest, WhatCannotWriteIsNotWatched) {
  EXPECT_EQ(TryBegin("", policy::Purpose::kInspect).value(), nullptr);
  EXPECT_TRUE(End(nullptr).empty());
}

TEST_F(ProtectedPathsGuardTest, WhatWasChangedBetweenCommandsIsTheUsers) {
  EXPECT_TRUE(End(Begin()).empty());
  Write(".git/config", "the user's\n");
  const auto watch = Begin();
  EXPECT_TRUE(End(watch).empty());
  EXPECT_EQ(Config(), "the user's\n");
}

// A directory that was made between commands: what comes in it moves no directory that was there at
// first.
TEST_F(ProtectedPathsGuardTest, WhatComesInADirectoryThatCameLaterIsSeen) {
  EXPECT_TRUE(End(Begin()).empty());
  fs::create_directory(root_ / ".claude");
  for (int round = 0; round < 3; ++round) {
    Settle();
    const auto watch = Begin();
    EXPECT_TRUE(End(watch).empty()) << "nothing was changed";
    const auto next = Begin();
    Write(".claude/settings.json", "{}");
    const auto changes = End(next);
    ASSERT_EQ(changes.size(), 1u) << round;
    EXPECT_EQ(changes[0].path, root_ / ".claude/settings.json");
    EXPECT_TRUE(changes[0].restored);
  }
}

TEST_F(ProtectedPathsGuardTest, WhatComesWhereABuildWritesIsSeen) {
  for (int round = 0; round < 3; ++round) {
    const auto build = Begin();
    Write("built" + std::to_string(round), "");
    EXPECT_TRUE(End(build).empty());
    Settle();
    EXPECT_TRUE(End(Begin()).empty());
    const auto watch = Begin();
    Write(".mcp.json", "{}");
    const auto changes = End(watch);
    ASSERT_EQ(changes.size(), 1u) << round;
    EXPECT_EQ(changes[0].path, root_ / ".mcp.json");
  }
}

TEST_F(ProtectedPathsGuardTest, TheSameContentWrittenAgainIsNoChange) {
  const auto watch = Begin();
  testing::WriteText(root_ / ".git/config.new", "original\n");
  fs::permissions(root_ / ".git/config.new", fs::status(root_ / ".git/config").permissions());
  fs::rename(root_ / ".git/config.new", root_ / ".git/config");
  EXPECT_TRUE(End(watch).empty());
}

TEST_F(ProtectedPathsGuardTest, WithinOneTickOfTheClockContentDecides) {
  Write(".git/config", "young....\n");
  const auto watch = Begin();
  Write(".git/config", "as young.\n");
  EXPECT_EQ(End(watch).size(), 1u);
  EXPECT_EQ(Config(), "young....\n");
}

// The second would otherwise take the first one's work for what was before, and put it back.
TEST_F(ProtectedPathsGuardTest, WhoeverBeginsLaterTakesNothingForGranted) {
  for (const char* directory : {"", "sub"}) {
    extra_.clear();
    const auto first = Begin();
    Write(".git/config", "evil\n");
    Write(".git/hooks/evil", "evil\n");
    Write("sub/.git/config", "evil\n");
    // As git_add has it from a directory below.
    if (*directory != '\0') extra_ = {{root_ / ".git", sandbox::kReadWrite, "git repository"}};
    const auto second = Begin(directory);
    EXPECT_EQ(End(first).size(), 2u);
    EXPECT_EQ(Config(), "original\n");
    End(second);
    EXPECT_EQ(Config(), "original\n") << directory;
    EXPECT_FALSE(fs::exists(root_ / ".git/hooks/evil"));
    fs::remove_all(root_ / "sub/.git");
  }
}

TEST_F(ProtectedPathsGuardTest, WhatTheFirstHidTheSecondProtectsAllTheSame) {
  Write(".git/config", "[core]\nhooksPath = h\n");
  Write("h/pre-commit", "original\n");
  Settle();
  const auto first = Begin();
  Write(".git/config", "[core]\n");
  extra_ = {{base_ / "home", sandbox::kReadWrite, "another key"}};
  const auto second = Begin();
  EXPECT_EQ(End(first).size(), 1u);
  Write("h/pre-commit", "evil\n");
  EXPECT_EQ(End(second).size(), 1u);
  EXPECT_EQ(testing::ReadText(root_ / "h/pre-commit"), "original\n");
}

TEST_F(ProtectedPathsGuardTest, WhoeverEndsFirstUndoesItAndTheOtherHasNothingToTell) {
  const auto first = Begin();
  const auto second = Begin();
  Write(".git/config", "evil\n");
  EXPECT_EQ(End(second).size(), 1u);
  EXPECT_TRUE(End(first).empty());
  const auto third = Begin();
  Write(".git/config", "evil\n");
  EXPECT_EQ(End(first).size(), 1u);
  EXPECT_TRUE(End(third).empty());
}

TEST_F(ProtectedPathsGuardTest, WhatWasTakenFromOneTheOtherDoesNotBringBack) {
  const auto first = Begin();
  Write(".git/modules/evil/HEAD", "ref: x\n");
  Write(".git/modules/evil/hooks/post-checkout", "evil\n");
  extra_ = {{base_ / "home", sandbox::kReadWrite, "another key"}};
  const auto second = Begin();
  EXPECT_EQ(End(first).size(), 1u);
  EXPECT_FALSE(fs::exists(root_ / ".git/modules"));
  Write(".git/modules/evil/HEAD", "ref: x\n");
  Write(".git/modules/evil/hooks/post-checkout", "evil\n");
  End(second);
  EXPECT_FALSE(fs::exists(root_ / ".git/modules"));
}

// Nobody protects it from the first, but that is no reason not to protect it from the second.
TEST_F(ProtectedPathsGuardTest, ARepositoryWithinTheOthersTreeIsProtectedAllTheSame) {
  Write("sub/.git/HEAD", "ref: x\n");
  Write("sub/.git/config", "original\n");
  Settle();
  const auto first = Begin();
  const auto second = Begin("sub");
  Write("sub/.git/config", "evil\n");
  EXPECT_EQ(End(second).size(), 1u);
  EXPECT_EQ(testing::ReadText(root_ / "sub/.git/config"), "original\n");
  EXPECT_TRUE(End(first).empty());
}

// A page that stays mapped can be written again without moving any stamp.
TEST_F(ProtectedPathsGuardTest, AMappedPageHidesNothingFromWhoBeganBefore) {
  const auto mapper = Begin();
  const UniqueFd fd(open((root_ / ".git/config").c_str(), O_RDWR | O_CLOEXEC));
  char* page =
      static_cast<char*>(mmap(nullptr, 9, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  ASSERT_NE(page, MAP_FAILED);
  page[0] = 'o';
  EXPECT_TRUE(End(Begin()).empty());
  Settle();
  EXPECT_TRUE(End(Begin()).empty());
  page[0] = 'X';
  munmap(page, 9);
  EXPECT_EQ(End(mapper).size(), 1u);
  EXPECT_EQ(Config(), "original\n");
}

// A long command and those beside it share what the first one found.
TEST_F(ProtectedPathsGuardTest, StampsThatProveNothingAreReplacedWhileACommandRuns) {
  const auto job = BeginBesideAnother();
  const auto second = Begin();
  EXPECT_EQ(second, job);
  EXPECT_TRUE(End(second).empty());
  const auto third = Begin();
  EXPECT_NE(third, job);
  EXPECT_TRUE(End(third).empty());
  EXPECT_EQ(Begin(), third);
  Write(".git/config", "evil\n");
  EXPECT_EQ(End(third).size(), 1u);
  EXPECT_EQ(Config(), "original\n");
  EXPECT_TRUE(End(job).empty());
}

// The other one protects files in "sub" that this one alone would not.
TEST_F(ProtectedPathsGuardTest, AnotherStateReplacesNothingWhileACommandRuns) {
  const auto other = Begin("sub");
  const auto job = Begin();
  EXPECT_TRUE(End(other).empty());
  EXPECT_TRUE(End(Begin()).empty());
  EXPECT_EQ(Begin(), job);
}

TEST_F(ProtectedPathsGuardTest, StampsOfWhatACommandMayHaveMappedProveNothing) {
  const std::string file = root_ / ".mcp.json";
  Write(".mcp.json", "original\n");
  Settle();
  // It shares nothing with those that follow, so nothing is taken over from it.
  const fs::path elsewhere = base_ / "elsewhere";
  fs::create_directory(elsewhere);
  auto policy = std::make_shared<policy::Policy>(*policy_);
  policy->roots.push_back(elsewhere);
  policy_ = policy;
  const auto mapper = Begin(elsewhere);
  const UniqueFd fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
  char* page = nullptr;
  ProtectedPathsGuard::Watch job;
  // Of a file that was written long enough before it is looked at nothing is read again.
  for (int tries = 0; job == nullptr; ++tries) {
    if (tries == 20) GTEST_SKIP() << "this machine is too slow to look within 30 ms";
    if (page != nullptr) munmap(page, 9);
    page = static_cast<char*>(mmap(nullptr, 9, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
    ASSERT_NE(page, MAP_FAILED);
    const auto written = std::chrono::steady_clock::now();
    page[0] = 'o';  // its first write has a stamp, those that follow have none
    job = Begin();
    if (std::chrono::steady_clock::now() - written > std::chrono::milliseconds(30)) {
      EXPECT_TRUE(End(std::exchange(job, nullptr)).empty());
    }
  }
  Settle();
  EXPECT_TRUE(End(Begin()).empty());
  const auto later = Begin();
  EXPECT_EQ(later, job);
  page[0] = 'X';
  munmap(page, 9);
  EXPECT_EQ(End(later).size(), 1u);
  EXPECT_EQ(testing::ReadText(file), "original\n");
  EXPECT_TRUE(End(mapper).empty());
}

TEST_F(ProtectedPathsGuardTest, CommandsThatBeginTogetherShareWhatTheFirstFound) {
  Write(".git/config", "young\n");
  const auto where = policy::ValidateWorkingDirectory(*policy_, root_);
  ProtectedPathsGuard::Watch watches[2];
  for (auto& watch : watches) {
    Detach(guard_.Begin(*where, AllowedIn(*where), policy_),
           [&](Result<ProtectedPathsGuard::Watch> begun) { watch = *begun; });
  }
  uv_run(&loop_, UV_RUN_DEFAULT);
  ASSERT_NE(watches[0], nullptr);
  EXPECT_EQ(watches[0], watches[1]);
  for (auto& watch : watches) EXPECT_TRUE(End(watch).empty());
}

// What was read meanwhile is nobody's baseline later, though its stamp is the same.
TEST_F(ProtectedPathsGuardTest, WhatAMappedPageShowedForAWhileIsNotRemembered) {
  auto mapper = Begin();
  const UniqueFd fd(open((root_ / ".git/config").c_str(), O_RDWR | O_CLOEXEC));
  char* page =
      static_cast<char*>(mmap(nullptr, 9, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  ASSERT_NE(page, MAP_FAILED);
  page[0] = 'X';
  Settle();
  extra_ = {{base_ / "home", sandbox::kReadWrite, "another key"}};
  auto other = Begin();
  page[0] = 'o';
  munmap(page, 9);
  for (auto* watch : {&mapper, &other}) {
    EXPECT_TRUE(End(*watch).empty());
    watch->reset();
  }
  const auto later = Begin();
  Write(".git/config", "evil\n");
  EXPECT_EQ(End(later).size(), 1u);
  EXPECT_EQ(Config(), "original\n");
}

TEST_F(ProtectedPathsGuardTest, MoreThanCanBeHeldRunsNothing) {
  fs::resize_file(root_ / ".git/hooks/pre-commit", 33u << 20);
  const auto refused = TryBegin();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().Message().starts_with("protected paths: "))
      << refused.error().Message();
  EXPECT_NE(refused.error().Message().find("hooks/pre-commit"), std::string::npos);
  fs::resize_file(root_ / ".git/hooks/pre-commit", 3u << 20);
  EXPECT_TRUE(TryBegin().has_value());
}

// What it was that could not be opened, and that there are no descriptors: with some more it
// begins.
TEST_F(ProtectedPathsGuardTest, WithoutDescriptorsItSaysWhichPathAndWhy) {
  auto where = policy::ValidateWorkingDirectory(*policy_, root_);
  ASSERT_TRUE(where);
  const policy::Allow allow = AllowedIn(*where);
  const auto begin = [&] { return Await(guard_.Begin(*where, allow, policy_)); };
  fs::create_directories(root_ / ".git/hooks/a/b/c");
  const UniqueFd lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  int failures = 0;
  for (rlim_t room = 0; room < 32; ++room) {
    std::optional<Result<ProtectedPathsGuard::Watch>> begun;
    {
      const testing::FewDescriptors few(static_cast<rlim_t>(lowest.get()) + 1 + room);
      begun = begin();
    }
    if (*begun) break;
    ++failures;
    EXPECT_EQ(begun->error().sys_errno, EMFILE);
    const std::string message = begun->error().Message();
    EXPECT_TRUE(message.starts_with("protected paths: ")) << message;
    EXPECT_NE(message.find(root_.string()), std::string::npos) << message;
    EXPECT_NE(message.find("Too many open files"), std::string::npos) << message;
  }
  EXPECT_GT(failures, 2);
  EXPECT_TRUE(begin());
}

// Else the next command would take what one has left there for what was before.
TEST_F(ProtectedPathsGuardTest, WhatCouldNotBePutBackIsPutBackBeforeTheNextCommand) {
  const auto where = policy::ValidateWorkingDirectory(*policy_, root_);
  const policy::Allow allow = AllowedIn(*where);
  const auto begin = [&] { return Await(guard_.Begin(*where, allow, policy_)); };
  auto watch = begin().value_or(nullptr);
  Write(".git/config", "evil\n");
  Write(".git/hooks/post-checkout", "evil\n");
  const UniqueFd lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto none = static_cast<rlim_t>(lowest.get()) + 1;
  {
    const testing::FewDescriptors few(none);
    EXPECT_FALSE(std::ranges::all_of(End(watch), &ProtectedChange::restored));
    watch.reset();
    for (int i = 0; i < 2; ++i) {
      const auto refused = begin();
      ASSERT_FALSE(refused.has_value());
      const std::string message = refused.error().Message();
      EXPECT_EQ(refused.error().kind, policy::ProtectionFailure::Kind::kOwed) << message;
      EXPECT_NE(message.find(root_ / "."), std::string::npos) << message;
      EXPECT_NE(message.find("Too many open files"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(Config(), "evil\n");
  watch = begin().value_or(nullptr);
  ASSERT_NE(watch, nullptr);
  EXPECT_EQ(Config(), "original\n");
  EXPECT_FALSE(fs::exists(root_ / ".git/hooks/post-checkout"));
  const auto told = End(watch);
  ASSERT_EQ(told.size(), 2u);
  for (const ProtectedChange& change : told) {
    EXPECT_TRUE(change.restored && !change.why.empty()) << change.path;
    EXPECT_EQ(testing::ReadText(change.kept), "evil\n");
  }
  watch.reset();
  EXPECT_TRUE(End(Begin()).empty());
}

TEST_F(ProtectedPathsGuardTest, WhatMustGoIsGoneBeforeTheNextCommand) {
  auto watch = Begin("sub");
  Write("sub/made/.git/hooks/x", "evil");
  guard_.MustGo(watch, root_ / "sub/made/.git");
  EXPECT_TRUE(End(watch).empty());
  watch.reset();
  EXPECT_TRUE(fs::exists(root_ / "sub/made/.git"));
  watch = Begin("sub");
  EXPECT_FALSE(fs::exists(root_ / "sub/made/.git"));
  EXPECT_EQ(End(watch).size(), 1u);
}

// One allocation of the comparison fails, on whatever thread: either all is compared and put back,
// or the caller hears that it was not; and the next command's comparison has its turn.
TEST_F(ProtectedPathsGuardTest, WithoutMemoryItIsComparedOrSaidThatItWasNot) {
  std::size_t uncompared = 0;
  std::size_t nth = 2;  // the first is Detach's own
  for (bool failed = true; failed; nth += nth < 20 ? 1 : 17) {
    auto watch = Begin();
    Write(".git/config", "[core]\n\tfsmonitor = x\n");
    Write(".git/hooks/post-commit", "new\n");
    std::optional<std::vector<ProtectedChange>> changes;
    Task<std::vector<ProtectedChange>> task = WithinMemory(guard_.End(std::move(watch)), [] {
      return std::vector<ProtectedChange>{{.path = "", .kind = ChangeKind::kNotCompared}};
    });
    testing::FailingNew failing(nth);
    Detach(std::move(task),
           [&](std::vector<ProtectedChange> value) { changes = std::move(value); });
    uv_run(&loop_, UV_RUN_DEFAULT);
    failing.Stop();
    failed = failing.failed();
    ASSERT_TRUE(changes) << nth;
    if (!changes->empty() && changes->front().kind == ChangeKind::kNotCompared) {
      ++uncompared;
      Write(".git/config", "original\n");
      fs::remove(root_ / ".git/hooks/post-commit");
      continue;
    }
    EXPECT_EQ(changes->size(), 2u) << nth;
    EXPECT_EQ(Config(), "original\n") << nth;
    EXPECT_FALSE(fs::exists(root_ / ".git/hooks/post-commit")) << nth;
  }
  EXPECT_GT(uncompared, 10u);
  EXPECT_TRUE(End(Begin()).empty());
}

// As git writes it, version 2.
const std::string kLink("\0\0\xe0\0", 4);
const std::string kFile("\0\0\x81\xa4", 4);

std::string IndexOf(std::size_t links, const std::string& mode = kLink) {
  std::string index("DIRC\0\0\0\2", 8);
  for (const int shift : {24, 16, 8, 0}) index += static_cast<char>(links >> shift);
  for (std::size_t i = 0; i < links; ++i) {
    std::string entry = std::string(24, '\0') + mode + std::string(32, '\0');
    entry += std::string("\0\7", 2) + std::to_string(1000000 + i);
    entry.resize((entry.size() + 8) & ~std::size_t{7});
    index += entry;
  }
  return index + std::string(20, '\0');
}

TEST_F(ProtectedPathsGuardTest, AnIndexIsReadableOrPutBack) {
  Write(".git/index", IndexOf(1));
  Settle();
  const std::string original = testing::ReadText(root_ / ".git/index");
  const auto put_back = [&](auto change) {
    const auto watch = Begin();
    change();
    const auto changes = End(watch);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].path, root_ / ".git/index");
    EXPECT_TRUE(changes[0].restored);
    EXPECT_NE(changes[0].why, "");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root_ / ".git/index")));
    EXPECT_EQ(testing::ReadText(root_ / ".git/index"), original);
    EXPECT_TRUE(TryBegin().has_value());
  };
  put_back([&] {
    Write("idx", IndexOf(2));
    fs::remove(root_ / ".git/index");
    fs::create_symlink("../idx", root_ / ".git/index");
  });
  put_back([&] { Write(".git/index", IndexOf(200'000)); });
  put_back([&] { Write(".git/index", "DIRC"); });
}

// git would unfold it, and nobody can say what is in it: the next call would not run.
TEST_F(ProtectedPathsGuardTest, AnIndexThatFoldsADirectoryWhichIsThereIsPutBack) {
  const std::string folded("\0\0\x40\0", 4);
  fs::create_directories(root_ / "1000000");
  for (const std::string& original : {IndexOf(1), IndexOf(1, kFile)}) {
    Write(".git/index", original);
    Settle();
    auto watch = Begin();
    Write(".git/index", IndexOf(1, folded));
    const auto changes = End(watch);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].path, root_ / ".git/index");
    EXPECT_TRUE(changes[0].restored && changes[0].why.contains("sparse")) << changes[0].why;
    EXPECT_EQ(testing::ReadText(root_ / ".git/index"), original);
    watch.reset();
    EXPECT_TRUE(TryBegin().has_value());
  }
  fs::remove(root_ / "1000000");
  auto watch = Begin();
  Write(".git/index", IndexOf(1, folded));
  EXPECT_TRUE(End(watch).empty()) << "a command may have git's index sparse";
  watch.reset();
  watch = Begin();
  fs::create_directories(root_ / "1000000");
  EXPECT_EQ(End(watch).size(), 1u) << "and what it folds does not come";
  EXPECT_TRUE(TryBegin().has_value());
}

// Larger than what is held, and smaller than what is read.
TEST_F(ProtectedPathsGuardTest, AnIndexThatIsTooLargeToBeHeldIsTakenAway) {
  Write(".git/index", IndexOf(600'000, kFile));
  ASSERT_GT(fs::file_size(root_ / ".git/index"), 32u << 20);
  Settle();
  const auto watch = Begin();
  Write(".git/index", "DIRC");
  const auto changes = End(watch);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, root_ / ".git/index");
  EXPECT_EQ(testing::ReadText(changes[0].kept), "DIRC");
  EXPECT_FALSE(fs::exists(root_ / ".git/index"));
  EXPECT_TRUE(TryBegin().has_value());
}

// It could be read with some more descriptors, so nobody has made it unreadable.
TEST_F(ProtectedPathsGuardTest, AnIndexThatNobodyCanOpenNowIsNotPutBack) {
  std::vector<UniqueFd> taken;  // with those that are free below the others
  while (taken.empty() || taken.back().get() < 200) {
    taken.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  int failures = 0;
  for (rlim_t room = 0; room < 6; ++room) {
    Write(".git/index", IndexOf(1));
    Settle();
    const auto watch = Begin();
    Write(".git/index", IndexOf(3));
    std::vector<ProtectedChange> changes;
    {
      const testing::FewDescriptors few(static_cast<rlim_t>(taken.back().get()) + 1 + room);
      changes = End(watch);
    }
    for (const ProtectedChange& change : changes) {
      EXPECT_FALSE(change.restored) << change.path;
      EXPECT_TRUE(change.kind == ChangeKind::kNotCompared || change.kind == ChangeKind::kOutOfReach)
          << ChangeText(change.kind);
    }
    failures += changes.empty() ? 0 : 1;
    EXPECT_EQ(testing::ReadText(root_ / ".git/index"), IndexOf(3)) << room;
  }
  EXPECT_GT(failures, 0);
}

TEST_F(ProtectedPathsGuardTest, AnIndexThatCanBeReadIsTheCommands) {
  Write(".git/index", IndexOf(1));
  Settle();
  auto watch = Begin();
  Write(".git/index", IndexOf(3));
  EXPECT_TRUE(End(watch).empty());
  watch = Begin();
  fs::remove(root_ / ".git/index");
  EXPECT_TRUE(End(watch).empty());
  EXPECT_FALSE(fs::exists(root_ / ".git/index"));
}

TEST_F(ProtectedPathsGuardTest, ALinkedWorktreeThatNobodyCanReadGoes) {
  const auto watch = Begin();
  Write(".git/worktrees/x/gitdir", std::string_view("a\0b", 3));
  EXPECT_EQ(End(watch).size(), 1u);
  EXPECT_FALSE(fs::exists(root_ / ".git/worktrees/x"));
  EXPECT_TRUE(TryBegin().has_value());
}

TEST_F(ProtectedPathsGuardTest, ARebaseGoesOnButExecutesNothingNew) {
  const std::string todo = ".git/rebase-merge/git-rebase-todo";
  auto watch = Begin();
  Write(todo, "pick 1\n");
  EXPECT_TRUE(End(watch).empty());
  watch.reset();  // else it runs still, and what it found counts
  watch = Begin();
  Write(todo, "pick 1\nexec evil\n");
  EXPECT_EQ(End(watch).size(), 1u);
  EXPECT_EQ(testing::ReadText(root_ / todo), "pick 1\n");
  watch.reset();
  watch = Begin();
  fs::remove_all(root_ / ".git/rebase-merge");
  EXPECT_TRUE(End(watch).empty());
  EXPECT_FALSE(fs::exists(root_ / ".git/rebase-merge"));
  watch.reset();
  watch = Begin();
  Write("rebase/git-rebase-todo", "exec evil\n");
  fs::create_directory_symlink("../rebase", root_ / ".git/rebase-merge");
  EXPECT_EQ(End(watch).size(), 1u);
  EXPECT_FALSE(fs::exists(fs::symlink_status(root_ / ".git/rebase-merge")));
}

// Another call is answered meanwhile.
TEST_F(ProtectedPathsGuardTest, TheLoopDoesNotWaitForTheSearch) {
  const auto where = policy::ValidateWorkingDirectory(*policy_, root_);
  ProtectedPathsGuard::Watch watch;
  Detach(guard_.Begin(*where, AllowedIn(*where), policy_),
         [&](Result<ProtectedPathsGuard::Watch> begun) { watch = *begun; });
  EXPECT_EQ(watch, nullptr);
  uv_run(&loop_, UV_RUN_DEFAULT);
  ASSERT_NE(watch, nullptr);
  Write(".git/config", "evil\n");
  bool ended = false;
  Detach(guard_.End(watch), [&](const std::vector<ProtectedChange>&) { ended = true; });
  EXPECT_FALSE(ended);
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_TRUE(ended);
  EXPECT_EQ(Config(), "original\n");
}

// What it saw of another's doing while it looked around is not what was before.
TEST_F(ProtectedPathsGuardTest, WhoeverEndsWhileAnotherBeginsIsSeenAllTheSame) {
  const auto first = Begin();
  Write(".git/config", "evil\n");
  const auto where = policy::ValidateWorkingDirectory(*policy_, root_);
  extra_ = {{base_ / "home", sandbox::kReadWrite, "another key"}};
  ProtectedPathsGuard::Watch second;
  Detach(guard_.Begin(*where, AllowedIn(*where), policy_),
         [&](Result<ProtectedPathsGuard::Watch> begun) { second = *begun; });
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(End(first).size(), 1u);
  EXPECT_EQ(Config(), "original\n");
  uv_run(&loop_, UV_RUN_DEFAULT);  // which of them is done first nobody knows
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(End(second).empty());
  EXPECT_EQ(Config(), "original\n");
}

TEST_F(ProtectedPathsGuardTest, ManyRepositoriesAreNotRememberedForEver) {
  for (int i = 0; i < 40; ++i) {
    const std::string name = "r" + std::to_string(i);
    Write(name + "/.git/config", "c");
    const auto watch = Begin(name);
    Write(name + "/.git/config", "evil");
    EXPECT_EQ(End(watch).size(), 1u) << i;
  }
}

}  // namespace
}  // namespace pa
