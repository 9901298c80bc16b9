#include "supervisor/run/reach.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "policy/ceiling.h"
#include "policy/grants.h"
#include "policy/path.h"
#include "supervisor/loop/log.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

using sandbox::Access;
using sandbox::PathGrant;
using std::chrono::steady_clock;

// The spawner reads the policy and the repository each time.
constexpr std::chrono::seconds kAskAgain{5};
constexpr std::size_t kMaxAsked = 256;
constexpr std::size_t kMaxPlaces = 1024;

// Of what the spawner grants (OwnConfiguration), the files that need not be there yet: PlaceWatch
// sees them come.
std::vector<std::string> ConfigurationPaths(const policy::Policy& policy) {
  std::vector<std::string> paths = {"/etc/gitconfig"};
  if (!policy.home.empty()) paths.push_back(policy.home + "/.gitconfig");
  if (!policy.config_home.empty()) paths.push_back(policy.config_home + "/git/config");
  return paths;
}

std::vector<std::string> PathsOf(const std::vector<PathGrant>& grants) {
  std::vector<std::string> paths;
  for (const PathGrant& grant : grants) paths.push_back(grant.path);
  return paths;
}

}  // namespace

PlaceWatch::Place PlaceWatch::At(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {.path = path};
  return {.path = path, .device = status.st_dev, .inode = status.st_ino};
}

void PlaceWatch::Follow(std::vector<std::string> paths) {
  places_.clear();
  for (std::string& path : paths) places_.push_back({.path = std::move(path)});
  looked_ = false;
}

void PlaceWatch::Add(const std::string& path) {
  const bool known = std::ranges::find(places_, path, &Place::path) != places_.end();
  if (known || places_.size() >= kMaxPlaces) return;
  places_.push_back(At(path));
}

void PlaceWatch::Look() {
  if (std::exchange(looked_, true)) return;
  for (Place& place : places_) place = At(place.path);
}

bool PlaceWatch::Changed() const {
  return looked_ && std::ranges::any_of(places_, [](const Place& place) {
           const Place now = At(place.path);
           return now.device != place.device || now.inode != place.inode;
         });
}

ReachingJanitor::ReachingJanitor(JanitorProcess& process, Spawner* spawner, std::string state_home)
    : process_(process), spawner_(spawner), state_home_(std::move(state_home)) {}

void ReachingJanitor::Follow(policy::PolicyPtr policy) {
  if (spawner_ == nullptr) return;
  policy_ = std::move(policy);
  prepared_ = false;
  asked_.clear();
  RenewAll();
}

// Not before it is needed: it is a millisecond of looking at names.
void ReachingJanitor::Prepare() {
  if (policy_ == nullptr || std::exchange(prepared_, true)) return;
  const policy::Policy& policy = *policy_;
  const policy::Ceiling ceiling = policy::CeilingOf(policy, StateOf(state_home_));
  within_ = ceiling.chores;
  most_ = ceiling.commands;
  std::vector<std::string> chores = PathsOf(ceiling.chores);
  std::vector<std::string> commands = PathsOf(ceiling.commands);
  for (const std::string& file : ConfigurationPaths(policy)) {
    within_.push_back({file, Access::kRead, ""});
    within_.push_back({policy::ResolvePath(file), Access::kRead, ""});
    chores.push_back(file);
    commands.push_back(file);
  }
  for (std::string& file :
       PathsOf(policy::GitConfigurationGrants(policy.home, policy.config_home))) {
    chores.push_back(file);
    commands.push_back(std::move(file));
  }
  chores_.Follow(std::move(chores));
  commands_.Follow(std::move(commands));
}

// What launchers reach, and what was asked for, is looked at as long as the policy is in force.
void ReachingJanitor::Rest() {
  process_.Rest();
  if (process_.pid() >= 0 || commands_.HasLooked() || !asked_.empty()) return;
  prepared_ = false;
  // An assignment would keep their memory.
  std::exchange(within_, {});
  std::exchange(most_, {});
  std::exchange(chores_, {});
  std::exchange(commands_, {});
}

void ReachingJanitor::JanitorStarts() {
  Prepare();
  chores_.Look();
}

void ReachingJanitor::LauncherStarts() {
  Prepare();
  commands_.Look();
}

void ReachingJanitor::RenewAll() {
  chores_.Forget();
  commands_.Forget();
  process_.Renew();
  if (launchers_) launchers_();
}

void ReachingJanitor::LookAtCommands() {
  if (spawner_ == nullptr || !commands_.Changed()) return;
  commands_.Forget();
  if (launchers_) launchers_();
}

std::vector<std::string> ReachingJanitor::Outside(const JanitorOrder& order) const {
  std::vector<std::string> outside;
  const auto add = [&](const std::vector<std::string>& paths, Access access) {
    for (const std::string& path : paths) {
      if (!policy::IsWithin({path, access, ""}, within_)) outside.push_back(path);
    }
  };
  add(order.read, Access::kRead);
  add(order.write, Access::kWrite);
  return outside;
}

Task<Result<std::string>> ReachingJanitor::Do(JanitorOrder order) {
  if (spawner_ != nullptr) {
    Prepare();
    if (chores_.Changed()) {
      chores_.Forget();
      process_.Renew();
    }
    if (!order.about.empty()) {
      Task<bool> reaching = Reach(order.about, Outside(order));
      [[maybe_unused]] const bool reached = co_await reaching;
    }
  }
  Task<Result<std::string>> doing = process_.Do(std::move(order));
  Result<std::string> done = co_await doing;
  co_return done;
}

Task<bool> ReachingJanitor::Cover(std::string directory, std::vector<PathGrant> grants) {
  if (spawner_ == nullptr) co_return true;
  Prepare();
  std::vector<std::string> outside;
  for (const PathGrant& grant : grants) {
    if (!policy::IsWithin(grant, most_)) outside.push_back(grant.path);
  }
  Task<bool> reaching = Reach(std::move(directory), std::move(outside));
  const bool reached = co_await reaching;
  co_return reached;
}

// False: it cannot be, or nobody asked now. Whoever asks goes on: what is refused then says so.
Task<bool> ReachingJanitor::Reach(std::string directory, std::vector<std::string> outside) {
  if (outside.empty()) co_return true;
  std::string question = directory;
  for (const std::string& path : outside) question += '\0' + path;
  const auto before = asked_.find(question);
  if (before != asked_.end() && steady_clock::now() - before->second < kAskAgain) co_return false;
  if (asked_.size() >= kMaxAsked) asked_.clear();
  Task<Result<bool>> asking = spawner_->Reach(std::move(directory), outside);
  const Result<bool> added = co_await asking;
  for (const std::string& path : outside) {
    chores_.Add(path);
    commands_.Add(path);
  }
  asked_[question] = steady_clock::now();
  if (!added) LogWarning(added.error().Message());
  if (added && *added) RenewAll();
  co_return added.has_value();
}

}  // namespace pa
