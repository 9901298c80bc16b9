// TerminalApprover: asks whoever sits at the terminal, for `project-actions call`.
#pragma once

#include <uv.h>

#include <string>
#include <vector>

#include "supervisor/call/approval.h"

namespace pa {

// Of the terminal `in`: a line that begins with y is yes; another, or the end of the input, is no.
Answer ReadAnswer(int in);

class TerminalApprover final : public Approver {
 public:
  // `in` and `out` are a terminal, borrowed. `arguments`: ShownArguments.
  TerminalApprover(uv_loop_t* loop, int in, int out, std::string arguments)
      : loop_(loop), in_(in), out_(out), arguments_(std::move(arguments)) {}

  Task<Answer> Ask(std::vector<Question> questions, CallContext& call) override;

 private:
  uv_loop_t* loop_;
  int in_;
  int out_;
  std::string arguments_;
};

}  // namespace pa
