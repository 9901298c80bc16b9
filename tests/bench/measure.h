// Measuring side by side: what is compared runs in turns, so that whatever else the machine does
// falls on all of it alike.
//
//   std::vector<Samples> both = Interleave(200, {ours, bare});
//   double ratio = MedianRatio(both[0], both[1]);
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/launch.h"

namespace pa::bench {

// Figures are in MB, as MemTotal of a data sheet is; /proc has KiB.
inline constexpr double kKibPerMb = 1000.0 * 1000 / 1024;

using Clock = std::chrono::steady_clock;
double MillisecondsSince(Clock::time_point start);

// Milliseconds, one a round.
using Samples = std::vector<double>;
// Does something and says how many milliseconds the part took that counts.
using Action = std::function<double()>;

Action Timed(std::function<void()> work);

// `rounds` times each action once, a different one first each time; a few rounds before that do not
// count.
std::vector<Samples> Interleave(int rounds, const std::vector<Action>& actions, int warm_up = 3);

double Median(Samples samples);
double NinetyNinth(Samples samples);  // 99 of 100 took no longer
// Medians over the rounds: what happened in one round belongs together.
double MedianRatio(const Samples& ours, const Samples& reference);
double MedianDifference(const Samples& ours, const Samples& reference);

// Where PATH has `name`; "" if nowhere.
std::string OnPath(const std::string& name);
// Waits for a child; ends the bench when it failed, for its time would mean nothing.
void WaitFor(pid_t pid, const std::string& what);
// Runs to its end, its output thrown away.
void RunBare(testing::Launch launch);
// Runs with its output in a pipe that `read` empties before the program is waited for.
void RunPiped(testing::Launch launch, const std::function<void(int fd)>& read);

[[noreturn]] void GiveUp(const std::string& why);

}  // namespace pa::bench
