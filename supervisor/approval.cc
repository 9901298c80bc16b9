#include "supervisor/approval.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/utf8.h"

namespace pa {
namespace {

constexpr std::size_t kMaxShown = 2000;      // characters of one text
constexpr std::size_t kMaxArguments = 4000;  // bytes of all arguments, about
constexpr std::size_t kMaxQuestions = 20;    // that are written out

// Marks that show nothing, or change in which direction the rest is written (Unicode 15, 23.2; "Trojan
// Source", CVE-2021-42574).
bool IsInvisible(std::uint32_t point) {
  return (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2060 && point <= 0x206f) || point == 0xfeff || point == 0xad ||
         point == 0x61c || (point >= 0x80 && point <= 0x9f) ||
         (point >= 0xe0000 && point <= 0xe0fff);
}

std::uint32_t CodePointOf(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  std::uint32_t point = sequence.size() == 1 ? lead : lead & (0x7fU >> sequence.size());
  for (const char c : sequence.substr(1))
    point = point << 6 | (static_cast<unsigned char>(c) & 63U);
  return point;
}

}  // namespace

std::string VisibleText(std::string_view text) {
  std::string out;
  const std::string sound = RepairUtf8(text);
  for (std::string_view left = sound; !left.empty();) {
    std::size_t invalid = 0;
    const std::size_t length = Utf8SequenceLength(left, &invalid);
    const std::uint32_t point = CodePointOf(left.substr(0, length));
    if (point == '\n') {
      out += "\\n";
    } else if (point < 0x20 || point == 0x7f || IsInvisible(point)) {
      out += fmt::format("\\u{{{:x}}}", point);
    } else {
      out += left.substr(0, length);
    }
    left.remove_prefix(length);
  }
  return out;
}

namespace {

// Of what is long the beginning alone is looked at.
std::string Shown(std::string_view text) {
  const std::string_view head = text.substr(0, 4 * kMaxShown);
  std::string visible = VisibleText(head);
  const std::string_view shown = Utf8Prefix(visible, kMaxShown);
  if (shown.size() == visible.size() && head.size() == text.size()) return visible;
  const std::size_t more = visible.size() - shown.size() + text.size() - head.size();
  return fmt::format("{} ... and {} more bytes that are not shown", shown, more);
}

std::string Why(const Question& question) {
  const std::string by = "by " + question.rule;
  return question.reason.empty() ? by : question.reason + " - " + by;
}

std::string WhatHappened(Answer answer) {
  switch (answer) {
    case Answer::kDecline:
      return "the user was asked and declined";
    case Answer::kCancel:
      return "the user was asked and dismissed the question";
    case Answer::kTimeout:
      return fmt::format("the user was asked and did not answer within {} minutes",
                         kAnswerPatience.count());
    default:
      return "the policy wants the user's approval, and this client cannot ask for it";
  }
}

std::string WhatNow(Answer answer, const std::string& rule) {
  if (answer == Answer::kUnavailable) {
    return "Do not retry. Tell the user what you want to run and why: the client would have to "
           "support MCP elicitation, or the user can run it, or change " +
           rule + " and reload the policy.";
  }
  return "Do not retry unless the user says so: ask what to do instead. It is " + rule +
         " that wants the approval.";
}

}  // namespace

Digest DigestOf(const Question& question) { return Sha256Of(question.rule + '\0' + question.call); }

const char* AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kAccept:
      return "accept";
    case Answer::kDecline:
      return "decline";
    case Answer::kCancel:
      return "cancel";
    case Answer::kTimeout:
      return "timeout";
    case Answer::kUnavailable:
      return "unavailable";
    case Answer::kPending:
      return "pending";
  }
  return "";
}

void Approvals::Want(Question question) {
  const Digest digest = DigestOf(question);
  const bool known =
      std::ranges::any_of(wanted_, [&](const Question& one) { return DigestOf(one) == digest; });
  if (!known) wanted_.push_back(std::move(question));
}

std::string QuestionText(std::span<const Question> questions, const std::string& arguments) {
  std::string text = "Allow this call?\n";
  for (const Question& question : questions.first(std::min(questions.size(), kMaxQuestions))) {
    text += fmt::format("\n    {}\nAsked by {}{}\n", Shown(question.call), Shown(question.rule),
                        question.reason.empty() ? "" : ": " + Shown(question.reason));
  }
  if (questions.size() > kMaxQuestions) {
    text += fmt::format("\nand {} more that are not shown\n", questions.size() - kMaxQuestions);
  }
  return text + "\nArguments: " + arguments;
}

std::string ShownArguments(const JsonValue* arguments) {
  if (arguments == nullptr || !arguments->IsObject()) return "none";
  std::string text;
  for (const auto& [name, value] : arguments->Members()) {
    if (text.size() > kMaxArguments) return text + ", ... and more that are not shown";
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", Shown(name),
                        Shown(value.IsString() ? value.AsString() : value.Dump()));
  }
  return text.empty() ? "none" : text;
}

ToolError NotApproved(Answer answer, std::span<const Question> questions) {
  const Question& first = questions.front();
  std::string message =
      fmt::format("{}: '{}': {}", WhatHappened(answer), RepairUtf8(first.call, true), Why(first));
  if (questions.size() > 1) message += fmt::format(" (and {} more)", questions.size() - 1);
  return {.code = "APPROVAL_DECLINED",
          .message = std::move(message),
          .ai_message = WhatNow(answer, first.rule),
          .recoverable = false,
          .details = {}};
}

}  // namespace pa
