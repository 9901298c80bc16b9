// What a conversation cannot show; all that a client sees is in tests/conversations.
#include "supervisor/mcp/session.h"

#include <gtest/gtest.h>

#include "tests/support/failing_new.h"
#include "tests/support/fake_world.h"
#include "tests/support/few_descriptors.h"

namespace pa {
namespace {

std::string Call(const std::string& id, const std::string& tool, const std::string& meta = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" + tool +
         R"(","arguments":{},"_meta":)" + meta + "}}";
}

std::string CancelCall(const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
         "}}";
}

TEST(Session, CountsWhatIsInFlight) {
  FakeWorld world;
  EXPECT_EQ(world.session().in_flight(), 0u);
  for (const char* id : {"1", "2", R"("")"}) world.session().OnLine(Call(id, "wait"));
  EXPECT_EQ(world.session().in_flight(), 3u);
  world.Finish();
  EXPECT_EQ(world.session().in_flight(), 2u);
  world.session().OnLine(CancelCall("2"));
  EXPECT_EQ(world.session().in_flight(), 1u);
  EXPECT_EQ(world.running(), 1u);
}

TEST(Session, LeavesNothingOfACallThatEndsAtOnce) {
  FakeWorld world;
  world.session().OnLine(Call("1", "fail", R"({"progressToken":1})"));
  EXPECT_EQ(world.session().in_flight(), 0u);
  EXPECT_EQ(world.transport.sent.size(), 1u);
}

TEST(Session, EndsOnceAndOnlyWhenAskedTo) {
  FakeWorld world;
  int ended = 0;
  world.session().WhenEnded([&] { ++ended; });
  world.session().OnLine(Call("1", "wait"));
  world.Finish();
  EXPECT_EQ(ended, 0) << "an idle session has not ended";
  world.session().OnClosed();
  EXPECT_EQ(ended, 1);
  world.session().Shutdown();
  EXPECT_EQ(ended, 1);
}

TEST(Session, SaysSoIfItEndedBeforeAnybodyAsked) {
  FakeWorld world;
  world.session().Shutdown();
  bool ended = false;
  world.session().WhenEnded([&] { ended = true; });
  EXPECT_TRUE(ended);
}

TEST(Session, CancelsEveryCallWhenItsClientGoesAway) {
  FakeWorld world;
  for (int id = 0; id < 5; ++id) world.session().OnLine(Call(std::to_string(id), "wait"));
  std::size_t in_flight_at_end = 99;
  world.session().WhenEnded([&] { in_flight_at_end = world.session().in_flight(); });
  world.session().OnClosed();
  EXPECT_EQ(world.running(), 0u);
  EXPECT_EQ(in_flight_at_end, 0u);
}

TEST(Session, SaysThatItEndsBeforeACallCanTakeThePlaceOfAnother) {
  FakeWorld world;
  for (int id = 0; id < 2; ++id) world.session().OnLine(Call(std::to_string(id), "wait"));
  std::size_t running = 99;
  int times = 0;
  world.session().WhenEnding([&] {
    running = world.running();
    ++times;
  });
  world.session().OnClosed();
  world.session().Shutdown();
  EXPECT_EQ(running, 2u);
  EXPECT_EQ(times, 1);
}

TEST(Session, KeepsThePolicyOfTheBeginningForACall) {
  FakeWorld world;
  world.session().OnLine(Call("1", "wait"));
  world.Enable({});
  world.session().OnLine(Call("2", "wait"));
  EXPECT_EQ(world.running(), 1u);
  ASSERT_EQ(world.transport.sent.size(), 1u);
  EXPECT_NE(world.transport.sent[0].find("TOOL_DISABLED"), std::string::npos);
}

TEST(Session, GivesASinkOnlyToThoseWhoAsked) {
  FakeWorld world;
  world.session().OnLine(Call("1", "wait"));
  world.Print("unheard\n");
  EXPECT_TRUE(world.transport.sent.empty());
  world.session().OnLine(Call("2", "wait", R"({"progressToken":"t"})"));
  world.Print("heard\n");
  EXPECT_EQ(world.transport.sent.size(), 1u);
}

TEST(Session, ACallThatIsSilentOrAsksTheUserIsHeardOf) {
  FakeWorld world(kAnswerPatience, std::chrono::milliseconds(1));
  world.session().OnLine(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize",)"
      R"("params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}})");
  world.session().OnLine(Call("1", "wait", R"({"progressToken":"t"})"));
  world.WaitFor(3);
  EXPECT_NE(world.transport.sent[2].find("still running, "), std::string::npos)
      << world.transport.sent[2];
  world.Finish();
  EXPECT_NE(world.transport.sent.back().find(R"("id":1,"result")"), std::string::npos);
  const std::size_t sent = world.transport.sent.size();
  world.Wait();
  EXPECT_EQ(world.transport.sent.size(), sent) << "nothing after the reply";

  world.Enable({"ask"});
  world.session().OnLine(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call",)"
      R"("params":{"name":"ask","arguments":{"text":"x"},"_meta":{"progressToken":"u"}}})");
  world.WaitFor(sent + 2);
  EXPECT_NE(world.transport.sent[sent].find("elicitation/create"), std::string::npos);
  EXPECT_NE(world.transport.sent[sent + 1].find("waiting for the user's approval"),
            std::string::npos);
}

constexpr const char* kNote = R"({"jsonrpc":"2.0","id":"n","method":"tools/call",)"
                              R"("params":{"name":"note","arguments":{"text":"x"}}})";

TEST(Session, WhereThereAreFewDescriptorsCallsWaitBeforeTheyBegin) {
  const testing::FewDescriptors few(64);
  FakeWorld world(kAnswerPatience, std::chrono::milliseconds(1));
  world.session().OnLine(Call("1", "wait"));
  world.session().OnLine(Call("2", "wait", R"({"progressToken":"t"})"));
  world.session().OnLine(Call("3", "wait"));
  EXPECT_EQ(world.session().in_flight(), 3u);
  EXPECT_EQ(world.running(), 1u);
  world.WaitFor(1);
  EXPECT_NE(world.transport.sent[0].find("waiting, 1 before it"), std::string::npos)
      << world.transport.sent[0];
  world.session().OnLine(kNote);
  EXPECT_NE(world.transport.sent.back().find(R"("id":"n","result")"), std::string::npos)
      << "who only looks waits for none of them";
  world.session().OnLine(CancelCall("2"));
  EXPECT_EQ(world.session().in_flight(), 2u);
  EXPECT_EQ(world.running(), 1u);
  world.Finish();
  EXPECT_EQ(world.running(), 1u) << "the third has begun";
  world.Finish();
  EXPECT_EQ(world.session().in_flight(), 0u);
}

TEST(Session, WhereThereAreEnoughDescriptorsCallsBegin) {
  const testing::FewDescriptors enough(1024);
  FakeWorld world;
  for (int id = 0; id < 5; ++id) world.session().OnLine(Call(std::to_string(id), "wait"));
  EXPECT_EQ(world.running(), 5u);
}

TEST(Session, WhoeverAsksTheUserKeepsNobodyFromBeginning) {
  const testing::FewDescriptors few(64);
  FakeWorld world;
  world.Enable({"ask", "wait"});
  world.session().OnLine(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize",)"
      R"("params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}})");
  world.session().OnLine(R"({"jsonrpc":"2.0","id":1,"method":"tools/call",)"
                         R"("params":{"name":"ask","arguments":{"text":"x"}}})");
  EXPECT_NE(world.transport.sent.back().find("elicitation/create"), std::string::npos);
  world.session().OnLine(Call("2", "wait"));
  EXPECT_EQ(world.running(), 1u);
}

// Each allocation that there is fails once: the call fails or not, the session stays, and it says
// so once.
TEST(Session, WithoutMemoryEachRequestIsAnsweredAllTheSame) {
  const std::string unknown = R"({"jsonrpc":"2.0","id":"n","method":"x"})";
  const std::string initialize = R"({"jsonrpc":"2.0","id":"n","method":"initialize",)"
                                 R"("params":{"protocolVersion":"2025-03-26","capabilities":{}}})";
  for (const std::string& line :
       {std::string(kNote), unknown, initialize, std::string("nonsense")}) {
    std::size_t failures = 0;
    for (bool failed = true; failed;) {
      FakeWorld world;
      testing::FailingNew failing(failures + 1);
      world.session().OnLine(line);
      failing.Stop();
      failed = failing.failed();
      if (failed) ++failures;
      ASSERT_EQ(world.transport.sent.size(), 1u) << line << failures;
      const char* answered = line == "nonsense" ? R"("error")" : R"("id":"n")";
      EXPECT_NE(world.transport.sent[0].find(answered), std::string::npos)
          << world.transport.sent[0];
      EXPECT_EQ(world.session().in_flight(), 0u);
      world.session().OnLine(kNote);
      EXPECT_EQ(world.transport.sent.size(), 2u) << "it goes on";
    }
    EXPECT_GT(failures, 3u) << line;
  }
}

TEST(Session, WithoutMemoryACallThatEndsIsAnsweredAllTheSame) {
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    FakeWorld world;
    world.session().OnLine(Call("1", "wait", R"({"progressToken":"t"})"));
    ASSERT_EQ(world.running(), 1u);
    testing::FailingNew failing(failures + 1);
    world.Finish();
    failing.Stop();
    failed = failing.failed();
    if (failed) ++failures;
    ASSERT_EQ(world.transport.sent.size(), 1u) << failures;
    EXPECT_NE(world.transport.sent[0].find(R"("id":1,"result")"), std::string::npos)
        << world.transport.sent[0];
    EXPECT_EQ(world.session().in_flight(), 0u);
  }
  EXPECT_GT(failures, 5u);
}

TEST(Session, WithoutMemoryABatchIsAnsweredAllTheSame) {
  const std::string initialize = R"({"jsonrpc":"2.0","id":0,"method":"initialize",)"
                                 R"("params":{"protocolVersion":"2025-03-26","capabilities":{}}})";
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    FakeWorld world;
    world.session().OnLine(initialize);
    world.session().OnLine("[" + Call("1", "wait") + "," + Call("2", "fail") + "]");
    ASSERT_EQ(world.running(), 1u);
    ASSERT_EQ(world.transport.sent.size(), 1u);
    world.transport.sent.reserve(2);  // the real one needs nothing for a line with room for its end
    testing::FailingNew failing(failures + 1);
    world.Finish();
    failing.Stop();
    failed = failing.failed();
    if (failed) ++failures;
    ASSERT_EQ(world.transport.sent.size(), 2u) << failures;
    const std::string& both = world.transport.sent[1];
    EXPECT_TRUE(both.starts_with("[{") && both.ends_with("}]")) << both;
    EXPECT_NE(both.find(R"("id":1,"result")"), std::string::npos) << both;
    EXPECT_NE(both.find(R"("id":2,"result")"), std::string::npos) << both;
  }
  EXPECT_GT(failures, 5u);
}

std::string Said(const FakeWorld& world) {
  std::string all;
  for (const std::string& line : world.transport.sent) all += line + '\n';
  return all;
}

void OpenLegacy(FakeWorld& world) {
  world.session().OnLine(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
  world.transport.sent.clear();
}

std::string Request(const std::string& id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params +
         "}";
}

constexpr const char* kModernMeta = R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                                    R"("io.modelcontextprotocol/clientCapabilities":{}})";
constexpr const char* kModernMetaAtInfo =
    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info"})";

TEST(LogMessages, OfAModernRequestAreThoseThatItAsksFor) {
  FakeWorld world;
  world.session().OnLine(Call("1", "long", kModernMeta));
  EXPECT_EQ(Said(world).find("notifications/message"), std::string::npos);
  world.transport.sent.clear();
  world.session().OnLine(Call("2", "long", kModernMetaAtInfo));
  ASSERT_EQ(world.transport.sent.size(), 3u) << Said(world);
  EXPECT_NE(world.transport.sent[0].find(R"("level":"warning","logger":"project-actions")"),
            std::string::npos);
  EXPECT_NE(world.transport.sent[1].find(R"("level":"info")"), std::string::npos);
  EXPECT_NE(world.transport.sent[2].find(R"("id":2)"), std::string::npos) << "the reply is last";
}

TEST(LogMessages, OfALegacyClientFollowItsLevel) {
  FakeWorld world;
  OpenLegacy(world);
  world.session().OnLine(Call("1", "fail"));
  EXPECT_EQ(world.transport.sent.size(), 1u) << "nothing graver than information";
  world.session().OnLine(Request("2", "logging/setLevel", R"({"level":"debug"})"));
  world.session().OnLine(Call("3", "fail"));
  EXPECT_NE(Said(world).find("COMMAND_FAILED: make test exited with status 2"), std::string::npos);
  world.session().OnLine(Request("4", "logging/setLevel", R"({"level":"emergency"})"));
  world.transport.sent.clear();
  world.session().OnLine(Call("5", "long"));
  EXPECT_EQ(world.transport.sent.size(), 1u);
  world.session().OnLine(Request("6", "logging/setLevel", R"({"level":"loud"})"));
  EXPECT_NE(world.transport.sent.back().find("params.level must be one of debug, info, notice"),
            std::string::npos);
}

TEST(LogMessages, NoneOfACallThatItsClientHasCancelled) {
  FakeWorld world;
  OpenLegacy(world);
  world.session().OnLine(Request("1", "logging/setLevel", R"({"level":"debug"})"));
  world.transport.sent.clear();
  world.session().OnLine(Call("2", "wait"));
  world.session().OnLine(CancelCall("2"));
  EXPECT_EQ(world.running(), 0u);
  EXPECT_EQ(Said(world), "");
}

TEST(ResourceSubscriptions, TellOfWhatIsSubscribedTo) {
  FakeWorld world;
  OpenLegacy(world);
  const std::string uri = world.Store("log");
  const std::string other = world.Store("log");
  const auto ask = [&](const std::string& method, const std::string& of) {
    world.transport.sent.clear();
    world.session().OnLine(Request("1", "resources/" + method, R"({"uri":")" + of + R"("})"));
    return Said(world);
  };
  const auto told = [&](const std::string& of) {
    world.transport.sent.clear();
    world.state().open.ResourceUpdated(of);
    return Said(world);
  };
  EXPECT_EQ(told(uri), "");
  EXPECT_NE(ask("subscribe", uri).find(R"("result":{})"), std::string::npos);
  EXPECT_EQ(told(uri), R"({"jsonrpc":"2.0","method":"notifications/resources/updated",)"
                       R"("params":{"uri":")" +
                           uri + "\"}}\n");
  EXPECT_EQ(told(other), "");
  EXPECT_NE(ask("unsubscribe", uri).find(R"("result":{})"), std::string::npos);
  EXPECT_EQ(told(uri), "");
  EXPECT_NE(ask("subscribe", uri + "0").find("Resource not found"), std::string::npos);
}

// The store keeps 128 results at most; a client subscribes to those that come, too.
TEST(ResourceSubscriptions, AreLimitedInNumber) {
  FakeWorld world;
  OpenLegacy(world);
  for (std::size_t at = 0; at <= kMaxSubscribedResources; ++at) {
    world.transport.sent.clear();
    const std::string uri = world.Store("log");
    world.session().OnLine(Request("1", "resources/subscribe", R"({"uri":")" + uri + R"("})"));
    const bool refused = Said(world).find("at most 256") != std::string::npos;
    ASSERT_EQ(refused, at == kMaxSubscribedResources) << at << Said(world);
  }
}

}  // namespace
}  // namespace pa
