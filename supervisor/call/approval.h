// Approvals: the questions that the user is asked about a call before it runs, and the answers.
//
//    if (!call.approvals.Has(question)) {
//      call.approvals.Want(question);
//      return NotApproved(Answer::kUnavailable, {&question, 1});    // unless somebody asks
//    }
//
// A step that needs an approval ends its tool, which has changed nothing by then. RunApproved
// (supervisor/engine/approved_call.h) asks the user, grants the approval and runs the tool again.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/json.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/loop/task.h"

namespace pa {

struct CallContext;

inline constexpr std::chrono::minutes kAnswerPatience{5};

struct Question {
  std::string rule;    // the one that asks: policy::Rule::where
  std::string reason;  // of the rule; may be ""
  std::string call;    // `make deploy`
};
// Of rule and call: the approval is for this pair.
Digest DigestOf(const Question& question);

enum class Answer {
  kAccept,
  kDecline,
  kCancel,   // the question was dismissed
  kTimeout,  // no answer within kAnswerPatience
  kUnavailable,
  kTooMany,  // too many calls wait for the user already
};
const char* AnswerName(Answer answer);  // `accept`, ... as the audit log has it

// The approvals of one call.
class Approvals {
 public:
  bool Has(const Question& question) const { return all_ || granted_.contains(DigestOf(question)); }
  void Want(Question question);  // again: no effect
  const std::vector<Question>& wanted() const { return wanted_; }
  void Forget() { wanted_.clear(); }
  void Grant(const Digest& digest) { granted_.insert(digest); }
  void GrantAll() { all_ = true; }  // for restoring the files of an approved edit
  const std::set<Digest>& granted() const { return granted_; }

 private:
  bool all_ = false;
  std::set<Digest> granted_;
  std::vector<Question> wanted_;
};

// Asks the user: over MCP, or at the terminal.
class Approver {
 public:
  virtual ~Approver() = default;
  // Asks one question for all of them. Bind the Task to a variable (supervisor/loop/task.h).
  virtual Task<Answer> Ask(std::vector<Question> questions, CallContext& call) = 0;
};

// What the user is told of a call besides what is asked about it.
struct ShownCall {
  std::string arguments = "none";  // from ShownArguments
  std::string part_of = {};        // `step 'deploy' of a pipeline`; "" = the client's own call
};

// The text that the user reads: each call on its own line, the reason, and the arguments. Text of
// an agent is escaped in it, so that it cannot end a line, hide a part or change the direction of
// writing.
std::string QuestionText(std::span<const Question> questions, const ShownCall& shown);

// A call's arguments as the user sees them. Long text is cut, with a note that it was.
std::string ShownArguments(const JsonValue* arguments);

// APPROVAL_DECLINED.
ToolError NotApproved(Answer answer, std::span<const Question> questions);

}  // namespace pa
