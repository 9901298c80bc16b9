// ReachingJanitor: the janitor of a server whose helpers a spawner keeps within the policy
// (supervisor/spawner). It asks the spawner for what lies elsewhere, and replaces helpers that were
// confined to files that others have taken the place of: a Landlock domain is of the files that
// stood there when it was made.
//
//    ReachingJanitor janitor(process, spawner, state_home);
//    janitor.WhenRenewed([&] { launchers.Renew(); });
//    janitor.Follow(policy);                     // at the start, and with each new policy
//    Task<Result<std::string>> task = janitor.Do(std::move(order));
//
// Without a spawner it passes everything on.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "sandbox/confinement.h"
#include "supervisor/janitor/janitor_process.h"
#include "supervisor/loop/spawner.h"

namespace pa {

// Whether the same files stand at some paths as when they were last looked at.
class PlaceWatch {
 public:
  void Follow(std::vector<std::string> paths);
  void Add(const std::string& path);  // looked at from now on
  // Looks now, if Forget was called since.
  void Look();
  void Forget() { looked_ = false; }
  bool HasLooked() const { return looked_; }
  bool Changed() const;  // false: nobody has looked yet

 private:
  struct Place {
    std::string path;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: nothing
  };
  static Place At(const std::string& path);
  std::vector<Place> places_;
  bool looked_ = false;
};

class ReachingJanitor : public Janitor {
 public:
  // Both borrowed; `spawner` may be null.
  ReachingJanitor(JanitorProcess& process, Spawner* spawner, std::string state_home);

  void WhenRenewed(std::function<void()> launchers) { launchers_ = std::move(launchers); }
  void Follow(policy::PolicyPtr policy);
  // A janitor, and a launcher without namespaces, is about to start.
  void JanitorStarts();
  void LauncherStarts();
  // Before a command without namespaces that is granted what no command was before.
  void LookAtCommands();

  Task<Result<std::string>> Do(JanitorOrder order) override;
  // Ends the process if it has nothing to do, and keeps no more memory than is needed then.
  void Rest();
  // Lets commands in `directory` reach what a repository adds.
  Task<bool> Cover(std::string directory, std::vector<sandbox::PathGrant> grants);

 private:
  void RenewAll();
  void Prepare();
  std::vector<std::string> Outside(const JanitorOrder& order) const;
  Task<bool> Reach(std::string directory, std::vector<std::string> outside);

  JanitorProcess& process_;
  Spawner* spawner_;
  std::string state_home_;
  std::function<void()> launchers_;
  policy::PolicyPtr policy_;
  bool prepared_ = false;                   // what follows is of it
  std::vector<sandbox::PathGrant> within_;  // that the janitor can reach whatever it is asked
  std::vector<sandbox::PathGrant> most_;    // the same of commands
  PlaceWatch chores_;
  PlaceWatch commands_;
  // What was asked for, in vain or not: not again at once.
  std::map<std::string, std::chrono::steady_clock::time_point> asked_;
};

}  // namespace pa
