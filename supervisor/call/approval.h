// Approvals: what the user is asked about a call before it runs, and the answers.
//
//   if (!call.approvals.Has(question)) {
//     call.approvals.Want(question);
//     return NotApproved(Answer::kUnavailable, {&question, 1});    // unless somebody asks
//   }
//
// A step that needs an approval ends its tool, which has changed nothing by then; whoever runs the
// tool asks, grants and runs it again (supervisor/engine/approved_call.h).
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
  std::string rule;    // that asks: policy::Rule::where
  std::string reason;  // of the rule; may be ""
  std::string call;    // `make deploy`
};
// Of rule and call: what an approval is for.
Digest DigestOf(const Question& question);

enum class Answer {
  kAccept,
  kDecline,
  kCancel,   // the question was dismissed
  kTimeout,  // kAnswerPatience is over
  kUnavailable,
  kPending,  // it comes with another request of the client's
};
const char* AnswerName(Answer answer);  // `accept`, ... as the audit log has it

// Of one call.
class Approvals {
 public:
  bool Has(const Question& question) const { return all_ || granted_.contains(DigestOf(question)); }
  void Want(Question question);  // each once
  const std::vector<Question>& wanted() const { return wanted_; }
  void Forget() { wanted_.clear(); }
  void Grant(const Digest& digest) { granted_.insert(digest); }
  void GrantAll() { all_ = true; }  // of what puts back what was approved
  const std::set<Digest>& granted() const { return granted_; }

 private:
  bool all_ = false;
  std::set<Digest> granted_;
  std::vector<Question> wanted_;
};

// Whoever can ask the user.
class Approver {
 public:
  virtual ~Approver() = default;
  // One question for all of them. To be bound to a variable, as every Task.
  virtual Task<Answer> Ask(std::vector<Question> questions, CallContext& call) = 0;
};

// What the user reads: each call on a line of its own, why, and the arguments. Nothing in it is
// more than text: what an agent writes cannot end a line, hide a part or turn the direction of
// writing.
std::string QuestionText(std::span<const Question> questions, const std::string& arguments);

// Text of others on one line: what shows nothing, moves the cursor or turns the direction is
// written out.
std::string VisibleText(std::string_view text);

// The part of a call's arguments that the user sees. Long text is cut, and says so.
std::string ShownArguments(const JsonValue* arguments);

// APPROVAL_DECLINED.
ToolError NotApproved(Answer answer, std::span<const Question> questions);

}  // namespace pa
