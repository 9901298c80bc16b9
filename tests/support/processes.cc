#include "tests/support/processes.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

// The youngest first: whoever looks at them one by one comes too late for those that do not live
// long.
std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    std::string name = entry.path().filename();
    pid_t pid = 0;
    auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failure == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  std::ranges::sort(pids, std::greater());
  return pids;
}

std::string Target(pid_t pid, const char* link) {
  std::error_code error;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/" + link, error);
}

bool Beneath(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

struct Stat {
  char state = '?';
  pid_t parent = -1;
};

Stat StatOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');  // an iterator would throw when the process is gone by now
  std::size_t name_end = text.rfind(')');  // the name may hold anything, also parentheses
  Stat stat;
  if (name_end == std::string::npos) return stat;
  std::istringstream rest(text.substr(name_end + 1));
  rest >> stat.state >> stat.parent;
  return stat;
}

}  // namespace

std::vector<pid_t> ProcessesIn(const fs::path& directory) {
  std::vector<pid_t> found;
  for (pid_t pid : AllProcesses()) {
    if (Beneath(Target(pid, "exe"), directory) || Beneath(Target(pid, "cwd"), directory)) {
      found.push_back(pid);
    }
  }
  return found;
}

std::vector<pid_t> ProcessesWith(std::string_view text) {
  std::vector<pid_t> found = AllProcesses();
  std::erase_if(found, [&](pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::string line;
    while (!line.contains(text) && std::getline(file, line, '\0')) continue;
    return !line.contains(text);
  });
  return found;
}

std::vector<pid_t> ChildrenOf(pid_t parent, bool zombies_only) {
  std::vector<pid_t> found;
  for (pid_t pid : AllProcesses()) {
    Stat stat = StatOf(pid);
    if (stat.parent == parent && (!zombies_only || stat.state == 'Z')) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> WorkersOf(pid_t server) {
  std::vector<pid_t> workers = ChildrenOf(server);
  const auto command_line = [](pid_t pid) {
    return ReadText("/proc/" + std::to_string(pid) + "/cmdline");
  };
  const std::string own = command_line(server);
  std::erase_if(workers, [&](pid_t pid) {
    // The spawner before it has a name of its own.
    if (command_line(pid) == own) return true;
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
    return name == "pa-launcher" || name == "pa-janitor" || name == "pa-next-chore" ||
           name == "pa-spawner";
  });
  return workers;
}

std::vector<pid_t> HelpersOf(pid_t server) {
  std::vector<pid_t> helpers = ChildrenOf(server);
  std::erase_if(helpers, [](pid_t pid) {
    return ReadText("/proc/" + std::to_string(pid) + "/comm") == "pa-spawner\n";
  });
  return helpers;
}

char StateOf(pid_t pid) { return StatOf(pid).state; }

std::size_t OpenDescriptors(pid_t pid) {
  std::error_code error;
  fs::directory_iterator entries("/proc/" + std::to_string(pid) + "/fd", error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::size_t ResidentKib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

std::size_t PeakResidentKib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(sizeof "VmHWM:"));
  }
  return 0;
}

bool Eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace pa::testing
