// CallRecord: what is noted of one call while it runs, for the audit log and for progress. The
// steps of a tool write into it what they decide and run (CallContext::record); no other code has
// to know.
#pragma once

#include <chrono>
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
};

}  // namespace pa
