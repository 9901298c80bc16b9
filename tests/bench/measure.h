// Measures actions side by side: they run in turns, so that other load of the machine affects all
// of them alike.
//
//    std::vector<Samples> both = Interleave(200, {ours, bare});
//    double ratio = MedianRatio(both[0], both[1]);
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
// Does something and returns how many milliseconds the part took that counts.
using Action = std::function<double()>;

Action Timed(std::function<void()> work);

// Runs each action once in each of `rounds` rounds, a different one first in each. `warm_up` rounds
// before them do not count.
std::vector<Samples> Interleave(int rounds, const std::vector<Action>& actions, int warm_up = 3);

double Median(Samples samples);
double NinetyNinth(Samples samples);  // 99 of 100 took no longer
// Medians of the ratios and differences within each round: samples of one round belong together.
double MedianRatio(const Samples& ours, const Samples& reference);
double MedianDifference(const Samples& ours, const Samples& reference);

// The path of `name` on PATH; "" if there is none.
std::string OnPath(const std::string& name);
// Waits for a child; ends the bench if it failed, because its time would mean nothing.
void WaitFor(pid_t pid, const std::string& what);
// Runs a program to its end; its output is discarded.
void RunBare(testing::Launch launch);
// Runs a program with its output in a pipe, which `read` empties before the program is waited for.
void RunPiped(testing::Launch launch, const std::function<void(int fd)>& read);

[[noreturn]] void GiveUp(const std::string& why);

}  // namespace pa::bench
