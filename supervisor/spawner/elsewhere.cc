#include "supervisor/spawner/elsewhere.h"

#include <algorithm>
#include <set>
#include <utility>

#include "policy/access.h"
#include "policy/ceiling.h"
#include "policy/grants.h"
#include "policy/working_directory.h"
#include "supervisor/guard/protected_paths_guard.h"
#include "supervisor/janitor/janitor_process.h"
#include "supervisor/loop/loop.h"
#include "supervisor/run/repository_finder.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

// Notes what it is asked to read.
class NotingJanitor : public Janitor {
 public:
  explicit NotingJanitor(Janitor& janitor) : janitor_(janitor) {}
  Task<Result<std::string>> Do(JanitorOrder order) override {
    read_.insert(order.read.begin(), order.read.end());
    Task<Result<std::string>> doing = janitor_.Do(std::move(order));
    Result<std::string> done = co_await doing;
    co_return done;
  }
  const std::set<std::string>& read() const { return read_; }

 private:
  Janitor& janitor_;
  std::set<std::string> read_;
};

class Search {
 public:
  Search(policy::PolicyPtr policy, const std::string& state_home)
      : policy_(std::move(policy)),
        within_(policy::CeilingOf(*policy_, StateOf(state_home)).chores),
        process_(loop_.get(), kOwnExecutable, [](pid_t) {}),
        janitor_(process_),
        repositories_(janitor_),
        guard_(loop_.get(), janitor_, state_home) {}

  void In(const std::string& path) {
    const auto directory = policy::ValidateWorkingDirectory(*policy_, path);
    if (!directory) return;
    Detach(Look(*directory), [this](bool) { process_.Rest(); });
    loop_.Run();
  }
  Elsewhere Take() {
    process_.Close();
    for (const std::string& path : janitor_.read()) {
      Add({path, Access::kRead, "git's files"}, found_.read);
    }
    return std::move(found_);
  }

 private:
  Task<bool> Look(policy::WorkingDirectory directory) {
    Task<RepositoryFinder::Found> finding = repositories_.Find(policy_, directory);
    const RepositoryFinder::Found repository = co_await finding;
    if (repository && *repository) AddRepository(**repository);
    const std::vector<PathGrant> grants =
        policy::GrantsFor(*policy_, policy::Purpose::kBuild, directory.path());
    Task<ProtectedOr<bool>> searching = guard_.Search({.directory = directory.path(),
                                                       .writable = policy::WritableTrees(grants),
                                                       .policy = policy_});
    const ProtectedOr<bool> searched = co_await searching;
    co_return searched.has_value();
  }

  // The directory of the repository, too: locks that a killed git left there are removed.
  void AddRepository(const policy::Repository& repository) {
    std::vector<PathGrant>& all = found_.repositories;
    for (const PathGrant& grant : repository.grants) Add(grant, all);
    for (const std::string& path : {repository.git_dir, repository.common_dir}) {
      Add({path, sandbox::kReadWrite, "repository", sandbox::Symlinks::kRefuse}, all);
    }
  }

  void Add(PathGrant grant, std::vector<PathGrant>& to) const {
    if (grant.path.empty() || policy::IsWithin(grant, within_)) return;
    if (!policy::IsWithin(grant, to)) to.push_back(std::move(grant));
  }

  policy::PolicyPtr policy_;
  std::vector<PathGrant> within_;
  Elsewhere found_;
  Loop loop_;
  JanitorProcess process_;
  NotingJanitor janitor_;
  RepositoryFinder repositories_;
  ProtectedPathsGuard guard_;
};

}  // namespace

Elsewhere FindElsewhere(const policy::PolicyPtr& policy, const std::string& state_home,
                        const std::vector<std::string>& directories) {
  if (directories.empty()) return {};
  Search search(policy, state_home);
  for (const std::string& directory : directories) search.In(directory);
  return search.Take();
}

}  // namespace pa
