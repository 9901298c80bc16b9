// The report of `doctor`: which protections this machine enforces, as observed, which it does not,
// and what to do about that. doctor_command.h fills it in.
//
//    const DoctorReport report = Examine(options, environment);
//    const std::string text = FormatDoctorText(report, {.colours = true, .width = 80});
//    return report.Complete() ? 0 : 1;
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "policy/relaxations.h"
#include "sandbox/enforcement.h"

namespace pa {

struct FoundProgram {
  std::string name;
  std::string path;    // "" = missing
  std::string advice;  // when missing: what needs it and how to get it
};

// Everything that doctor reports, as values, so that text and JSON cannot differ.
struct DoctorReport {
  sandbox::Enforcement enforcement;
  std::vector<FoundProgram> programs;
  std::vector<std::string> policy_files;  // that were read
  std::vector<std::string> policy_errors;
  std::vector<std::string> policy_warnings;
  std::optional<std::vector<policy::Relaxation>> relaxations;  // nothing: the policy does not load
  std::optional<std::string> audit_log;                        // likewise; "" = there is none
  std::vector<std::string> kept_edits;                         // supervisor/state/edit_journal.h
  std::string worker;                                          // "" = not found
  std::string worker_error;
  std::vector<std::string> probe_denied;   // what the probe tried and could not do
  std::vector<std::string> probe_allowed;  // what the probe could do, and must not
  std::string probe_error;                 // why there was no probe
  // What a server that has confined itself could do all the same; nothing: it was not tried.
  std::optional<std::vector<std::string>> server_can;
  std::string server_error;  // why that is not known

  // Every protection that the default policy requires is enforced.
  bool Enforceable() const;
  // Enforceable, and the policy in use loads; decides the exit status.
  bool Complete() const;
};

struct DoctorLook {
  bool colours = false;
  std::size_t width = 0;  // columns of the terminal; 0: lines are not broken
};
std::string FormatDoctorText(const DoctorReport& report, const DoctorLook& look = {});
std::string FormatDoctorJson(const DoctorReport& report);  // one line

}  // namespace pa
