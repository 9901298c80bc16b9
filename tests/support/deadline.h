// WithLongerDeadlines: a command that is ended by its deadline, once it has come so far that the
// test can judge that. How long this takes is the machine's affair, so a deadline that was too
// short for it is followed by a longer one.
//
//   const Finished done = WithLongerDeadlines(scratch.work() + "/written",
//       [&](milliseconds deadline) {
//     return Run("echo partial; touch written; sleep 60", deadline);
//   });
#pragma once

#include <chrono>
#include <filesystem>

namespace pa::testing {

// `mark`: a file that the command makes when it has come so far; not there before, nor afterwards.
template <typename Run>
auto WithLongerDeadlines(const std::filesystem::path& mark, Run run) {
  for (std::chrono::milliseconds deadline(300);; deadline *= 3) {
    auto result = run(deadline);
    if (std::filesystem::remove(mark) || deadline > std::chrono::seconds(20)) return result;
  }
}

}  // namespace pa::testing
