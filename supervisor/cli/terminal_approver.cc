#include "supervisor/cli/terminal_approver.h"

#include <termios.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "supervisor/call/call_context.h"
#include "supervisor/loop/uv_handles.h"

namespace pa {

// A terminal gives whole lines.
Answer ReadAnswer(int in) {
  std::array<char, 256> line;
  const ssize_t got = read(in, line.data(), line.size());
  if (got <= 0) return Answer::kCancel;
  return line[0] == 'y' || line[0] == 'Y' ? Answer::kAccept : Answer::kDecline;
}

Task<Answer> TerminalApprover::Ask(std::vector<Question> questions, CallContext& call) {
  Completion<Answer> answer;
  bool settled = false;
  const auto settle = [&](Answer said) {
    if (!std::exchange(settled, true)) answer.Set(said);
  };
  Result<PollHandle> input = PollHandle::Create(loop_, in_, [&] { settle(ReadAnswer(in_)); });
  if (!input) co_return Answer::kUnavailable;
  TimerHandle patience(loop_);
  tcflush(in_, TCIFLUSH);  // what was typed before is no answer
  (void)WriteAll(out_, QuestionText(questions, call.shown) + "\n\n[y/N] ");
  input->Start();
  patience.Start(kAnswerPatience, [&] { settle(Answer::kTimeout); });
  call.cancel.OnCancel([&] { settle(Answer::kCancel); });
  const Answer said = co_await answer;
  call.cancel.Forget();
  co_return said;
}

}  // namespace pa
