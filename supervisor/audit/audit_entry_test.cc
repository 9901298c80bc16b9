#include "supervisor/audit/audit_entry.h"

#include <gtest/gtest.h>

#include "supervisor/audit/audit_event.h"
#include "supervisor/call/tool_error.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using Phase = AuditEntry::Phase;

AuditedCall CallWith(std::string_view arguments) {
  const JsonValue value = ParseJson(arguments).value();
  return {.id = NewAuditId(),
          .user = "ann",
          .caller = {.session = "s", .endpoint = "stdio"},
          .tool = "make",
          .arguments = AuditArguments(&value),
          .began = std::chrono::system_clock::time_point(milliseconds(1'000'000))};
}

AuditEntry EntryOf(const std::string& line) {
  const Result<AuditEntry> entry = ReadAuditEntry(line);
  EXPECT_TRUE(entry) << entry.error().Message() << "\n" << line;
  return entry.value_or(AuditEntry{});
}

TEST(AuditEntry, IsWhatTheLinesSay) {
  const AuditedCall call = CallWith(R"({"target":"hello"})");
  const AuditEntry begin = EntryOf(BeginLine(call, {.sequence = 7}));
  EXPECT_EQ(begin.phase, Phase::kBegin);
  EXPECT_EQ(begin.id, call.id);
  EXPECT_EQ(begin.sequence, 7u);
  EXPECT_EQ(begin.time, PointInTime(milliseconds(1'000'000)));
  EXPECT_EQ(begin.tool, "make");
  EXPECT_EQ(begin.subject, "hello");
  EXPECT_FALSE(begin.duration);

  CallRecord record{.allowed = true};
  record.directory = "/srv/p";
  const AuditEntry end = EntryOf(EndLine(call, record, {}, milliseconds(25), {}, {.sequence = 8}));
  EXPECT_EQ(end.phase, Phase::kEnd);
  EXPECT_EQ(end.id, call.id);
  EXPECT_EQ(end.time, PointInTime(milliseconds(1'000'025)));
  EXPECT_EQ(end.duration, milliseconds(25));
  EXPECT_EQ(end.directory, "/srv/p");
  EXPECT_EQ(end.code, "");
  EXPECT_FALSE(end.refused);

  ToolResult failed;
  failed.error = CommandFailed("make", "exit status 2", "");
  EXPECT_EQ(EntryOf(EndLine(call, record, failed, milliseconds(25), {}, {})).code,
            "COMMAND_FAILED");
  ToolResult denied;
  denied.allow_with = {"network: full", "filesystem: {read: [\"/a\\n\"]}"};
  EXPECT_EQ(EntryOf(EndLine(call, record, denied, milliseconds(25), {}, {})).allow_with,
            denied.allow_with);
  EXPECT_TRUE(end.allow_with.empty());
  const AuditEntry refused =
      EntryOf(EndLine(call, {}, RefusedCall(Busy()), milliseconds(0), {}, {}));
  EXPECT_EQ(refused.code, "BUSY");
  EXPECT_TRUE(refused.refused);
}

TEST(AuditEntry, TellsWhatACallWasAbout) {
  const auto subject = [](std::string_view arguments) {
    return EntryOf(BeginLine(CallWith(arguments), {})).subject;
  };
  EXPECT_EQ(subject(R"({"command":"ls -l","timeout_ms":5})"), "ls -l");
  EXPECT_EQ(subject(R"({"pattern":"x","path":"src"})"), "x src");
  EXPECT_EQ(subject(R"({"paths":["a","b"]})"), "a b");
  EXPECT_EQ(subject(R"({"edits":[{"path":"a","old":"b","new":"c"}]})"), "a");
  EXPECT_EQ(subject(R"({"operation":"commit","message":"m"})"), "commit m");
  EXPECT_EQ(subject(R"({"message":")" + std::string(300, 'm') + R"("})"), "(300 bytes)");
  const std::string long_command = subject(R"({"command":")" + std::string(9000, 'c') + R"("})");
  EXPECT_EQ(long_command, std::string(3072, 'c') + "...");
  EXPECT_EQ(subject("{}"), "");
  EXPECT_EQ(subject(R"({"path":7})"), "");
}

TEST(AuditEntry, RefusesWhatIsNoLineOfTheLog) {
  const auto lacking = [](std::string_view line) {
    const Result<AuditEntry> entry = ReadAuditEntry(line);
    return entry ? "" : entry.error().Message();
  };
  const std::string good = R"({"time":1,"metadata":{"correlation_uid":"x"},)"
                           R"("unmapped":{"phase":"end","chain":{"sequence":1}}})";
  EXPECT_EQ(lacking(good), "");
  for (const auto& [cut, name] : {std::pair{R"("time":1,)", "time"},
                                  {R"("correlation_uid":"x")", "metadata.correlation_uid"},
                                  {R"("phase":"end",)", "unmapped.phase"},
                                  {R"("sequence":1)", "unmapped.chain.sequence"}}) {
    std::string line = good;
    line.erase(line.find(cut), std::string_view(cut).size());
    EXPECT_EQ(lacking(line), std::string("no line of the audit log: it lacks ") + name);
  }
  for (const char* line : {"", "{", "[]", "7", "not json"}) EXPECT_NE(lacking(line), "") << line;
}

}  // namespace
}  // namespace pa
