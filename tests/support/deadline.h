// WithLongerDeadlines: runs a command that its deadline ends, once it has come far enough for the
// test to judge that. How long this takes depends on the machine, so a deadline that was too short
// is followed by a longer one.
//
//    const Finished done = WithLongerDeadlines(scratch.work() + "/written",
//        [&](milliseconds deadline) {
//      return Run("echo partial; touch written; sleep 60", deadline);
//    });
#pragma once

#include <chrono>
#include <filesystem>

namespace pa::testing {

// `mark`: a file that the command makes when it has come that far. It must not exist before, and is
// removed.
template <typename Run>
auto WithLongerDeadlines(const std::filesystem::path& mark, Run run) {
  for (std::chrono::milliseconds deadline(300);; deadline *= 3) {
    auto result = run(deadline);
    if (std::filesystem::remove(mark) || deadline > std::chrono::seconds(20)) return result;
  }
}

}  // namespace pa::testing
