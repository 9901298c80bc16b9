// What /proc says about processes, for tests that check what a command left running and what it
// uses.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace pa::testing {

// Processes, zombies aside, whose program or working directory lies beneath `directory`.
std::vector<pid_t> ProcessesIn(const std::filesystem::path& directory);
// Those with `text` in their command line.
std::vector<pid_t> ProcessesWith(std::string_view text);
// Direct children of `parent`; only the zombies if asked.
std::vector<pid_t> ChildrenOf(pid_t parent, bool zombies_only = false);
// The workers of a server: its children, except the launchers that wait to fork them, the janitor
// and the spawner.
std::vector<pid_t> WorkersOf(pid_t server);
// The children of a server, except the spawner, without which it ends.
std::vector<pid_t> HelpersOf(pid_t server);

// As in proc_pid_stat(5): 'S' sleeps, 'Z' is a zombie; '?': there is no such process.
char StateOf(pid_t pid);

std::size_t OpenDescriptors(pid_t pid);
std::size_t ResidentKib(pid_t pid);
std::size_t PeakResidentKib(pid_t pid);  // since it started

// Waits until `condition` holds; false if it does not within `patience`.
bool Eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace pa::testing
