#include "supervisor/tools/target_discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "supervisor/text/visible_text.h"
#include "supervisor/tools/make_database.h"
#include "supervisor/tools/makefile_text.h"
#include "supervisor/tools/reach_above.h"
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

// The nearest directory above that has one and where calls may work; "" = none.
std::string MakefileAbove(const Work& work, const CallContext& call) {
  const std::string& root = work.directory.root();
  std::string path = work.directory.path();
  while (path.size() > root.size()) {
    path.resize(path.rfind('/'));
    const auto above = policy::ValidateWorkingDirectory(*call.policy, path);
    if (above && FindMakefile(above->fd())) return path;
  }
  return "";
}

ToolError NoMakefile(const Work& work, const CallContext& call) {
  const std::string message = fmt::format("no Makefile in {}", work.directory.path());
  if (const std::string above = MakefileAbove(work, call); !above.empty()) {
    return NotFound(fmt::format("{}, but {} has one", message, above),
                    fmt::format("Pass {} as working_directory.", above));
  }
  return NotFound(
      message,
      "There is no GNUmakefile, makefile or Makefile in this directory, nor above it. " +
          Offer(call, "makefile_generate", "Call makefile_generate to write a starter one, or ") +
          "write one with `.PHONY` targets yourself, or pass the working_directory that has one.");
}

// `make: *** [Makefile:3: config.mk] Error 2` -> config.mk, if the Makefile includes a file of that
// name; else "". make makes such files before it knows the targets.
std::string NotMade(std::string_view complaints, std::string_view text) {
  constexpr std::string_view kFailed = "*** [";
  std::string_view rest = complaints;
  for (std::size_t at = rest.find(kFailed); at != std::string_view::npos; at = rest.find(kFailed)) {
    rest.remove_prefix(at + kFailed.size());
    std::string_view name = rest.substr(0, rest.find("] Error"));
    if (name.size() == rest.size() || name.contains('\n')) continue;
    const std::size_t place = name.rfind(": ");
    if (place != std::string_view::npos) name.remove_prefix(place + 2);
    const std::string included(name);
    if (complaints.contains(included + ": No such file or directory") ||
        text.contains("include " + included)) {
      return included;
    }
  }
  return "";
}

// What to do about a Makefile that make cannot load.
std::string HowToMend(const Work& work, std::string_view complaints, std::string_view text) {
  if (const std::string above = ReachesAbove(work, complaints); !above.empty()) return above;
  if (const std::string name = NotMade(complaints, text); !name.empty()) {
    return fmt::format(
        "make has to make {0} first, because it is included, and cannot: targets are listed with "
        "the project read-only. Write `-include {0}` in place of `include {0}`: then the targets "
        "are listed without it, and make makes it when a target runs.",
        VisibleText(name));
  }
  return "Mend the Makefile as make's message says. It is evaluated with the project read-only and "
         "without a network, so $(shell) commands cannot write files while make reads it.";
}

ToolError CannotLoad(const Work& work, const std::string& makefile, const Execution& run,
                     std::string_view complaints, std::string_view text) {
  while (complaints.ends_with('\n')) complaints.remove_suffix(1);
  std::string message = complaints.empty()
                            ? fmt::format("make could not load {}: {}", makefile, HowItEnded(run))
                            : std::string(complaints);
  return MakefileInvalid(
      std::move(message),
      fmt::format("make cannot load {}/{}, so no target of it can be run. "
                  "{}",
                  work.directory.path(), makefile, HowToMend(work, complaints, text)));
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
                                    const Execution& run, DatabaseSink& sink,
                                    std::string_view text) {
  if (run.outcome == Outcome::kExited) {
    if (run.exit_code > 1) return CannotLoad(work, makefile, run, sink.complaints(), text);
    if (sink.database().too_large()) return TooManyTargets(makefile);
    return std::nullopt;
  }
  if (run.outcome == Outcome::kSignaled) {
    return CannotLoad(work, makefile, run, sink.complaints(), text);
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
                std::string make) {
  struct stat directory{};
  fstat(work.directory.fd(), &directory);
  TargetKey key{.directory = work.directory.path(),
                .directory_device = directory.st_dev,
                .directory_inode = directory.st_ino,
                .makefile = file.name,
                .stamp = file.stamp,
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
Task<std::map<std::string, std::string>> Descriptions(const Work& work, const std::string& text,
                                                      std::span<const std::string> included,
                                                      CallContext& call) {
  constexpr std::size_t kMaxRead = 16;
  std::map<std::string, std::string> descriptions = TargetDescriptions(text);
  for (const std::string& name : included.first(std::min(included.size(), kMaxRead))) {
    Task<Result<std::string>> reading =
        ReadIncluded(call.runner.janitor(), {work.directory.path(), work.directory.fd()}, name);
    const Result<std::string> more = co_await reading;
    if (more) descriptions.merge(TargetDescriptions(*more));
  }
  co_return descriptions;
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
bool MayBeKept(const Work& work, const TargetKey& key, const std::string& text, bool racy,
               const MakeDatabase& database) {
  return !racy && ReadOnly(database.Makefiles(), key.makefile) && DependsOnTextAlone(text) &&
         StampOf(work.directory.fd(), key.makefile) == key.stamp;
}

// `read`: the Makefile's text; nothing if it could not be read.
Task<DiscoveredTargets> AskMake(const Work& work, policy::Allow allow, CallContext& call,
                                const MakefileOnDisk& file, TargetKey key,
                                std::optional<std::string> read) {
  const std::string text = read.value_or("");
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
  if (auto error = ErrorOfRun(work, file.name, run, sink, text)) {
    if (error->code == ErrorCode::kMakefileInvalid)
      call.targets.Saw(work.directory.path(), {}, included);
    co_return std::unexpected(std::move(*error));
  }
  Task<std::map<std::string, std::string>> describing = Descriptions(work, text, included, call);
  const std::map<std::string, std::string> descriptions = co_await describing;
  TargetList list = ListOf(file.name, sink.database(), descriptions);
  if (read && MayBeKept(work, key, text, racy, sink.database())) {
    call.targets.Store(std::move(key), {Sha256Of(text), list});
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
    co_return std::unexpected(NoMakefile(work, call));
  }
  Task<Result<std::string>> reading =
      ReadMakefile(call.runner.janitor(), {work.directory.path(), work.directory.fd()}, *file);
  Result<std::string> text = co_await reading;
  TargetKey key = KeyOf(work, call, *file, std::move(make));
  const KnownTargets* known = text ? call.targets.Find(key) : nullptr;
  if (known != nullptr && known->digest == Sha256Of(*text)) {
    // A copy before anybody is told: on_change may lead anywhere.
    TargetList list = known->list;
    call.targets.Saw(work.directory.path(), list);
    co_return list;
  }
  policy::Allow allow =
      permission.For({.purpose = policy::Purpose::kInspect, .timeout = kDeadline});
  std::optional<std::string> read;
  if (text) read = *std::move(text);
  Task<DiscoveredTargets> task =
      AskMake(work, std::move(allow), call, *file, std::move(key), std::move(read));
  DiscoveredTargets targets = co_await task;
  co_return targets;
}

std::optional<RememberedTargets> RememberTargets(const Work& work, std::string make,
                                                 CallContext& call) {
  const std::optional<MakefileOnDisk> file = FindMakefile(work.directory.fd());
  if (!file) return std::nullopt;
  const KnownTargets* known = call.targets.Find(KeyOf(work, call, *file, std::move(make)));
  if (known == nullptr) return std::nullopt;
  RememberedTargets remembered{.list = known->list, .digest = known->digest};
  call.targets.Saw(work.directory.path(), remembered.list);
  return remembered;
}

}  // namespace pa
