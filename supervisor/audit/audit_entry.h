// AuditEntry: a line of the audit log, read back. The one place that reads the lines' members, and
// the opposite of audit_event.h.
//
//    Result<AuditEntry> entry = ReadAuditEntry(line);
//    if (!entry) Report(place, entry.error().Message());
//
// The texts are those of the log: hostile, and not fit for a terminal
// (supervisor/text/visible_text.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "supervisor/text/point_in_time.h"

namespace pa {

struct AuditEntry {
  enum class Phase : std::uint8_t { kBegin, kEnd };
  Phase phase = Phase::kBegin;
  std::string id;  // the same in both lines of a call
  std::uint64_t sequence = 0;
  PointInTime time;  // of the line: when the call began, or when it ended
  std::string tool;
  std::string code;                                   // of the error; "" = none
  bool refused = false;                               // before anything ran
  std::optional<std::chrono::milliseconds> duration;  // of a call that has ended
  std::string directory;                              // "" = not known
  std::string subject;  // what the call was about: the command, the target, the path
  std::vector<std::string> allow_with;  // lines of policy that the denials of the call suggest
  std::uint64_t more_allow_with = 0;    // of them not in the log
};

// An error for anything but a line as audit_event.h writes it.
Result<AuditEntry> ReadAuditEntry(std::string_view line);

}  // namespace pa
