#include "tests/bench/measure.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/unique_fd.h"

namespace pa::bench {

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Action Timed(std::function<void()> work) {
  return [work = std::move(work)] {
    const auto start = Clock::now();
    work();
    return MillisecondsSince(start);
  };
}

std::vector<Samples> Interleave(int rounds, const std::vector<Action>& actions, int warm_up) {
  std::vector<Samples> samples(actions.size());
  for (int round = -warm_up; round < rounds; ++round) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const std::size_t which = (i + static_cast<std::size_t>(round + warm_up)) % actions.size();
      const double value = actions[which]();
      if (round >= 0) samples[which].push_back(value);
    }
  }
  return samples;
}

double Median(Samples samples) {
  if (samples.empty()) return 0;
  const std::size_t middle = samples.size() / 2;
  std::ranges::sort(samples);
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

double NinetyNinth(Samples samples) {
  if (samples.empty()) return 0;
  std::ranges::sort(samples);
  return samples[samples.size() * 99 / 100];
}

double MedianRatio(const Samples& ours, const Samples& reference) {
  Samples ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / reference[i]);
  return Median(std::move(ratios));
}

double MedianDifference(const Samples& ours, const Samples& reference) {
  Samples differences;
  for (std::size_t i = 0; i < ours.size(); ++i) differences.push_back(ours[i] - reference[i]);
  return Median(std::move(differences));
}

std::string OnPath(const std::string& name) {
  const char* path = getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

void WaitFor(pid_t pid, const std::string& what) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) {
    GiveUp(what + ": wait status " + std::to_string(status));
  }
}

void RunBare(testing::Launch launch) {
  const std::string name = launch.command[0];
  WaitFor(testing::Spawn(std::move(launch)), name);
}

void RunPiped(testing::Launch launch, const std::function<void(int fd)>& read) {
  const std::string name = launch.command[0];
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) GiveUp("pipe2");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  launch.out = writer.get();
  const pid_t pid = testing::Spawn(std::move(launch));
  writer.reset();
  read(reader.get());
  WaitFor(pid, name);
}

void GiveUp(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

}  // namespace pa::bench
