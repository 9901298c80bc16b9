// Log: short lines on stderr, for people. stdout is for the protocol.
//
//    StartLog(verbose);
//    LogWarning("the audit log cannot be written: " + error.Message());
//
// It is no record of the calls: that is supervisor/audit/.
#pragma once

#include <string_view>

namespace pa {

// `PROGRAM: warning: TEXT`, on one line: control characters, which paths can have, become
// `?`.
void LogInfo(std::string_view text);
void LogWarning(std::string_view text);
void LogError(std::string_view text);

// Call it once, from main(), before anything is logged.
void StartLog(bool verbose, const char* program = "project-actions");

}  // namespace pa
