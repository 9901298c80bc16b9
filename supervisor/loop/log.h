// Log: short lines on stderr for people; stdout is the protocol.
#pragma once

#include <string_view>

namespace pa {

// `project-actions: warning: TEXT`. Text of others (paths, messages) is shown on one line.
void LogInfo(std::string_view text);
void LogWarning(std::string_view text);
void LogError(std::string_view text);

// From main(), once, before anything is logged.
void StartLog(bool verbose);

}  // namespace pa
