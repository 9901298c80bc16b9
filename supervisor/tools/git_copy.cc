#include "supervisor/tools/git_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "supervisor/janitor/file_chores.h"
#include "supervisor/loop/background.h"
#include "supervisor/tools/left_in_copy.h"
#include "supervisor/tools/text_sink.h"

namespace pa {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMaxIndexBytes = 64u << 20;
constexpr std::size_t kTold = 64u << 10;  // of what git prints, in bytes

// What the scripts leave in the copy.
constexpr std::string_view kLeftHead = "project-actions.head";
constexpr std::string_view kLeftPack = "project-actions.pack";
constexpr std::string_view kLeftEntries = "project-actions.entries";

// $1 is the common directory, $2 git, the rest its arguments. All of it runs confined, in reach of
// hooks and filters, so whatever it leaves is what they want it to be.
constexpr char kCommitScript[] =
    R"(common=$1 git=$2; shift 2; old=$("$git" rev-parse -q --verify HEAD); )"
    R"("$git" "$@" || exit; )"
    R"("$git" rev-parse --verify HEAD >"$common/project-actions.head"; )"
    R"(printf '%s\n' HEAD ${old:+"^$old"} | "$git" pack-objects --revs --thin )"
    R"(--delta-base-offset --stdout -q >"$common/project-actions.pack"; exit 0)";

// The entries of the index that are new, after those that are gone or replaced, as `git
// update-index --index-info` reads them, and a pack of their blobs. $3 to $5 are all before the
// paths. A step that fails ends it, so that nothing is taken for what it did not find.
constexpr char kAddScript[] =
    R"(set -e; common=$1 git=$2 left=$1/project-actions; shift 2; export LC_ALL=C; )"
    R"(list() { to=$1; shift 4; "$git" --literal-pathspecs ls-files --stage --full-name -z -- )"
    R"("$@" >"$to.raw"; sort -z "$to.raw" >"$to"; }; )"
    R"(list "$left.old" "$@"; "$git" "$@"; list "$left.new" "$@"; )"
    R"(comm -z -23 "$left.old" "$left.new" >"$left.gone"; )"
    R"(comm -z -13 "$left.old" "$left.new" >"$left.fresh"; )"
    R"(sed -z 's/^[0-7]* \([0-9a-f]*\) [0-3]/0 \1/' "$left.gone" >"$left.entries"; )"
    R"(cat "$left.fresh" >>"$left.entries"; )"
    R"(sed -z '/^160000 /d; s/^[0-7]* \([0-9a-f]*\) .*/\1/' "$left.fresh" >"$left.blobs"; )"
    R"(tr '\0' '\n' <"$left.blobs" >"$left.lines"; )"
    R"("$git" pack-objects --stdout -q <"$left.lines" >"$left.pack")";

// A file that the hooks may have replaced by anything.
Result<UniqueFd> OpenLeft(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return std::unexpected(Error("open", path, errno));
  if (!S_ISREG(status.st_mode)) return std::unexpected(Error("not a regular file", path, 0));
  return file;
}

// SHA-1 or SHA-256 in hex.
bool IsHash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<std::string> ReadLeftHead(const std::string& upper) {
  constexpr std::size_t kMost = 128;
  const std::string head = upper + "/" + std::string(kLeftHead);
  PA_TRY(const UniqueFd file, OpenLeft(head));
  PA_TRY(std::string commit, ReadFileFrom(file.get(), head, kMost));
  if (commit.ends_with('\n')) commit.pop_back();
  if (!IsHash(commit)) return std::unexpected(Error("not the name of a commit", head, 0));
  return commit;
}

// The digest of all that git prints.
class DigestSink final : public OutputSink {
 public:
  void OnOutput(Stream stream, std::string_view bytes) override {
    if (stream == Stream::kStdout) hash_.Update(bytes);
  }
  Digest Finish() { return hash_.Finish(); }

 private:
  Sha256 hash_;
};

// Of one line for each commit: hash, parents, and the committer's name, address and date.
struct CommitLine {
  std::string hash;
  std::string parents;
  std::string name;
  std::string email;
  std::string date;
};

constexpr char kCommitFormat[] = "--format=%H%x00%P%x00%cn%x00%ce%x00%cd";

std::vector<CommitLine> ReadCommits(std::string_view output) {
  std::vector<CommitLine> commits;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    CommitLine commit;
    for (std::string* field :
         {&commit.hash, &commit.parents, &commit.name, &commit.email, &commit.date}) {
      const std::size_t nul = std::min(line.find('\0'), line.size());
      *field = line.substr(0, nul);
      line.remove_prefix(std::min(nul + 1, line.size()));
    }
    commits.push_back(std::move(commit));
  }
  return commits;
}

// One run of a git that executes nothing but git.
struct Step {
  std::vector<std::string> argv;  // from "git" on
  std::map<std::string, std::string> more = {};
  std::shared_ptr<const UniqueFd> stdin_file = {};
};

// Nobody cancels it: it finishes what hooks have seen done.
Task<Execution> RunStep(const Work& work, const Git& git, Step step, OutputSink& sink,
                        CallContext& call) {
  CommandPlan plan{.executable = git.executable,
                   .argv = std::move(step.argv),
                   .env = GitEnvironment(work, git, call),
                   .directory = work.directory,
                   .stdin_data = std::nullopt,
                   .stdin_file = std::move(step.stdin_file),
                   .umask = git.umask};
  for (auto& [name, value] : step.more) plan.env[name] = std::move(value);
  policy::Allow allow =
      git.permission.For({.purpose = policy::Purpose::kGitAlone, .extra = git.grants});
  const RunOptions options{
      .sink = &sink, .capture = false, .record = &call.record.run, .in_turn = true};
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  Execution run = co_await task;
  co_return run;
}

// The error, if it did not succeed. `sink` must outlive the task.
Task<std::optional<ToolError>> MustRun(const Work& work, const Git& git, Step step, TextSink& sink,
                                       CallContext& call) {
  const std::string what = step.argv[0] + " " + step.argv[1];
  Task<Execution> task = RunStep(work, git, std::move(step), sink, call);
  const Execution run = co_await task;
  co_return ErrorOfGitReader(what, run, sink.complaints());
}

// A file of which a filter would have to tell whether it has changed counts as changed. Nothing
// here reads a file of the project, so nothing else depends on filters.
void LeaveOutFilters(Git& git) {
  for (const std::string& name : git.filters) {
    for (const char* of : {".clean", ".smudge", ".process"}) {
      git.settings.push_back({"filter." + name + of, ""});
    }
    git.settings.push_back({"filter." + name + ".required", "false"});
  }
}

ToolError NotTakenOver(bool commits, std::string_view why) {
  return CommandFailed(
      commits ? "git commit" : "git add",
      fmt::format("hooks or filters ran on a copy of the repository, and what is left there is not "
                  "taken over: {}",
                  why),
      commits
          ? "Nothing is committed; hooks may have changed files of the project, and what is "
            "staged. Look at that, and call git_commit again."
          : "Nothing is staged; filters may have changed files of the project. Look at them, and "
            "call git_add again.");
}

}  // namespace

Result<GitCopy> GitCopy::Make(const Work& work, const Git& git, bool commits, CallContext& call) {
  auto shell = Require("sh", work, call);
  if (!shell) return std::unexpected(Error("find", "sh", ENOENT));
  PA_TRY(CopyDirectory directory, CopyDirectory::Make(*call.policy, call.runner));
  return GitCopy(git, commits, call, *std::move(shell), std::move(directory));
}

CommandPlan GitCopy::Wrap(CommandPlan plan) const {
  std::vector<std::string> argv = {"sh",
                                   "-c",
                                   commits_ ? kCommitScript : kAddScript,
                                   "git",
                                   git_->repository->common_dir,
                                   git_->executable};
  argv.insert(argv.end(), plan.argv.begin() + 1, plan.argv.end());
  plan.argv = std::move(argv);
  plan.executable = shell_;
  return plan;
}

sandbox::Mount GitCopy::Overlay() const { return directory_.Over(git_->repository->common_dir); }

Task<bool> GitCopy::Begin() {
  const std::string& git_dir = git_->repository->git_dir;
  index_ = LookAt(git_dir + "/index");
  const UniqueFd fd(open(git_dir.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  Task<Result<std::string>> reading =
      ReadTextIn(call_->runner.janitor(), {git_dir, fd.get()}, "index", kMaxIndexBytes);
  const Result<std::string> bytes = co_await reading;
  Result<UniqueFd> kept = bytes ? SealedMemfd("index", *bytes) : std::unexpected(bytes.error());
  old_index_ = std::make_shared<const UniqueFd>(kept ? std::move(*kept) : UniqueFd());
  co_return bytes.has_value();
}

// git replaces its index by rename, also when only the times of files in it change, as with `git
// status` of an editor. So git itself compares both.
Task<bool> GitCopy::SameIndex(const Work& work, const Git& alone) {
  if (LookAt(git_->repository->git_dir + "/index") == index_) co_return true;
  if (!*old_index_) co_return false;
  std::vector<Digest> digests;
  for (const bool old : {true, false}) {
    Step step{.argv = {"git", "ls-files", "--stage", "-z", "--", ":/"}};
    if (old) step.stdin_file = old_index_;
    if (old) step.more["GIT_INDEX_FILE"] = "/proc/self/fd/0";
    DigestSink sink;
    Task<Execution> task = RunStep(work, alone, std::move(step), sink, *call_);
    const Execution run = co_await task;
    if (!run.Succeeded()) co_return false;
    digests.push_back(sink.Finish());
  }
  co_return digests[0] == digests[1];
}

Task<bool> GitCopy::End(const Execution& run, const Work& work) {
  if (run.Succeeded()) {
    Task<bool> task = commits_ ? TakeCommit(work) : TakeEntries(work);
    const bool done = co_await task;
    co_return done;
  }
  const bool began = run.outcome != Outcome::kExited && run.outcome != Outcome::kSetupFailed;
  if (began) kept_ = std::move(directory_).Keep();
  co_return false;
}

bool GitCopy::Refuse(std::string_view why) {
  error_ = NotTakenOver(commits_, why);
  return false;
}

Git GitCopy::Alone() const {
  Git alone = *git_;
  MakeAlone(alone);
  LeaveOutFilters(alone);
  return alone;
}

// On a thread: the agent's code has chosen how much there is.
Task<std::vector<std::string>> GitCopy::FindOtherChanges(std::string commit) const {
  Task<Names> task = InBackground<Names>(
      call_->runner.loop(), [upper = directory_.Upper(), repository = git_->repository->common_dir,
                             commit] { return OtherChanges(upper, repository, commit); });
  Names names = co_await task;
  co_return names;
}

// The objects that were left, with git's own checks, and those of git-lfs.
Task<std::optional<ToolError>> GitCopy::TakeObjects(const Work& work, const Git& alone) {
  Result<UniqueFd> pack = OpenLeft(directory_.Upper() + "/" + std::string(kLeftPack));
  if (!pack) co_return FileIo(pack.error().Message(), pack.error().sys_errno);
  TextSink sink(kTold);
  Step step{.argv = {"git", "unpack-objects", "-q", "--strict"},
            .stdin_file = std::make_shared<const UniqueFd>(*std::move(pack))};
  Task<std::optional<ToolError>> unpacking = MustRun(work, alone, std::move(step), sink, *call_);
  std::optional<ToolError> error = co_await unpacking;
  if (error) co_return error;
  Task<std::optional<ToolError>> copying =
      TakeLfsObjects(directory_, "/lfs", work, *git_, *call_, true);
  error = co_await copying;
  co_return error;
}

// A filter that stores something else in the repository (git-annex) would lose it.
Task<bool> GitCopy::TakeEntries(const Work& work) {
  Task<Names> looking = FindOtherChanges("");
  left_behind_ = co_await looking;
  if (!left_behind_.empty()) {
    needs_repository_ = true;
    co_return Refuse("a filter has stored more in the repository than what is staged");
  }
  Result<UniqueFd> entries = OpenLeft(directory_.Upper() + "/" + std::string(kLeftEntries));
  if (!entries) co_return Refuse(entries.error().Message());
  const Git alone = Alone();
  Task<std::optional<ToolError>> taking = TakeObjects(work, alone);
  const std::optional<ToolError> not_taken = co_await taking;
  if (not_taken) co_return Refuse(not_taken->message);
  TextSink sink(kTold);
  Step step{.argv = {"git", "update-index", "-z", "--index-info"},
            .stdin_file = std::make_shared<const UniqueFd>(*std::move(entries))};
  Task<std::optional<ToolError>> staging = MustRun(work, alone, std::move(step), sink, *call_);
  const std::optional<ToolError> not_staged = co_await staging;
  if (not_staged) co_return Refuse(not_staged->message);
  co_return true;
}

Task<bool> GitCopy::TakeCommit(const Work& work) {
  const Result<std::string> left = ReadLeftHead(directory_.Upper());
  if (!left) co_return Refuse(left.error().Message());
  const std::string& commit = *left;
  const Git alone = Alone();
  Task<std::optional<ToolError>> taking = TakeObjects(work, alone);
  const std::optional<ToolError> not_taken = co_await taking;
  if (not_taken) co_return Refuse(not_taken->message);
  const auto run = [&](Step step, TextSink& sink) {
    return MustRun(work, alone, std::move(step), sink, *call_);
  };
  // Without a commit HEAD is no name of anything, and is left out.
  TextSink listed(kTold);
  Task<std::optional<ToolError>> listing =
      run({.argv = {"git", "log", "--no-walk=unsorted", "--ignore-missing", "--encoding=none",
                    "--date=raw", "--no-show-signature", kCommitFormat, "HEAD", commit}},
          listed);
  const std::optional<ToolError> not_listed = co_await listing;
  if (not_listed) co_return Refuse(not_listed->message);
  const std::vector<CommitLine> commits = ReadCommits(listed.output());
  if (commits.empty() || commits.size() > 2 || commits.back().hash != commit) {
    co_return Refuse("it is not among the objects that they left");
  }
  const CommitLine& made = commits.back();
  const std::string head = commits.size() == 2 ? commits.front().hash : "";
  if (made.parents.substr(0, made.parents.find(' ')) != head) {
    co_return Refuse("HEAD has moved meanwhile, or the hooks made another commit before");
  }
  Task<bool> comparing = SameIndex(work, alone);
  const bool same = co_await comparing;
  if (!same) co_return Refuse("what is staged has changed meanwhile");
  TextSink reset(kTold);
  Task<std::optional<ToolError>> resetting =
      run({.argv = {"git", "reset", "-q", "-N", "--no-refresh", commit, "--", ":/"}}, reset);
  const std::optional<ToolError> not_reset = co_await resetting;
  if (not_reset) co_return Refuse(not_reset->message);
  TextSink committed(kTold);
  Task<std::optional<ToolError>> committing =
      run({.argv = {"git", "-c", "core.abbrev=no", "commit", "-C", commit, "--cleanup=verbatim",
                    "--allow-empty", "--allow-empty-message"},
           .more = {{"GIT_COMMITTER_NAME", made.name},
                    {"GIT_COMMITTER_EMAIL", made.email},
                    {"GIT_COMMITTER_DATE", made.date}}},
          committed);
  const std::optional<ToolError> not_committed = co_await committing;
  if (not_committed) co_return Refuse(not_committed->message);
  moved_ = !committed.output().contains(" " + commit + "]");
  Task<Names> looking = FindOtherChanges(commit);
  left_behind_ = co_await looking;
  co_return true;
}

}  // namespace pa
