// What one line says, and what it must not say.
#include "supervisor/audit/audit_event.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/json.h"
#include "supervisor/call/tool_error.h"
#include "tests/support/sanitizers.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

AuditedCall Call() {
  return {.id = NewAuditId(),
          .user = "ann",
          .caller = {.session = "s", .endpoint = "stdio", .client_name = "agent"},
          .tool = "make",
          .arguments = "{}",
          .began = std::chrono::system_clock::time_point(milliseconds(1'000'000))};
}

JsonValue Begin(const AuditedCall& call) {
  return ParseJson(BeginLine(call, {.sequence = 7})).value();
}

JsonValue End(const AuditedCall& call, const CallRecord& record, const ToolResult& result = {}) {
  return ParseJson(EndLine(call, record, result, milliseconds(25), {.landlock_abi = 6}, {}))
      .value();
}

// `{"a":{"b":1}}`, "a.b": the member as JSON, or "".
std::string At(const JsonValue& line, std::string_view path) {
  const JsonValue* at = &line;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    at = at->Find(std::string(path.substr(0, dot)));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return at == nullptr ? "" : at->Dump();
}

std::string ArgumentsOf(std::string_view json) {
  const JsonValue value = ParseJson(json).value();
  return AuditArguments(&value);
}

// https://schema.ocsf.io/1.3.0/classes/api_activity: what the class requires.
TEST(AuditEvent, HasWhatItsClassRequires) {
  for (const JsonValue& line : {Begin(Call()), End(Call(), {.allowed = true})}) {
    for (const char* required : {"activity_id", "category_uid", "class_uid", "severity_id", "time",
                                 "type_uid", "metadata.version", "metadata.product.vendor_name",
                                 "actor.user.uid", "api.operation", "src_endpoint.name"}) {
      EXPECT_NE(At(line, required), "") << required;
    }
    EXPECT_EQ(At(line, "class_uid"), "6003");
    EXPECT_EQ(At(line, "type_uid"), "600399");
  }
}

TEST(AuditEvent, BothLinesOfACallBelongTogether) {
  const AuditedCall call = Call();
  const JsonValue begin = Begin(call);
  const JsonValue end = End(call, {.allowed = true});
  EXPECT_EQ(At(begin, "metadata.correlation_uid"), At(end, "metadata.correlation_uid"));
  EXPECT_NE(At(begin, "metadata.uid"), At(end, "metadata.uid"));
  EXPECT_NE(At(begin, "metadata.tenant_uid"), "");
  EXPECT_EQ(At(begin, "metadata.tenant_uid"), At(end, "metadata.tenant_uid"));
  EXPECT_EQ(At(begin, "unmapped.phase"), "\"begin\"");
  EXPECT_EQ(At(begin, "unmapped.chain.sequence"), "7");
  EXPECT_EQ(At(end, "unmapped.phase"), "\"end\"");
  EXPECT_EQ(At(end, "time"), "1000025");
  EXPECT_EQ(At(end, "duration"), "25");
  EXPECT_NE(NewAuditId(), NewAuditId());
  EXPECT_EQ(At(end, "actor.user.name"), "\"ann\"");
}

TEST(AuditEvent, TheEndSaysWhatBecameOfTheCall) {
  EXPECT_EQ(At(End(Call(), {.allowed = true}), "status_id"), "1");
  ToolResult failed;
  failed.error =
      ToolError{.code = ErrorCode::kCommandFailed, .message = "make: exit code 2 token=abc"};
  const JsonValue line = End(Call(), {.allowed = true}, failed);
  EXPECT_EQ(At(line, "status_id"), "2");
  EXPECT_EQ(At(line, "status_code"), "\"COMMAND_FAILED\"");
  EXPECT_EQ(At(line, "status_detail"), "\"make: exit code 2 token=***\"");
  EXPECT_EQ(At(line, "action_id"), "1") << "it was allowed, and failed";
  ToolResult refused;
  refused.error = ToolError{.code = ErrorCode::kPolicyDenied};
  const JsonValue denied = End(Call(), {}, refused);
  EXPECT_EQ(At(denied, "action_id"), "2");
  EXPECT_EQ(At(denied, "disposition_id"), "2");
}

TEST(AuditEvent, SeverityIsWhatSomebodyShouldLookAt) {
  const auto severity = [](const CallRecord& record, const ToolResult& result) {
    return At(End(Call(), record, result), "severity_id");
  };
  EXPECT_EQ(severity({.allowed = true}, {}), "1");
  ToolResult sandboxed;
  sandboxed.denials.assign(9, "read /etc/shadow");
  EXPECT_EQ(severity({.allowed = true}, sandboxed), "2");
  const JsonValue line = End(Call(), {.allowed = true}, sandboxed);
  EXPECT_EQ(line.Find("unmapped")->Find("denials")->Items().at(0).AsString(), "read /etc/shadow");
  EXPECT_EQ(At(line, "unmapped.more_denials"), "1");
  ToolResult denied;
  denied.error = ToolError{.code = ErrorCode::kPolicyDenied};
  EXPECT_EQ(severity({}, denied), "3");
  EXPECT_EQ(severity({.allowed = true, .run = {.commands = {{.protected_changes = 1}}}}, {}), "4");
}

TEST(AuditEvent, WhatRanAndWhatWasRelaxed) {
  CallRecord record{.directory = "/home/ann/p", .allowed = true, .rule = "policy.yaml:3:5"};
  record.relaxations = {{policy::FullNetwork(), "network", "full", {"policy.yaml", 2, 10}, ""}};
  record.run.commands = {{.argv = {"make", "--token", "abc", "TOKEN=abc", "hello"},
                          .outcome = "exited",
                          .exit_code = 0,
                          .namespaces = true}};
  const JsonValue line = End(Call(), record);
  EXPECT_EQ(At(line, "unmapped.working_dir"), "\"/home/ann/p\"");
  EXPECT_EQ(At(line, "unmapped.decision.rule"), "\"policy.yaml:3:5\"");
  const JsonValue& relaxed =
      line.Find("unmapped")->Find("decision")->Find("relaxations")->Items().at(0);
  EXPECT_EQ(At(relaxed, "name"), "\"full_network\"");
  EXPECT_EQ(At(relaxed, "from"), "\"policy.yaml:2:10\"");
  const JsonValue& command = line.Find("unmapped")->Find("commands")->Items().at(0);
  EXPECT_EQ(At(command, "argv"), R"(["make","--token","***","TOKEN=***","hello"])");
  EXPECT_EQ(At(command, "namespaces"), "true");
  EXPECT_EQ(At(line, "unmapped.sandbox.landlock_abi"), "6");
}

TEST(AuditEvent, ArgumentsWithoutSecrets) {
  EXPECT_EQ(AuditArguments(nullptr), "{}");
  EXPECT_EQ(ArgumentsOf(R"({"target":"x","jobs":2})"), R"({"target":"x","jobs":2})");
  EXPECT_EQ(ArgumentsOf(R"({"env":{"API_TOKEN":"abc","pin":1,"password":1234}})"),
            R"({"env":{"API_TOKEN":"***","pin":1,"password":"***"}})");
  EXPECT_EQ(ArgumentsOf(R"({"args":["--password","abc","--name=x","abc"],"tokens":["a"]})"),
            R"({"args":["--password","***","--name=x","abc"],"tokens":["a"]})");
  EXPECT_EQ(ArgumentsOf(R"({"secret":["a","b"]})"), R"({"secret":["***","***"]})");
}

// The hash tells which text it was to whoever has the text.
TEST(AuditEvent, LongTextIsASizeAndAHash) {
  const std::string at_most(kMaxAuditText, 'a');
  EXPECT_EQ(ArgumentsOf("[\"" + at_most + "\"]"), "[\"" + at_most + "\"]");
  const std::string longer = at_most + "a";
  EXPECT_EQ(ArgumentsOf("[\"" + longer + "\"]"),
            "[{\"bytes\":257,\"sha256\":\"" + Hex(Sha256Of(longer)) + "\"}]");
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxAuditArguments; ++i) many += ",1";
  EXPECT_TRUE(ArgumentsOf(many + "]").starts_with("{\"bytes\":")) << ArgumentsOf(many + "]").size();
}

// M12: of what is executed so much is kept that padding does not hide it, and what is left out is
// counted.
TEST(AuditEvent, ACommandIsKept) {
  const auto command = [](const std::string& text) {
    return ArgumentsOf("{\"command\":" + JsonValue::String(text).Dump() + "}");
  };
  const std::string padded = "curl x | sh;" + std::string(300, ' ') + "--token=abc";
  EXPECT_EQ(command(padded),
            "{\"command\":\"curl x | sh;" + std::string(300, ' ') + "--token=***\"}");
  const std::string at_most(kMaxAuditCommand, 'a');
  EXPECT_EQ(command(at_most), "{\"command\":\"" + at_most + "\"}");
  for (const std::size_t filler :
       {std::size_t{4090}, std::size_t{9000}, testing::Volume(5'000'000)}) {
    const std::string longer =
        "first password=abc " + std::string(filler, 'a') + " password=xyz last";
    const JsonValue kept = ParseJson(command(longer)).value();
    const JsonValue& parts = *kept.Find("command");
    const std::string& head = parts.Find("head")->AsString();
    const std::string& tail = parts.Find("tail")->AsString();
    EXPECT_TRUE(head.starts_with("first password=*** aaa")) << filler;
    EXPECT_TRUE(tail.ends_with("aaa password=*** last")) << filler;
    EXPECT_EQ(head.size() + tail.size(), kMaxAuditCommand);
    EXPECT_EQ(parts.Find("bytes")->Dump(), std::to_string(longer.size()));
    EXPECT_EQ(parts.Find("left_out")->Dump(), std::to_string(longer.size() - kMaxAuditCommand));
    EXPECT_EQ(parts.Find("sha256")->AsString(), Hex(Sha256Of(longer)));
  }
  // A secret that the cut divides is none the less one.
  for (std::size_t before = 3040; before < 3080; ++before) {
    const std::string token = "ghp_" + std::string(36, 'x');
    const std::string cut = command(std::string(before, ' ') + token + std::string(9000, ' '));
    EXPECT_EQ(cut.find("ghp_"), std::string::npos) << before;
    const std::string late =
        command(std::string(9000, ' ') + token + std::string(4096 - before, ' '));
    EXPECT_EQ(late.find("xxx"), std::string::npos) << before;
  }
  // Escaped it takes six times as much, and is kept all the same.
  EXPECT_TRUE(command(std::string(kMaxAuditCommand, '\x01')).starts_with("{\"command\":\"\\u0001"));
}

TEST(AuditEvent, TheTokenOfTheClientIsNamed) {
  AuditedCall call = Call();
  EXPECT_EQ(At(ParseJson(BeginLine(call, {})).value(), "actor.session.credential_uid"), "");
  call.caller.token = "laptop";
  const JsonValue line = ParseJson(BeginLine(call, {})).value();
  EXPECT_EQ(At(line, "actor.session.credential_uid"), "\"laptop\"");
  EXPECT_EQ(At(line, "actor.session.issuer"), "");
}

TEST(AuditEvent, AnAccessTokenIsNamedByIssuerAndSubject) {
  AuditedCall call = Call();
  call.caller.token = "7c9e";
  call.caller.issuer = "https://issuer.example";
  const JsonValue line = ParseJson(BeginLine(call, {})).value();
  EXPECT_EQ(At(line, "actor.session.credential_uid"), "\"7c9e\"");
  EXPECT_EQ(At(line, "actor.session.issuer"), "\"https://issuer.example\"");
}

// Whatever a call does, its line stays one, and not a long one.
TEST(AuditEvent, StaysOneShortLine) {
  const std::string worst(testing::Volume(100'000), '\x01');  // six characters each, as JSON has it
  AuditedCall call = Call();
  call.tool = worst;
  call.caller = {.session = worst,
                 .endpoint = worst,
                 .token = worst,
                 .issuer = worst,
                 .client_name = worst,
                 .client_version = worst,
                 .revision = "2026-07-28",
                 .request_id = worst,
                 .traceparent = worst};
  CallRecord record{.directory = "/d", .allowed = true};
  for (int i = 0; i < 1000; ++i) {
    record.run.commands.push_back({.argv = std::vector<std::string>(3, std::string(9, 'a'))});
  }
  ToolResult result;
  const JsonValue line = End(call, record, result);
  EXPECT_EQ(At(line, "unmapped.more_commands"), "992");
  EXPECT_EQ(At(line, "unmapped.cut"), "");

  record.directory = worst;
  for (CommandRecord& command : record.run.commands)
    command.argv.assign(30, std::string(200, '\x01'));
  for (int i = 0; i < 100; ++i) {
    record.relaxations.push_back({policy::FullNetwork(), "network", worst, {}, ""});
    result.denials.push_back(worst);
  }
  result.error = ToolError{.code = ErrorCode::kInternal, .message = worst};
  const std::string text = EndLine(call, record, result, milliseconds(1), {}, {});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_LT(text.size(), kMaxAuditLine);
  const JsonValue cut = ParseJson(text).value();
  EXPECT_EQ(At(cut, "unmapped.cut"), "true");
  EXPECT_EQ(At(cut, "status_code"), "\"INTERNAL\"");
  EXPECT_LT(BeginLine(call, {}).size(), kMaxAuditLine);
}

// `policy allow` writes them into a policy: a line that is masked or cut would be another one.
TEST(AuditEvent, LinesOfPolicyAreThereWholeOrNotAtAll) {
  ToolResult result;
  const std::string plain = "filesystem: {read: [\"/a\\n b\"]}";
  result.allow_with = {plain, "filesystem: {read: [\"/p/password=hunter2hunter2\"]}",
                       "filesystem: {read: [\"/" + std::string(4096, 'a') + "\"]}",
                       "network: full"};
  const JsonValue line = End(Call(), {.allowed = true}, result);
  const std::vector<JsonValue>& lines = line.Find("unmapped")->Find("allow_with")->Items();
  ASSERT_EQ(lines.size(), 2u) << At(line, "unmapped.allow_with");
  EXPECT_EQ(lines[0].AsString(), plain);
  EXPECT_EQ(lines[1].AsString(), "network: full");
  EXPECT_EQ(At(line, "unmapped.more_allow_with"), "2");
  result.allow_with.assign(9, plain);
  const JsonValue many = End(Call(), {.allowed = true}, result);
  EXPECT_EQ(many.Find("unmapped")->Find("allow_with")->Items().size(), 8u);
  EXPECT_EQ(At(many, "unmapped.more_allow_with"), "1");
  EXPECT_EQ(At(End(Call(), {.allowed = true}), "unmapped.allow_with"), "");
}

}  // namespace
}  // namespace pa
