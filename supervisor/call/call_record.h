// CallRecord: what became of one call, for whoever keeps a record of it. The steps of a tool write
// into it what they decide and run (CallContext::record); nobody else has to know.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "policy/relaxations.h"
#include "supervisor/run/run_record.h"

namespace pa {

struct ApprovalRecord {
  std::string answer;  // AnswerName
  std::string rule;    // that wanted it
  std::chrono::milliseconds waited{0};
};

struct CallRecord {
  std::string directory;  // "" as long as none was accepted
  bool allowed = false;
  std::string rule;                       // that allowed it; "" = the default
  std::vector<ApprovalRecord> approvals;  // in the order of the questions
  std::vector<policy::Relaxation> relaxations;
  RunRecord run;
  bool asks_user = false;  // now: the call waits for an answer
};

}  // namespace pa
