#include "supervisor/cli/audit_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "policy/load.h"
#include "supervisor/audit/audit_file.h"
#include "supervisor/audit/audit_reader.h"
#include "supervisor/cli/audit_view.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/text/point_in_time.h"
#include "supervisor/text/visible_text.h"
#include "supervisor/text/wrap.h"

namespace pa {
namespace {

constexpr int kDamaged = 1;
constexpr int kUnreadable = 2;

}  // namespace

std::vector<std::string> AuditPathsOf(const AuditFiles& named, const Environment& environment) {
  if (!named.files.empty()) return named.files;
  const policy::LoadedPolicy loaded =
      policy::LoadPolicy(SourcesOf({.policy_file = named.policy_file}, environment));
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", diagnostic.Format());
  }
  if (!loaded.policy) return {};
  if (loaded.policy->audit.daemon != policy::AuditPolicy::Daemon::kNone) {
    fmt::print(stderr,
               "the policy's audit log is not in a file but at {}; name files that hold its lines, "
               "each of one server; `audit show -` reads them from standard input\n",
               loaded.policy->audit.socket);
    return {};
  }
  if (loaded.policy->audit.path.empty()) {
    fmt::print(stderr, "the policy keeps no audit log (audit: {{to: none}})\n");
    return {};
  }
  return {loaded.policy->audit.path};
}

int RunAuditVerify(const AuditVerifyCommand& command, const Environment& environment) {
  const std::vector<std::string> paths = AuditPathsOf(command.log, environment);
  if (paths.empty()) return kUnreadable;
  const Result<ChainReport> report = CheckChain(paths);
  if (!report) {
    fmt::print(stderr, "{}\n", report.error().Message());
    return kUnreadable;
  }
  for (const std::string& problem : report->problems) fmt::print("{}\n", problem);
  if (report->problem_count > report->problems.size()) {
    fmt::print("and {} more\n", report->problem_count - report->problems.size());
  }
  const bool whole = report->problem_count == 0;
  fmt::print("{}: {} lines, {}\n", fmt::join(paths, ", "), report->lines,
             whole ? "no gap" : "NOT intact");
  if (report->first && report->first->sequence != 1) {
    fmt::print("the first line is number {}: lines before it are in another file, or gone\n",
               report->first->sequence);
  }
  return whole ? 0 : kDamaged;
}

namespace {

AuditQuery QueryOf(const AuditShowCommand& command) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  // The command line has checked that they are points in time.
  const auto point = [&](const std::optional<std::string>& text) -> std::optional<PointInTime> {
    if (!text) return std::nullopt;
    return ParsePointInTime(*text, now).value();
  };
  return {.since = point(command.since),
          .until = point(command.until),
          .tools = command.tools,
          .outcomes = command.outcomes,
          .json = command.json};
}

std::size_t WidthOfOutput() {
  constexpr std::size_t kUsual = 80;  // of a terminal that does not say it
  if (isatty(STDOUT_FILENO) == 0) return 0;
  const std::size_t width = TerminalWidth(STDOUT_FILENO);
  return width > 0 ? width : kUsual;
}

// Takes up what a reader and a view have to say; ends with a status.
class AuditShow {
 public:
  AuditShow(const AuditShowCommand& command, std::vector<std::string> paths)
      : follow_(command.follow),
        named_(!command.log.files.empty()),
        reader_(std::move(paths)),
        view_(QueryOf(command), WidthOfOutput()) {}

  int Run() {
    for (;;) {
      const Result<std::optional<AuditLine>> line = reader_.Next();
      if (!line) return Failed(line.error());
      if (*line) {
        if (!Print(view_.Add(**line))) return Unwritable();
        continue;
      }
      if (!follow_) return End();
      if (fflush(stdout) != 0) return Unwritable();
      if (!Wait()) return 0;
      view_.set_width(WidthOfOutput());
      const Result<AuditReader::Change> change = reader_.Renew();
      if (!change) return Failed(change.error());
      if (*change == AuditReader::Change::kTruncated) {
        fmt::print(stderr, "the log was truncated: lines may be lost; rename it instead\n");
      }
    }
  }

 private:
  static bool Print(const AuditOutput& output) {
    if (!output.err.empty()) {
      (void)fflush(stdout);  // on a terminal in the order of the log
      (void)fputs(output.err.c_str(), stderr);
    }
    return output.out.empty() || fputs(output.out.c_str(), stdout) >= 0;
  }

  int End() {
    if (const std::optional<AuditLine> rest = reader_.Rest()) Print(view_.Add(*rest));
    const bool printed = Print(view_.Finish());
    if (!printed || fflush(stdout) != 0) return Unwritable();
    if (!view_.found()) fmt::print(stderr, "no call of the log is what was asked for\n");
    return view_.damaged() == 0 ? 0 : kDamaged;
  }

  // A quarter of a second. False: nobody reads what we print any more.
  static bool Wait() {
    pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
    constexpr int kPatience = 250;
    return poll(&output, 1, kPatience) == 0;
  }

  int Failed(const Error& error) const {
    (void)fflush(stdout);
    // The first call makes the log.
    const bool none = !named_ && error.sys_errno == ENOENT;
    fmt::print(stderr, "{}{}\n", none ? "no call has been recorded here yet: " : "",
               VisibleText(error.Message()));
    return kUnreadable;
  }

  // Whoever reads what we print may have read enough.
  static int Unwritable() {
    if (errno == EPIPE) return 0;
    fmt::print(stderr, "{}\n", Error("write", "standard output", errno).Message());
    return kUnreadable;
  }

  bool follow_;
  bool named_;  // the files, on the command line
  AuditReader reader_;
  AuditView view_;
};

}  // namespace

int RunAuditShow(const AuditShowCommand& command, const Environment& environment) {
  std::vector<std::string> paths = AuditPathsOf(command.log, environment);
  if (paths.empty()) return kUnreadable;
  return AuditShow(command, std::move(paths)).Run();
}

}  // namespace pa
