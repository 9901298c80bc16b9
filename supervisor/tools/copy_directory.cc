#include "supervisor/tools/copy_directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/try.h"
#include "supervisor/loop/background.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/trash.h"
#include "supervisor/tools/left_in_copy.h"
#include "supervisor/tools/text_sink.h"

namespace pa {
namespace {

using Names = std::vector<std::string>;

// The rest of the name of one that is to be removed: it may be too large for the end of a server.
constexpr std::string_view kDone = ".done";

// Those that earlier servers had no time to remove, and those that have expired.
void RemoveOld(Runner& runner, const std::string& base) {
  for (const std::string& name : ReadNames(base).value_or(Names())) {
    if (name.ends_with(kDone)) runner.Discard(base + "/" + name);
  }
  for (const std::string& kept : ExpiredTrash(base, std::time(nullptr)).value_or(Names())) {
    runner.Discard(kept);
  }
}

}  // namespace

Result<CopyDirectory> CopyDirectory::Make(const policy::Policy& policy, Runner& runner) {
  PA_TRY(const std::string base, FindStateDirectory(policy, runner.state_home(), kCopiesDirectory));
  PA_TRY_VOID(MakeStateDirectory(base));
  RemoveOld(runner, base);
  CopyDirectory copy(runner, base + "/" + NewTrashId(std::time(nullptr)));
  for (const std::string& made : {copy.path_, copy.Upper(), copy.path_ + "/work"}) {
    if (mkdir(made.c_str(), S_IRWXU) != 0) return std::unexpected(Error("mkdir", made, errno));
  }
  return copy;
}

CopyDirectory::~CopyDirectory() {
  if (path_.empty()) return;
  const std::string done = path_ + std::string(kDone);
  const bool renamed = rename(path_.c_str(), done.c_str()) == 0;
  runner_->Discard(renamed ? done : path_);
}

sandbox::Mount CopyDirectory::Over(const std::string& directory) const {
  return {sandbox::MountKind::kOverlay, path_, directory};
}

Task<std::optional<ToolError>> TakeLfsObjects(const CopyDirectory& copy, std::string lfs,
                                              const Work& work, const Git& git, CallContext& call,
                                              bool in_turn) {
  const std::string left = copy.Upper() + lfs;
  const auto failed = [](const Error& error) { return FileIo(error.Message(), error.sys_errno); };
  Task<Result<bool>> checking =
      InBackground<Result<bool>>(call.runner.loop(), [left] { return CheckLfsObjects(left); });
  const Result<bool> any = co_await checking;
  if (!any) co_return failed(any.error());
  if (!*any) co_return std::nullopt;
  auto cp = Require("cp", work, call);
  if (!cp) co_return std::move(cp.error());
  // By themselves, so that they can be copied whether or not there is a .git/lfs.
  const std::string from = copy.path() + "/lfs";
  if (mkdir(from.c_str(), S_IRWXU) != 0 ||
      rename((left + "/objects").c_str(), (from + "/objects").c_str()) != 0) {
    co_return failed(Error("rename", from, errno));
  }
  const std::string& to = git.repository->common_dir;
  GitReader reader = ReaderOf(work, git, call);
  reader.executable = *cp;
  GitReading reading{.argv = {"cp", "-R", "-P", "-n", "--", from, to}, .grants = {}};
  reading.grants = RepositoryGrants(work, reader);
  reading.grants.push_back({*cp, sandbox::kReadExecute, "cp"});
  reading.grants.push_back({from, sandbox::Access::kRead, "objects of git-lfs"});
  reading.grants.push_back({to, sandbox::kReadWrite, "git repository", sandbox::Symlinks::kRefuse});
  TextSink sink(8u << 10);
  Task<Execution> task = RunGitReader(work, reader, std::move(reading), sink, call, in_turn);
  const Execution run = co_await task;
  co_return ErrorOfGitReader("cp of objects of git-lfs", run, sink.complaints());
}

Task<std::string> TryCopy(Runner& runner, policy::WorkingDirectory directory, policy::Allow allow,
                          policy::PolicyPtr policy) {
  const Result<CopyDirectory> copy = CopyDirectory::Make(*policy, runner);
  if (!copy) co_return copy.error().Message();
  // Any directory that commands see, and any program: the mount comes first.
  constexpr char kSeen[] = "/usr/share";
  CommandPlan plan{.executable = "/bin/true",
                   .argv = {"true"},
                   .directory = std::move(directory),
                   .stdin_data = std::nullopt,
                   .umask = std::nullopt};
  RunOptions options{.capture = false};
  options.overlay = copy->Over(kSeen);
  Task<Execution> task = runner.Run(std::move(plan), std::move(allow), policy, std::move(options));
  [[maybe_unused]] const Execution run = co_await task;
  co_return "";
}

}  // namespace pa
