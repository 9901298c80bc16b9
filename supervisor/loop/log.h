// Log: short lines on stderr, for people. stdout is for the protocol.
//
//    StartLog({.verbose = true});
//    LogWarning("the audit log cannot be written: " + error.Message());
//
// It is no record of the calls: that is supervisor/audit/.
#pragma once

#include <string>
#include <string_view>

namespace pa {

// `PROGRAM: warning: TEXT`, on one line: control characters, which paths can have, become
// `?`.
void LogInfo(std::string_view text);
void LogNotice(std::string_view text);  // as LogInfo, but always
void LogWarning(std::string_view text);
void LogError(std::string_view text);

struct LogOptions {
  bool verbose = false;  // LogInfo, too
  // {"time","level","program","pid","message"}, the time of RFC 3339 in UTC, one line each.
  bool json = false;
  std::string program = "project-actions";
};

// Call it once, from main(), before anything is logged. Where stderr is the journal, a line begins
// with its priority in place of the program's name (sd-daemon(3)).
void StartLog(const LogOptions& options);

}  // namespace pa
