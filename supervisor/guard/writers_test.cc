#include "supervisor/guard/writers.h"

#include <gtest/gtest.h>

#include <optional>

namespace pa {
namespace {

void Await(Writers& writers, bool& settled) {
  Detach(writers.Settled(), [&settled](bool all) { settled = all; });
}

TEST(WritersTest, WhereNobodyIsAtWorkNobodyIsAwaited) {
  Writers writers;
  {
    const Writers::Writer over(writers);
  }
  bool settled = false;
  Await(writers, settled);
  EXPECT_TRUE(settled);
}

TEST(WritersTest, AllThatAreAtWorkAreAwaitedAndNobodyElse) {
  Writers writers;
  std::optional<Writers::Writer> first(std::in_place, writers);
  std::optional<Writers::Writer> second(std::in_place, writers);
  bool early = false;
  bool late = false;
  Await(writers, early);
  const Writers::Writer third(writers);
  first.reset();
  Await(writers, late);
  EXPECT_FALSE(early);
  second.reset();
  EXPECT_TRUE(early) << "without the third, which began later";
  EXPECT_FALSE(late);
}

TEST(WritersTest, SeveralAwaitOne) {
  Writers writers;
  std::optional<Writers::Writer> work(std::in_place, writers);
  bool settled[3] = {};
  for (bool& one : settled) Await(writers, one);
  work.reset();
  for (const bool one : settled) EXPECT_TRUE(one);
}

}  // namespace
}  // namespace pa
