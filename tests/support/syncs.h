// Syncs: how often a thread has waited for the disk; for what has to be there after a crash, and
// yet must not hold up the loop. The program that has syncs.cc among its sources has an fsync(2)
// that counts.
//
//   const Syncs before = SyncsUntilNow();
//   ... on this thread's loop ...
//   EXPECT_EQ(SyncsUntilNow().here, before.here);
//   EXPECT_GT(SyncsUntilNow().elsewhere, before.elsewhere);
//
//   FailSyncsAfter(3);  // all but the next three fail with EIO; -1: none does
#pragma once

namespace pa::testing {

struct Syncs {
  int here = 0;  // on the thread that asks
  int elsewhere = 0;
};
Syncs SyncsUntilNow();
void FailSyncsAfter(int count);

}  // namespace pa::testing
