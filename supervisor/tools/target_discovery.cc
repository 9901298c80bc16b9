#include "supervisor/tools/target_discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "supervisor/tools/make_database.h"
#include "supervisor/tools/makefile_text.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDeadline{10'000};
constexpr std::string_view kProbe = "__probe__: ;\n";

// Keeps of make's output what is looked for, and the beginning of its complaints.
class DatabaseSink : public OutputSink {
 public:
  void OnOutput(Stream stream, std::string_view bytes) override {
    if (stream == Stream::kStdout) return database_.Feed(bytes);
    complaints_.append(bytes.substr(0, kMaxComplaints - complaints_.size()));
  }
  MakeDatabase& database() { return database_; }
  const std::string& complaints() const { return complaints_; }

 private:
  static constexpr std::size_t kMaxComplaints = 8192;
  MakeDatabase database_;
  std::string complaints_;
};

ToolError NoMakefile(const Work& work) {
  return NotFound(
      fmt::format("no Makefile in {}", work.directory.path()),
      "There is no GNUmakefile, makefile or Makefile in this directory. Call makefile_generate to "
      "write a starter one, write one with `.PHONY` targets yourself, or pass the "
      "working_directory that has one.");
}

ToolError CannotLoad(const Work& work, const std::string& makefile, const Execution& run,
                     std::string_view complaints) {
  while (complaints.ends_with('\n')) complaints.remove_suffix(1);
  std::string message = complaints.empty()
                            ? fmt::format("make could not load {}: {}", makefile, HowItEnded(run))
                            : std::string(complaints);
  return MakefileInvalid(
      std::move(message),
      fmt::format("make cannot load {}/{}, so no target of it can be run. "
                  "Mend the Makefile as make's message says. "
                  "It is evaluated with the project read-only and without a network, "
                  "so $(shell) commands cannot write files while make reads it.",
                  work.directory.path(), makefile));
}

ToolError TooManyTargets(const std::string& makefile) {
  return MakefileInvalid(
      fmt::format("{} declares more than {} .PHONY targets", makefile, MakeDatabase::kMaxTargets),
      "Declare fewer .PHONY targets.");
}

// No argument of the call can give it more time.
ToolError TookTooLong(const std::string& makefile) {
  ToolError error = TimedOut("reading " + makefile, kDeadline, true);
  error.ai_message = fmt::format(
      "make takes too long to read {}: a $(shell) command or the rule of an included file is slow. "
      "Make it faster, or move it into a recipe.",
      makefile);
  return error;
}

// An exit status of 1 is -q's way to say that something would have to be made.
std::optional<ToolError> ErrorOfRun(const Work& work, const std::string& makefile,
                                    const Execution& run, DatabaseSink& sink) {
  if (run.outcome == Outcome::kExited) {
    if (run.exit_code > 1) return CannotLoad(work, makefile, run, sink.complaints());
    if (sink.database().too_large()) return TooManyTargets(makefile);
    return std::nullopt;
  }
  if (run.outcome == Outcome::kSignaled) {
    return CannotLoad(work, makefile, run, sink.complaints());
  }
  if (run.outcome == Outcome::kTimedOut) return TookTooLong(makefile);
  return ErrorOf({.what = "reading " + makefile}, run);
}

CommandPlan DatabasePlan(const Work& work, const TargetKey& key) {
  CommandPlan plan{.executable = key.make,
                   .argv = {"make", "-pq", "-f", key.makefile, "-f", "-", "__probe__"},
                   .env = key.environment,
                   .directory = work.directory,
                   .stdin_data = std::string(kProbe)};
  // The database's comments are translated; its mark of a .PHONY target is one of them.
  plan.env["LC_ALL"] = "C";
  return plan;
}

TargetKey KeyOf(const Work& work, const CallContext& call, const MakefileOnDisk& file,
                std::string text, std::string make) {
  struct stat directory{};
  fstat(work.directory.fd(), &directory);
  TargetKey key{.directory = work.directory.path(),
                .directory_device = directory.st_dev,
                .directory_inode = directory.st_ino,
                .makefile = file.name,
                .stamp = file.stamp,
                .text = std::move(text),
                .make = std::move(make),
                .policy = call.policy,
                .environment = MakeEnvironment(call)};
  AddCaches(work, call, key.environment);  // $(shell go list ./...) reads them
  key.make_stamp = StampOf(AT_FDCWD, key.make).value_or(FileStamp{});
  for (const char* name : {"MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS"}) key.environment.erase(name);
  return key;
}

// A file can be written again within one tick of the clock that stamps it; then both have one
// stamp. git has the same problem with its index, and the same answer: what is too young is not
// trusted.
bool IsRacy(const FileStamp& stamp) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t now_ns = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  const bool whole_seconds = stamp.changed_ns % 1'000'000'000 == 0;  // of an old file system
  const std::int64_t tick_ns = whole_seconds ? 3'000'000'000 : 50'000'000;
  return now_ns - std::max(stamp.changed_ns, stamp.modified_ns) < tick_ns;
}

// make read this file and our probe, and nothing else.
bool ReadOnly(const std::vector<std::string>& makefiles, const std::string& name) {
  return makefiles.size() == 2 && makefiles.front() == name;
}

// Makefiles that `file` includes, as far as they lie in the project; make has named them.
std::vector<std::string> Included(const std::vector<std::string>& makefiles,
                                  const std::string& name) {
  std::vector<std::string> included;
  for (const std::string& file : makefiles) {
    if (file != name && file != "-") included.push_back(file);
  }
  return included;
}

// The Makefile's own descriptions, then those of what it includes. A file that cannot be read or is
// no file of the project describes nothing.
std::map<std::string, std::string> Descriptions(const Work& work, const std::string& text,
                                                std::span<const std::string> included) {
  constexpr std::size_t kMaxRead = 16;
  std::map<std::string, std::string> descriptions = TargetDescriptions(text);
  for (const std::string& name : included.first(std::min(included.size(), kMaxRead))) {
    const Result<std::string> more = ReadIncluded(work.directory.fd(), name);
    if (more) descriptions.merge(TargetDescriptions(*more));
  }
  return descriptions;
}

TargetList ListOf(const std::string& makefile, const MakeDatabase& database,
                  const std::map<std::string, std::string>& descriptions) {
  TargetList list{.makefile = makefile};
  MakeDatabase::Targets phony = database.Phony();
  for (std::string& name : phony.offered) {
    const auto described = descriptions.find(name);
    list.targets.push_back(
        {std::move(name), described == descriptions.end() ? "" : described->second});
  }
  for (std::string& name : phony.refused) {
    list.refused.push_back(
        {std::move(name), "its name holds more than letters, digits, '_' and '-'"});
  }
  return list;
}

// Whether nothing but what the key holds can have made this list, now that make has run.
bool MayBeKept(const Work& work, const TargetKey& key, bool racy, const MakeDatabase& database) {
  return !racy && ReadOnly(database.Makefiles(), key.makefile) && DependsOnTextAlone(key.text) &&
         StampOf(work.directory.fd(), key.makefile) == key.stamp;
}

// `readable`: the key holds the Makefile's text.
Task<DiscoveredTargets> AskMake(const Work& work, policy::Allow allow, CallContext& call,
                                const MakefileOnDisk& file, TargetKey key, bool readable) {
  const bool racy = IsRacy(file.stamp);
  DatabaseSink sink;
  const RunOptions options{.sink = &sink,
                           .cancel = &call.cancel,
                           .capture = false,
                           .delivery = Delivery::kInBulk,
                           .record = &call.record.run};
  CommandPlan plan = DatabasePlan(work, key);
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  const Execution run = co_await task;
  sink.database().Finish();
  const std::vector<std::string> included = Included(sink.database().Makefiles(), file.name);
  if (auto error = ErrorOfRun(work, file.name, run, sink)) {
    if (error->code == ErrorCode::kMakefileInvalid)
      call.targets.Saw(work.directory.path(), {}, included);
    co_return std::unexpected(std::move(*error));
  }
  TargetList list = ListOf(file.name, sink.database(), Descriptions(work, key.text, included));
  if (readable && MayBeKept(work, key, racy, sink.database())) {
    call.targets.Store(std::move(key), list);
  }
  call.targets.Saw(work.directory.path(), list, included);
  co_return list;
}

}  // namespace

Task<DiscoveredTargets> DiscoverTargets(const Work& work, const policy::Permission& permission,
                                        std::string make, CallContext& call) {
  const std::optional<MakefileOnDisk> file = FindMakefile(work.directory.fd());
  if (!file) {
    call.targets.Saw(work.directory.path(), {});
    co_return std::unexpected(NoMakefile(work));
  }
  Result<std::string> text = ReadMakefile(work.directory.fd(), *file);
  const bool readable = text.has_value();
  TargetKey key = KeyOf(work, call, *file, readable ? std::move(*text) : "", std::move(make));
  if (const TargetList* known = readable ? call.targets.Find(key) : nullptr) {
    // A copy before anybody is told: on_change may lead anywhere.
    TargetList list = *known;
    call.targets.Saw(work.directory.path(), list);
    co_return list;
  }
  policy::Allow allow =
      permission.For({.purpose = policy::Purpose::kInspect, .timeout = kDeadline});
  Task<DiscoveredTargets> task =
      AskMake(work, std::move(allow), call, *file, std::move(key), readable);
  DiscoveredTargets targets = co_await task;
  co_return targets;
}

}  // namespace pa
