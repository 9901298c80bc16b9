// CallRecord: what became of one call, for whoever keeps a record of it. The steps of a tool write into it
// what they decide and run (CallContext::record); nobody else has to know.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "policy/relaxations.h"

namespace pa {

struct CommandRecord {
  std::vector<std::string> argv;  // of an operation within the worker: empty
  std::string outcome;            // as in the contract
  int exit_code = -1;
  int signal = 0;
  std::chrono::microseconds duration{0};
  std::uint64_t output_bytes = 0;
  bool namespaces = false;
  std::size_t protected_changes = 0;
  std::uint32_t strays_killed = 0;
};

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
  std::vector<CommandRecord> commands;  // in the order of their ends

  // Now, for whoever waits for the call (supervisor/progress.h).
  bool asks_user = false;
  std::function<std::size_t()> calls_before;  // in the queue; null when it does not wait there
};

// To the end of its scope the call waits, with so many before it; null: nobody hears of that.
class WaitingRecord {
 public:
  WaitingRecord(CallRecord* record, std::function<std::size_t()> before) : record_(record) {
    if (record_ != nullptr) record_->calls_before = std::move(before);
  }
  ~WaitingRecord() {
    if (record_ != nullptr) record_->calls_before = nullptr;
  }
  WaitingRecord(const WaitingRecord&) = delete;
  WaitingRecord& operator=(const WaitingRecord&) = delete;

 private:
  CallRecord* record_;
};

}  // namespace pa
