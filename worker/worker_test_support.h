// Runs the real worker as the supervisor does, and collects the results. For tests.
//
//    Scratch scratch;
//    WorkerRun run(Shell(scratch, "echo hello"));
//    Finished done = run.Wait();
//    EXPECT_EQ(done.out, "hello\n");
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "worker/spec.h"
#include "worker/status.h"

namespace pa::worker {

enum class User { kSelf, kNobody };  // kNobody: only if the tests run as root

// A directory for one test, owned by `user`, with `work` and `tmp` in it; removed at the end.
class Scratch {
 public:
  explicit Scratch(User user = User::kSelf);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? root_ : root_ + "/" + name;
  }
  std::string work() const { return path("work"); }
  std::string tmp() const { return path("tmp"); }
  void Give(const std::string& path) const;  // to the user

 private:
  std::string root_;
  User user_;
};

// `sh -c script` in scratch.work(), with TMPDIR scratch.tmp(); system paths are readable, both
// directories are writable.
WorkerSpec Shell(const Scratch& scratch, const std::string& script);

// A program that allows everything: most tests are not about seccomp.
std::string AllowAllProgram();

struct StartOptions {
  User user = User::kSelf;
  const char* worker = "project-actions-worker";  // -unconfined, -faults
  std::vector<std::string> worker_env;            // PA_FAIL_STEP=...
  std::string stdin_data;
  int ruleset_fd = -1;
  int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  std::string raw_spec;  // instead of the encoded one
  // The launcher gets the program of the spec, and the spec that is sent has none, unless there are
  // namespaces.
  std::optional<std::string> program;  // the launcher gets this one instead
  bool namespaces = false;             // the launcher makes `view`
  std::vector<sandbox::Mount> view;
  std::string program_in_spec;
  int signal_before_order = 0;         // to the waiting worker
  std::string raw_ceiling;             // instead of the encoded one
  std::optional<int> ceiling_ruleset;  // nothing: one that grants everything
  std::optional<CeilingSpec> ceiling;  // nothing: the launcher has none
};

struct Finished {
  std::vector<WorkerStatus> statuses;
  std::string out;
  std::string err;
  int exit_code = -1;  // of the worker; 128+N if it was killed

  const WorkerStatus& Last() const;  // a default one if there is none
};

// The order for an action that the worker carries out itself, on `file` of scratch.work(), with
// that directory alone granted.
WorkerSpec FileOrder(const Scratch& scratch, Action action, const std::string& file);
// The seccomp program that the supervisor sends with that action.
std::string ProgramOf(Action action);
// The launcher has no program, and the order has ProgramOf(action).
StartOptions Alone(Action action, std::string stdin_data = "",
                   const char* worker = "project-actions-worker");

class WorkerRun {
 public:
  explicit WorkerRun(const WorkerSpec& spec, const StartOptions& options = {});
  ~WorkerRun();

  pid_t pid() const { return pid_; }
  int control() const { return control_.get(); }
  void Cancel();
  void HangUp() { control_.reset(); }
  // Reads stdout until it holds `text`; false if it ended or ten seconds passed.
  bool WaitForOutput(const std::string& text);
  // Reads everything until the worker ends.
  Finished Wait();

 private:
  void Launch(const LaunchSpec& spec, const StartOptions& options,
              std::span<const int> descriptors);
  bool Pump(int timeout_ms);  // false when all that can be read has been read

  pid_t pid_ = -1;
  UniqueFd control_;
  UniqueFd out_;
  UniqueFd err_;
  Finished finished_;
};

// A number that no other process has in its command line, for testing::ProcessesWith: `sleep ` +
// UniqueSeconds().
std::string UniqueSeconds();

std::string WorkerPath(const char* name);

}  // namespace pa::worker
