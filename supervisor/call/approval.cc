#include "supervisor/call/approval.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/text/text_cut.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

constexpr std::size_t kMaxShown = 2000;      // bytes of one text
constexpr std::size_t kFewShown = 200;       // where there are many
constexpr std::size_t kMaxArguments = 4000;  // bytes of all arguments, about
constexpr std::size_t kMaxBlanks = 8;        // in a row, that are written out
constexpr std::size_t kMaxQuestions = 200;   // that are written out, as many as a call can ask
constexpr std::size_t kLongQuestions = 20;   // of them at length

// What leaves a gap on a screen, lines' ends among it.
bool IsBlank(std::uint32_t point) {
  constexpr std::uint32_t kBlanks[] = {0x20, 0xa0, 0x1680, 0x202f, 0x205f, 0x2800, 0x3000};
  return (point >= 0x09 && point <= 0x0d) || (point >= 0x2000 && point <= 0x200a) ||
         std::ranges::find(kBlanks, point) != std::end(kBlanks) || IsInvisible(point);
}

// Long gaps as what they are: `ls [4000 blanks] rm -rf .` must not show as `ls`.
std::string WithoutGaps(std::string_view sound) {
  std::string out;
  while (!sound.empty()) {
    std::size_t gap = 0;
    std::size_t count = 0;
    std::size_t invalid = 0;
    std::size_t length = 0;
    while (gap < sound.size()) {
      length = Utf8SequenceLength(sound.substr(gap), &invalid);
      if (!IsBlank(CodePointOf(sound.substr(gap, length)))) break;
      gap += length;
      ++count;
    }
    if (count > kMaxBlanks) out += fmt::format(" [{} blanks] ", count);
    if (count <= kMaxBlanks) out += sound.substr(0, gap);
    sound.remove_prefix(gap);
    out += sound.substr(0, sound.empty() ? 0 : length);
    sound.remove_prefix(sound.empty() ? 0 : length);
  }
  return out;
}

// Of what is long the beginning and the end: what runs last is not hidden by what runs first.
std::string Shown(std::string_view text, std::size_t limit = kMaxShown) {
  const std::string whole = WithoutGaps(RepairUtf8(text));
  if (whole.size() <= limit) {
    std::string visible = VisibleText(whole);
    if (visible.size() <= 2 * limit) return visible;
  }
  const std::string_view from = whole;
  // Written out each can have become longer.
  const std::string begin = VisibleText(Utf8Head(from, limit * 3 / 4));
  const std::string end = VisibleText(Utf8Tail(from, limit / 4));
  const std::string_view head = Utf8Head(begin, limit * 3 / 4);
  const std::string_view tail = Utf8Tail(end, limit / 4);
  const std::size_t hidden = whole.size() - std::min(whole.size(), head.size() + tail.size());
  return fmt::format("{} [... {} bytes are not shown ...] {}", head, hidden, tail);
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
    case Answer::kTooMany:
      return "too many calls wait for the user's approval already";
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
  if (answer == Answer::kTooMany) return "Call again when the user has answered some of them.";
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
    case Answer::kTooMany:
      return "too_many";
  }
  return "";
}

void Approvals::Want(Question question) {
  const Digest digest = DigestOf(question);
  const bool known =
      std::ranges::any_of(wanted_, [&](const Question& one) { return DigestOf(one) == digest; });
  if (!known) wanted_.push_back(std::move(question));
}

std::string QuestionText(std::span<const Question> questions, const ShownCall& shown) {
  std::string text = "Allow this call?\n";
  if (!shown.part_of.empty()) text = fmt::format("Allow {}?\n", Shown(shown.part_of));
  std::size_t told = 0;
  for (const Question& question : questions.first(std::min(questions.size(), kMaxQuestions))) {
    const std::size_t limit = told++ < kLongQuestions ? kMaxShown : kFewShown;
    text += fmt::format("\n    {}\nAsked by {}{}\n", Shown(question.call, limit),
                        Shown(question.rule, limit),
                        question.reason.empty() ? "" : ": " + Shown(question.reason, limit));
  }
  if (questions.size() > kMaxQuestions) {
    text += fmt::format("\nand {} more that are not shown\n", questions.size() - kMaxQuestions);
  }
  return text + "\nArguments: " + shown.arguments;
}

std::string ShownArguments(const JsonValue* arguments) {
  if (arguments == nullptr || !arguments->IsObject()) return "none";
  std::string text;
  for (const auto& [name, value] : arguments->Members()) {
    // Tools have few: each is named, so that a long one does not hide the next.
    if (text.size() > 2 * kMaxArguments) return text + ", ... and more that are not shown";
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", Shown(name, kFewShown),
                        Shown(value.IsString() ? value.AsString() : value.Dump(),
                              text.size() > kMaxArguments ? kFewShown : kMaxShown));
  }
  return text.empty() ? "none" : text;
}

ToolError NotApproved(Answer answer, std::span<const Question> questions) {
  const Question& first = questions.front();
  std::string message =
      fmt::format("{}: '{}': {}", WhatHappened(answer), RepairUtf8(first.call, true), Why(first));
  if (questions.size() > 1) message += fmt::format(" (and {} more)", questions.size() - 1);
  return {.code = ErrorCode::kApprovalDeclined,
          .message = std::move(message),
          .ai_message = WhatNow(answer, first.rule),
          .details = {}};
}

}  // namespace pa
