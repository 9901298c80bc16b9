// EachAllocationFailsOnce: a call of calls for which the server has not enough memory.
//
//    EachAllocationFailsOnce([](FakeCalls& calls) { return RunBatch(batch, calls.outer()); });
//
// The call ends each time, with a result or for want of memory, and leaves nothing in its context.
#pragma once

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <utility>

#include "supervisor/call/tool_result.h"
#include "supervisor/loop/within_memory.h"
#include "tests/support/failing_new.h"
#include "tests/support/fake_calls.h"

namespace pa::testing {

template <typename Run>
void EachAllocationFailsOnce(Run run) {
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    FakeCalls calls;
    Task<ToolResult> task = WithinMemory(run(calls), [] { return RefusedCall(OutOfMemory()); });
    std::optional<ToolResult> result;
    FailingNew failing(failures + 1);
    try {
      Detach(std::move(task), [&](ToolResult value) {
        failing.Stop();
        failed = failing.failed();
        result = std::move(value);
      });
    } catch (const std::bad_alloc&) {  // of the test's own
      ++failures;
      continue;
    }
    ASSERT_TRUE(result) << failures;
    if (failed) ++failures;
    EXPECT_FALSE(calls.outer().record.doing);
    calls.cancel().Cancel();  // nobody listens any more
  }
  EXPECT_GT(failures, 20u);
}

}  // namespace pa::testing
