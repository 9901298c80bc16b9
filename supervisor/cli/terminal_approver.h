// TerminalApprover: asks the user at the terminal, for `project-actions call`.
//
//    TerminalApprover approver(loop, STDIN_FILENO, STDERR_FILENO);
//    Task<Answer> task = approver.Ask(std::move(questions), call);
#pragma once

#include <uv.h>

#include <vector>

#include "supervisor/call/approval.h"

namespace pa {

// Reads one line from the terminal `in`: kAccept if it begins with y or Y, else kDecline; kCancel
// at the end of the input.
Answer ReadAnswer(int in);

class TerminalApprover final : public Approver {
 public:
  // `in` and `out`: a terminal, borrowed.
  TerminalApprover(uv_loop_t* loop, int in, int out) : loop_(loop), in_(in), out_(out) {}

  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

 private:
  uv_loop_t* loop_;
  int in_;
  int out_;
};

}  // namespace pa
