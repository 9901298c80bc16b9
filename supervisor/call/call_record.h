// CallRecord: what is noted of one call while it runs, for the audit log and for progress. The
// steps of a tool write into it what they decide and run (CallContext::record); no other code has
// to know.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "policy/relaxations.h"
#include "supervisor/run/run_record.h"

namespace pa {

struct ApprovalRecord {
  std::string answer;  // AnswerName
  std::string rule;    // the one that asked
  std::chrono::milliseconds waited{0};
};

struct CallRecord {
  std::string directory;  // "" until one was accepted
  bool allowed = false;
  std::string rule;                       // the one that allowed it; "" = the default
  std::vector<ApprovalRecord> approvals;  // in the order of the questions
  std::vector<policy::Relaxation> relaxations;
  RunRecord run;
  bool asks_user = false;  // now: the call waits for the user
  // Of a call that makes others: `step test (2 of 3)`; empty for others.
  std::function<std::string()> doing = {};
};

// What a call waits for: `waiting, 3 before it`; "" if it runs.
inline std::string WaitingText(const CallRecord& record) {
  if (record.doing) return record.doing();
  if (record.asks_user) return "waiting for the user's approval";
  if (!record.run.queue.calls_before) return {};
  return "waiting, " + std::to_string(record.run.queue.calls_before()) + " before it";
}

}  // namespace pa
