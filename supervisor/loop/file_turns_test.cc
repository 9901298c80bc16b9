#include "supervisor/loop/file_turns.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace pa {
namespace {

// A call that holds its turn until it is told to end.
struct Call {
  CancelSource cancel;
  std::optional<bool> granted;
  std::optional<bool> entered;
  std::unique_ptr<Completion<bool>> end = std::make_unique<Completion<bool>>();
};

Task<bool> Hold(FileTurns& turns, std::vector<std::string> paths, Call& call, std::size_t most) {
  FileTurn turn(turns, std::move(paths));
  call.entered = turn.Enter(call.cancel, most);
  if (!*call.entered) co_return false;
  Completion<bool>& granted = turn.granted();
  call.granted = co_await granted;
  if (!*call.granted) co_return false;
  Completion<bool>& end = *call.end;
  co_await end;
  co_return true;
}

class FileTurnsTest : public ::testing::Test {
 protected:
  void Start(Call& call, std::vector<std::string> paths, std::size_t most = 100) {
    Detach(Hold(turns_, std::move(paths), call, most), [](bool) {});
  }
  FileTurns turns_;
};

TEST_F(FileTurnsTest, OneAfterTheOtherInTheirOrder) {
  Call first, second, third, other;
  Start(first, {"a", "b"});
  Start(second, {"b", "c"});
  Start(third, {"c"});
  Start(other, {"d"});
  EXPECT_TRUE(first.granted);
  EXPECT_TRUE(other.granted) << "waits for nobody";
  EXPECT_FALSE(second.granted || third.granted) << "third does not overtake second";
  EXPECT_EQ(turns_.waiting(), 2u);
  first.end->Set(true);
  EXPECT_TRUE(second.granted);
  EXPECT_FALSE(third.granted);
  second.end->Set(true);
  EXPECT_TRUE(third.granted);
  third.end->Set(true);
  other.end->Set(true);
  EXPECT_EQ(turns_.waiting(), 0u);
}

TEST_F(FileTurnsTest, WhoWaitsKnowsHowManyAreBeforeHim) {
  const FileTurns::Ticket first = turns_.Enter({"a", "b"}, [] {});
  const FileTurns::Ticket other = turns_.Enter({"c"}, [] {});
  const FileTurns::Ticket second = turns_.Enter({"b"}, [] {});
  const FileTurns::Ticket third = turns_.Enter({"b", "c"}, [] {});
  EXPECT_EQ(turns_.Before(first) + turns_.Before(other), 0u);
  EXPECT_EQ(turns_.Before(second), 1u);
  EXPECT_EQ(turns_.Before(third), 3u);
  turns_.Leave(first);
  EXPECT_EQ(turns_.Before(second), 0u);
  EXPECT_EQ(turns_.Before(third), 2u);
}

TEST_F(FileTurnsTest, WhoeverIsCancelledStandsInNobodysWay) {
  Call first, second, third, late;
  Start(first, {"a"});
  Start(second, {"a", "b"});
  Start(third, {"b"});
  second.cancel.Cancel();
  EXPECT_EQ(second.granted, false);
  EXPECT_EQ(third.granted, true);
  late.cancel.Cancel();
  Start(late, {"a"});
  EXPECT_EQ(late.granted, false);
  first.end->Set(true);
  third.end->Set(true);
  first.cancel.Cancel();  // after its end: nobody listens any more
}

TEST_F(FileTurnsTest, NotMoreWaitThanMay) {
  Call first, second, third, free;
  Start(free, {"b"}, 0);
  EXPECT_EQ(free.granted, true) << "does not wait";
  free.end->Set(true);
  Start(first, {"a"}, 1);
  Start(second, {"a"}, 1);
  Start(third, {"a"}, 1);
  EXPECT_EQ(second.entered, true);
  EXPECT_EQ(third.entered, false);
  first.end->Set(true);
  second.end->Set(true);
}

TEST_F(FileTurnsTest, TheSameFileTwiceIsOne) {
  Call first;
  Start(first, {"b", "a", "b"});
  EXPECT_EQ(first.granted, true);
  first.end->Set(true);
}

}  // namespace
}  // namespace pa
