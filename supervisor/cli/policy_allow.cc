#include "supervisor/cli/policy_allow.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "policy/add_line.h"
#include "policy/load.h"
#include "supervisor/audit/audit_entry.h"
#include "supervisor/audit/audit_reader.h"
#include "supervisor/cli/audit_command.h"
#include "supervisor/cli/configuration.h"
#include "supervisor/cli/confirmed_write.h"
#include "supervisor/text/quote_command.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

constexpr int kNotAllowed = 1;

// The last call whose denials suggest a line, as the log of the policy in force has it. An error
// was printed.
std::optional<AuditEntry> LastSuggestion(const PolicyAllowCommand& command,
                                         const Environment& environment) {
  const std::vector<std::string> paths =
      AuditPathsOf({.files = {}, .policy_file = command.common.policy_file}, environment);
  if (paths.empty()) return std::nullopt;
  std::optional<AuditEntry> last;
  std::string unreadable;  // the place of a line after `last` that may be one
  AuditReader reader(paths);
  for (;;) {
    const Result<std::optional<AuditLine>> line = reader.Next();
    if (!line && line.error().sys_errno == ENOENT) break;  // no call was made yet
    if (!line) {
      PrintUnwritten(VisibleText(line.error().Message()));
      return std::nullopt;
    }
    if (!*line) break;
    // Most lines need not be parsed; of one that is too long only the beginning is here.
    if (!(*line)->too_long && !(*line)->text.contains("allow_with")) continue;
    Result<AuditEntry> entry = ReadAuditEntry((*line)->text);
    if (!entry) {
      unreadable = (*line)->place;
      continue;
    }
    if (entry->allow_with.empty() && entry->more_allow_with == 0) continue;
    last = *std::move(entry);
    unreadable.clear();
  }
  if (!unreadable.empty()) {
    PrintUnwritten(
        fmt::format("{} cannot be read and may be the last denial; the line itself can "
                    "be given instead of {}",
                    VisibleText(unreadable), kLastDenial));
    return std::nullopt;
  }
  if (!last) {
    PrintUnwritten(
        fmt::format("no call in {} was denied something that a line would allow; the "
                    "line itself can be given instead of {}",
                    VisibleText(paths.front()), kLastDenial));
  }
  return last;
}

// What stands on the command line, or what `LAST` stands for. An error was printed.
std::optional<std::string> LineOf(const PolicyAllowCommand& command,
                                  const Environment& environment) {
  if (command.line != kLastDenial) return command.line;
  std::optional<AuditEntry> last = LastSuggestion(command, environment);
  if (!last) return std::nullopt;
  const auto when = std::chrono::time_point_cast<std::chrono::seconds>(last->time);
  fmt::print("{} {} in {}, {:%F %T} UTC\n", VisibleText(last->tool), VisibleText(last->subject),
             VisibleText(last->directory), when);
  (void)fflush(stdout);
  if (last->allow_with.size() == 1 && last->more_allow_with == 0) {
    return std::move(last->allow_with.front());
  }
  for (const std::string& line : last->allow_with) {
    const std::string words[] = {"project-actions", "policy", "allow", line};
    fmt::print("  {}\n", VisibleText(QuoteCommand(words)));
  }
  (void)fflush(stdout);
  if (last->more_allow_with != 0) {
    fmt::print(stderr, "{} of its lines are not in the audit log; its result has them\n",
               last->more_allow_with);
  }
  PrintUnwritten("this call was denied several things: allow one of them by its line");
  return std::nullopt;
}

// The user's file, which is written. An error was printed.
std::optional<UserFileChange> FileOf(const policy::PolicySources& sources) {
  const std::string& path = sources.user_file.value_or(sources.default_user_file);
  Result<UserFile> file = ReadUserFile(path, std::filesystem::path(path).parent_path());
  if (file && sources.user_file && !file->exists) {
    file = std::unexpected(Error("open", path, ENOENT));
  }
  if (file) return UserFileChange{.path = path, .file = *std::move(file), .now = ""};
  PrintUnwritten(VisibleText(file.error().Message()));
  return std::nullopt;
}

// Null: it does not load, which standard error says.
policy::PolicyPtr LoadOrSay(const policy::PolicySources& sources) {
  policy::LoadedPolicy loaded = policy::LoadPolicy(sources);
  for (const policy::Diagnostic& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}\n", VisibleText(diagnostic.Format()));
  }
  return std::move(loaded.policy);
}

// The policy that `change` would make, if it loads as `policy check` has it, beneath the
// administrator's ceiling, and where we are if the present one loads there.
policy::PolicyPtr WouldLoad(const UserFileChange& change, policy::PolicySources here,
                            const Environment& environment) {
  policy::PolicySources elsewhere = SourcesElsewhere(change.path, environment);
  elsewhere.user_text = change.now;
  policy::PolicyPtr policy = LoadOrSay(elsewhere);
  if (policy == nullptr || !policy::LoadPolicy(here).policy) return policy;
  here.user_text = change.now;
  return LoadOrSay(here) != nullptr ? policy : nullptr;
}

}  // namespace

int RunPolicyAllow(const PolicyAllowCommand& command, const Environment& environment) {
  const policy::PolicySources sources = SourcesOf(command.common, environment);
  std::optional<UserFileChange> change = FileOf(sources);
  if (!change) return kNotAllowed;
  const std::optional<std::string> line = LineOf(command, environment);
  if (!line) return kNotAllowed;
  auto added = policy::AddLine(change->file.content, change->path, *line);
  if (!added) {
    PrintUnwritten(VisibleText(added.error()));
    return kNotAllowed;
  }
  const std::string name = VisibleText(change->path);
  change->now = std::move(added->text);
  const policy::PolicyPtr policy = WouldLoad(*change, sources, environment);
  if (!policy) {
    PrintUnwritten("the policy would not load with this line");
    return kNotAllowed;
  }
  if (change->now == change->file.content) {
    fmt::print("{}: nothing has to change; a server that runs reads it again on SIGHUP\n", name);
    return 0;
  }
  for (const policy::Relaxation& relaxation : policy->relaxations) {
    if (relaxation.key != added->key->name) continue;
    fmt::print("relaxed: {}\n", VisibleText(relaxation.Format()));
  }
  if (!WriteConfirmed({&*change, 1}, command.yes)) return kNotAllowed;
  fmt::print(
      "{}: {} is written; it holds for calls that begin once the server has read it again "
      "(SIGHUP) or is started again\n",
      name, added->key->name);
  return 0;
}

}  // namespace pa
