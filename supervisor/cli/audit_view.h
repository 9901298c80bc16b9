// AuditView: what `audit show` prints of the lines of the audit log.
//
//    AuditView view({.since = since, .tools = {"bash"}}, TerminalWidth(STDOUT_FILENO));
//    const AuditOutput shown = view.Add(line);        // for each line
//    const AuditOutput rest = view.Finish();          // calls that have not ended; the damage
//
// A row for each call, in the order in which the calls ended. For a terminal rows have its width, a
// line says when a new day begins, and nothing in the log's texts can do more than be read there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/audit/audit_entry.h"
#include "supervisor/audit/audit_reader.h"
#include "supervisor/text/point_in_time.h"

namespace pa {

struct AuditQuery {
  std::optional<PointInTime> since, until;  // of the line; `until` itself is out
  std::vector<std::string> tools;           // none: all
  std::vector<std::string> outcomes;        // none: all; else of KnownOutcomes
  bool json = false;                        // the lines as they are, also those of a beginning
};

// `ok`, `failed`, `refused`, `unfinished`, and the error codes.
std::vector<std::string> KnownOutcomes();

struct AuditOutput {
  std::string out;  // whole lines
  std::string err;
};

class AuditView {
 public:
  // `width`: the columns of the terminal; 0: it is none, and nothing is cut.
  AuditView(AuditQuery query, std::size_t width) : query_(std::move(query)), width_(width) {}

  AuditOutput Add(const AuditLine& line);
  AuditOutput Finish();

  void set_width(std::size_t width) { width_ = width; }
  std::uint64_t damaged() const { return damaged_; }
  bool found() const { return found_; }  // any line or call that was asked for

 private:
  struct Begun {
    AuditEntry entry;
    std::string line;  // kept for JSON
  };

  std::string Damage(const AuditLine& line, const std::string& why);
  std::string Gap(const AuditLine& line, const AuditEntry& entry);
  bool IsAskedFor(const AuditEntry& entry) const;
  bool HasOutcome(const AuditEntry& entry, bool unfinished) const;
  void Begin(const AuditEntry& entry, const std::string& line, AuditOutput& output);
  void Show(const AuditEntry& entry, const std::string& line, bool unfinished, std::string& out);
  std::string Row(const AuditEntry& entry, std::string_view outcome);

  AuditQuery query_;
  std::size_t width_;
  std::list<Begun> begun_;  // in order
  std::map<std::string, std::list<Begun>::iterator> by_id_;
  std::uint64_t last_sequence_ = 0;  // 0: no line yet
  std::uint64_t damaged_ = 0;
  bool found_ = false;
  std::string day_;
};

}  // namespace pa
