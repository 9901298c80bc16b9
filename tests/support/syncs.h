// Syncs: counts calls of fsync(2), on this thread and on others: for work that must survive a crash
// and yet must not block the loop. In a program that has syncs.cc among its sources, the fsync(2)
// of syncs.cc replaces that of the C library.
//
//    const Syncs before = SyncsUntilNow();
//    ... on this thread's loop ...
//    EXPECT_EQ(SyncsUntilNow().here, before.here);
//    EXPECT_GT(SyncsUntilNow().elsewhere, before.elsewhere);
//
//    FailSyncsAfter(3);  // all but the next three fail with EIO; -1: none does
#pragma once

#include <sys/types.h>

namespace pa::testing {

struct Syncs {
  int here = 0;  // on the thread that asks
  int elsewhere = 0;
};
Syncs SyncsUntilNow();
void FailSyncsAfter(int count);

// From now on the counters are those of the process `test` and its janitor. Called by both.
void ShareSyncs(pid_t test);

}  // namespace pa::testing
