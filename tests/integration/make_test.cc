// make through the real server: discovery, outcomes, progress, deadlines, several at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/support/deadline.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

constexpr std::string_view kMakeMakefile = R"(.PHONY: hello fail slow stubborn live killed both env
# Comment above.
hello:
	@echo hi
fail: ## always fails
	@echo out; echo err >&2; exit 3
slow:
	@echo started; touch written; sleep 60
stubborn:
	@trap '' TERM INT; echo started; touch written; sleep 60; sleep 60
live:
	@for i in 1 2 3 4 5; do echo line $$i; sleep 0.2; done
killed:
	@kill -KILL $$$$
both:
	@echo to-out; echo to-err >&2
env:
	@env; pwd; readlink /proc/self/fd/0
not_phony:
	@echo no
)";

class Make : public ::testing::Test {
 protected:
  Project project_{kMakeMakefile};

  McpClient client_{project_.Server()};

  void SetUp() override { client_.Initialize(); }
  Json Target(const char* target) { return client_.CallTool("make", {{"target", target}}); }
  // Waits for the first output of a call that was given its progress token.
  void AwaitProgress(const Json& token) {
    while (client_.ProgressCount(token) == 0) {
      Json message = client_.Read();
      ASSERT_FALSE(message.is_null()) << client_.Errors();
      client_.notifications().push_back(message);
    }
  }
};

TEST_F(Make, TargetsArePromptsForPeople) {
  McpClient client(project_.Server());
  client.Initialize();
  const Json prompts = client.Request("prompts/list")["result"]["prompts"];
  ASSERT_EQ(prompts.size(), 9u) << prompts;
  EXPECT_EQ(prompts[0]["name"], "make");
  EXPECT_TRUE(std::ranges::any_of(prompts, [](const Json& prompt) {
    return prompt["name"] == "make-fail" && prompt["description"] == "always fails";
  })) << prompts;
  const Json got = client.Request("prompts/get", {{"name", "make-hello"}})["result"];
  // What it says is what the tool takes.
  const std::string text = got["messages"][0]["content"]["text"];
  const std::size_t begin = text.find('{');
  ASSERT_NE(begin, std::string::npos) << text;
  const Json arguments = Json::parse(text.substr(begin, text.find('}') + 1 - begin));
  EXPECT_EQ(client.CallTool("make", arguments)["data"]["stdout"], "hi\n");
  const Json completed =
      client.Request("completion/complete", {{"ref", {{"type", "ref/prompt"}, {"name", "make"}}},
                                             {"argument", {{"name", "target"}, {"value", "s"}}}});
  EXPECT_EQ(completed["result"]["completion"]["values"], Json::parse(R"(["slow","stubborn"])"));
  const std::string above = project_.root().parent_path();
  const Json outside = client.Request(
      "prompts/get",
      {{"name", "make"}, {"arguments", {{"target", "hello"}, {"working_directory", above}}}});
  EXPECT_NE(outside["error"]["message"].get<std::string>().find("INVALID_DIRECTORY"),
            std::string::npos)
      << outside;
}

TEST_F(Make, WithoutAMakefileThereIsOnePrompt) {
  std::filesystem::remove(project_.root() / "Makefile");
  McpClient client(project_.Server());
  client.Initialize();
  EXPECT_EQ(client.Request("prompts/list")["result"]["prompts"].size(), 1u);
  WriteText(project_.root() / "Makefile", "all: $(error broken)\n");
  EXPECT_EQ(client.Request("prompts/list")["error"]["code"], -32603);
}

TEST_F(Make, TargetsAreThePhonyOnesWithTheirDescriptions) {
  Json result = client_.CallTool("make_targets");
  ASSERT_TRUE(result["success"]) << result;
  Json targets = result["data"]["targets"];
  std::vector<std::string> names;
  for (const Json& target : targets) names.push_back(target["name"]);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"both", "env", "fail", "hello", "killed", "live",
                                             "slow", "stubborn"}));
  for (const Json& target : targets) {
    if (target["name"] == "hello") {
      EXPECT_EQ(target["description"], "Comment above.");
    } else if (target["name"] == "fail") {
      EXPECT_EQ(target["description"], "always fails");
    }
  }
}

TEST_F(Make, TheFileAsItIsAtTheCall) {
  EXPECT_EQ(Target("fresh")["error"]["code"], "INVALID_TARGET");
  WriteText(project_.root() / "Makefile", ".PHONY: fresh\nfresh:\n\t@echo new\n");
  EXPECT_EQ(Target("fresh")["data"]["stdout"], "new\n");
  WriteText(project_.root() / "GNUmakefile", ".PHONY: fresh\nfresh:\n\t@echo newest\n");
  EXPECT_EQ(Target("fresh")["data"]["stdout"], "newest\n");
}

TEST_F(Make, AMakefileThatDoesNotLoadIsAnErrorWithMakesMessage) {
  WriteText(project_.root() / "Makefile", ".PHONY: a\na:\n\techo\nthis is no rule\n");
  Json result = client_.CallTool("make_targets");
  EXPECT_EQ(result["error"]["code"], "MAKEFILE_INVALID") << result;
  EXPECT_NE(result["error"]["message"].get<std::string>().find("missing separator"),
            std::string::npos);
}

TEST_F(Make, NoMakefileSaysHowToGetOne) {
  std::filesystem::remove(project_.root() / "Makefile");
  Json result = client_.CallTool("make_targets");
  EXPECT_FALSE(result["success"]);
  EXPECT_NE(result["error"]["ai_message"].get<std::string>().find("makefile_generate"),
            std::string::npos)
      << result;
}

TEST_F(Make, OutcomesAreToldApart) {
  Json hello = Target("hello");
  EXPECT_TRUE(hello["success"]) << hello;
  EXPECT_EQ(hello["data"]["outcome"], "exited");
  EXPECT_EQ(hello["data"]["exit_code"], 0);
  Json fail = Target("fail");
  EXPECT_FALSE(fail["success"]);
  EXPECT_EQ(fail["error"]["code"], "COMMAND_FAILED");
  EXPECT_EQ(fail["data"]["exit_code"], 2) << "make's own status";
  EXPECT_EQ(fail["data"]["stdout"], "out\n");
  EXPECT_NE(fail["data"]["stderr"].get<std::string>().find("err\n"), std::string::npos);
  EXPECT_FALSE(Target("killed")["success"]);
}

TEST_F(Make, OnlyPhonyTargetsByTheirPlainNames) {
  for (const char* name : {"not_phony", "nothing", "", "-v", "--version", "--eval=x", "a b",
                           "hello;id", "$(shell id)", "../hello", "hello\n"}) {
    EXPECT_EQ(Target(name)["error"]["code"], "INVALID_TARGET") << name;
  }
}

TEST_F(Make, TheEnvironmentIsCleanAndStdinEmpty) {
  std::string out = Target("env")["data"]["stdout"];
  EXPECT_NE(out.find("PATH="), std::string::npos);
  EXPECT_NE(out.find("TMPDIR="), std::string::npos);
  EXPECT_NE(out.find("\n/dev/null\n"), std::string::npos) << out;
  EXPECT_NE(out.find("\n" + project_.root().string() + "\n"), std::string::npos) << out;
}

TEST_F(Make, DryRunChangesNothingAndShowsTheSandbox) {
  Json result = client_.CallTool("make", {{"target", "hello"}, {"dry_run", true}});
  ASSERT_TRUE(result["success"]) << result;
  EXPECT_EQ(result["data"]["argv"], Json::array({"make", "--", "hello"}));
  EXPECT_NE(result["data"]["would_print"].get<std::string>().find("echo hi"), std::string::npos);
  EXPECT_TRUE(result["data"]["confinement"].is_object());
}

TEST_F(Make, OutputArrivesLiveAndNothingFollowsTheReply) {
  int call = client_.StartTool("make", {{"target", "live"}}, {{"progressToken", "p"}});
  Json reply = client_.Await(call);
  EXPECT_TRUE(reply["result"]["structuredContent"]["success"]) << reply;
  ASSERT_GE(client_.ProgressCount("p"), 3U);
  double last = -1;
  for (const Json& message : client_.notifications()) {
    double progress = message["params"]["progress"];
    EXPECT_GT(progress, last);
    last = progress;
    std::string text = message["params"]["message"];
    EXPECT_LE(text.size(), 180U);
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  client_.Request("ping");
  EXPECT_EQ(client_.Read(std::chrono::milliseconds(300)), Json()) << "nothing after the reply";
}

TEST_F(Make, NoTokenNoProgress) {
  client_.Await(client_.StartTool("make", {{"target", "live"}}));
  EXPECT_TRUE(client_.notifications().empty());
}

TEST_F(Make, TimeoutKeepsTheOutputAndEndsTheTree) {
  for (const char* target : {"slow", "stubborn"}) {
    const Json result =
        WithLongerDeadlines(project_.root() / "written", [&](std::chrono::milliseconds deadline) {
          return client_.CallTool("make", {{"target", target}, {"timeout_ms", deadline.count()}});
        });
    EXPECT_EQ(result["error"]["code"], "TIMED_OUT") << result;
    EXPECT_EQ(result["data"]["outcome"], "timed_out");
    EXPECT_EQ(result["data"]["stdout"], "started\n");
    EXPECT_TRUE(ProcessesIn(project_.root()).empty());
  }
}

TEST_F(Make, CancellingEndsTheTreeAndGetsNoReply) {
  int call = client_.StartTool("make", {{"target", "slow"}}, {{"progressToken", 5}});
  AwaitProgress(5);
  client_.Notify("notifications/cancelled", {{"requestId", call}, {"reason", "test"}});
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(project_.root()).empty(); }));
  Json next = client_.Request("ping");
  EXPECT_TRUE(next.contains("result"));
}

TEST_F(Make, DisconnectEndsTheTree) {
  client_.StartTool("make", {{"target", "stubborn"}}, {{"progressToken", 5}});
  AwaitProgress(5);
  client_.CloseInput();
  client_.CloseOutput();
  EXPECT_TRUE(client_.WaitForExit());
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(project_.root()).empty(); }));
}

TEST_F(Make, SigkillOfTheServerEndsTheTree) {
  client_.StartTool("make", {{"target", "stubborn"}}, {{"progressToken", 5}});
  AwaitProgress(5);
  client_.Signal(SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(project_.root()).empty(); }));
}

TEST_F(Make, SeveralInFlightAreAnsweredEachWithItsOwn) {
  std::vector<int> calls;
  for (int i = 0; i < 12; ++i) {
    calls.push_back(client_.StartTool("make", {{"target", i % 2 == 0 ? "hello" : "both"}}));
  }
  for (std::size_t i = calls.size(); i-- > 0;) {
    Json reply = client_.Await(calls[i]);
    EXPECT_EQ(reply["result"]["structuredContent"]["data"]["stdout"],
              i % 2 == 0 ? "hi\n" : "to-out\n")
        << reply;
  }
}

TEST_F(Make, ASlowCallDoesNotHoldUpOthers) {
  int slow = client_.StartTool("make", {{"target", "slow"}, {"timeout_ms", 5000}});
  EXPECT_TRUE(Target("hello")["success"]);
  client_.Notify("notifications/cancelled", {{"requestId", slow}});
}

TEST_F(Make, GeneratesAMakefileThatItCanRun) {
  std::filesystem::remove(project_.root() / "Makefile");
  WriteText(project_.root() / "go.mod", "module x\n");
  Json dry = client_.CallTool("makefile_generate", {{"dry_run", true}});
  EXPECT_TRUE(dry["success"]) << dry;
  EXPECT_FALSE(std::filesystem::exists(project_.root() / "Makefile"));
  Json result = client_.CallTool("makefile_generate");
  ASSERT_TRUE(result["success"]) << result;
  EXPECT_NE(ReadText(project_.root() / "Makefile").find("\tgo test ./..."), std::string::npos);
  EXPECT_NE(Target("default")["data"]["stdout"].get<std::string>().find("No default action"),
            std::string::npos);
  Json again = client_.CallTool("makefile_generate");
  EXPECT_EQ(again["error"]["code"], "MAKEFILE_INVALID") << again;
}

// A call was checked when it came and waits its turn; meanwhile another one puts a symlink in the
// place of its directory.
class MakeSwapped : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Swap, MakeSwapped, ::testing::Bool());

TEST_P(MakeSwapped, ADirectorySwappedWhileItsCallWaitsIsNotOpened) {
  const Project project(
      ".PHONY: hold\nhold:\n\t@echo holding; while ! [ -e go ]; do sleep 0.02; done; sh ./swap\n");
  WriteText(project.outside() / "secret", "the secret\n");
  WriteText(project.root() / "sub/Makefile", ".PHONY: steal\nsteal:\n\t@cat secret " +
                                                 (project.outside() / "secret").string() + "\n");
  WriteText(project.root() / "sub/secret", "its own\n");
  WriteText(project.root() / "swap",
            GetParam() ? "mv sub moved; ln -s " + project.outside().string() + " sub\n" : "");
  WriteText(project.home() / ".config/project-actions/policy.yaml",
            "version: 1\nlimits: {concurrent: 1}\n");
  McpClient client(project.Server());
  client.Initialize();
  const int hold = client.StartTool("make", {{"target", "hold"}}, {{"progressToken", "p"}});
  while (client.ProgressCount("p") == 0) client.notifications().push_back(client.Read());
  const int steal = client.StartTool("make", {{"target", "steal"}, {"working_directory", "sub"}});
  client.Request("ping");  // what came before it has been taken in
  WriteText(project.root() / "go", "");
  EXPECT_FALSE(client.Await(hold)["result"].value("isError", false));
  const Json result = client.Await(steal)["result"]["structuredContent"];
  EXPECT_EQ(result.dump().find("the secret"), std::string::npos) << result;
  if (GetParam()) {
    EXPECT_EQ(result["error"]["code"], "INVALID_DIRECTORY") << result;
  } else {
    EXPECT_EQ(result["data"]["stdout"], "its own\n") << result;
  }
}

TEST(MakeDisabled, IsRefusedWithTheSentenceThatEnablesIt) {
  Project project(kMakeMakefile);
  McpClient client({.arguments = {"--root", project.root()}, .home = project.home()});
  client.Initialize();
  Json result = client.CallTool("make", {{"target", "hello"}});
  EXPECT_EQ(result["error"]["code"], "TOOL_DISABLED") << result;
  EXPECT_NE(result["error"].dump().find("--enable"), std::string::npos) << result;
  EXPECT_TRUE(client.CallTool("make_targets")["success"]);
}

TEST_F(Make, DirectoriesOutsideAndOfTheSystemAreRefused) {
  for (const std::string& directory :
       {std::string("/etc"), std::string("/"), std::string("/usr/lib"), std::string("/proc/self"),
        project_.outside().string(), std::string("../outside")}) {
    Json result = client_.CallTool("make_targets", {{"working_directory", directory}});
    EXPECT_EQ(result["error"]["code"], "INVALID_DIRECTORY") << directory << result;
  }
  std::filesystem::create_symlink(project_.outside(), project_.root() / "link");
  EXPECT_EQ(client_.CallTool("make_targets", {{"working_directory", "link"}})["error"]["code"],
            "INVALID_DIRECTORY");
  WriteText(project_.root() / "sub" / "Makefile", ".PHONY: deep\ndeep:\n\t@echo deep\n");
  Json result = client_.CallTool("make", {{"target", "deep"}, {"working_directory", "sub"}});
  EXPECT_EQ(result["data"]["stdout"], "deep\n") << result;
}

bool ToldOfTools(McpClient& client) {
  return Eventually([&] {
    client.Request("ping");
    return std::ranges::any_of(client.notifications(), [](const Json& message) {
      return message["method"] == "notifications/tools/list_changed";
    });
  });
}

// What the set of targets depends on is changed behind the server's back.
class ListChanged : public Make {
 protected:
  bool Told() { return ToldOfTools(client_); }
};

TEST(ListChangedAnew, NotByAPolicyThatLeavesTheListAsItWas) {
  const Project project(".PHONY: a\na:\n");
  const std::string policy = project.home() / "policy.yaml";
  const auto reload = [&](McpClient& client, const std::string& tools) {
    WriteText(policy, "version: 1\nroots: [" + project.root().string() + "]\ntools: {enable: [" +
                          tools + "]}\n");
    const std::size_t before = client.Errors().size();
    client.Signal(SIGHUP);
    return Eventually([&] { return client.Errors().substr(before).contains("policy read again"); });
  };
  WriteText(policy, "version: 1\nroots: [" + project.root().string() + "]\n");
  McpClient client({.arguments = {"--policy", policy, "--verbose"}, .home = project.home()});
  client.Initialize();
  ASSERT_TRUE(reload(client, ""));
  client.Request("ping");
  EXPECT_TRUE(client.notifications().empty()) << client.notifications().front();
  ASSERT_TRUE(reload(client, "bash"));
  EXPECT_TRUE(ToldOfTools(client)) << client.Errors();
}

TEST(ListChangedAnew, WhoAsksIsToldOfTheToolsThatAreOnNow) {
  const Project project(".PHONY: a\na:\n");
  const std::string policy = project.home() / "policy.yaml";
  const auto write = [&](const std::string& tools) {
    WriteText(policy, "version: 1\nroots: [" + project.root().string() + "]\ntools: {enable: [" +
                          tools + "]}\n");
  };
  write("make");
  McpClient client({.arguments = {"--policy", policy, "--verbose"}, .home = project.home()});
  const auto instructions = [&] {
    return client.Request("server/discover", {{"_meta", ModernMeta()}})["result"]["instructions"]
        .get<std::string>();
  };
  EXPECT_FALSE(instructions().contains("prefer make to bash"));
  write("make, bash");
  client.Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return client.Errors().contains("policy read again"); }))
      << client.Errors();
  EXPECT_TRUE(instructions().contains("prefer make to bash"));
}

TEST(ListChangedAnew, InARootThatCameWithThePolicy) {
  const Project project(".PHONY: a\na:\n");
  const std::string policy = project.home() / "policy.yaml";
  const auto write = [&](const std::string& roots) {
    WriteText(policy, "version: 1\nroots: [" + roots + "]\n");
  };
  write(project.root());
  McpClient client({.arguments = {"--policy", policy, "--verbose"}, .home = project.home()});
  client.Initialize();
  write(project.root().string() + ", " + project.outside().string());
  client.Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return client.Errors().contains("policy read again"); }))
      << client.Errors();
  WriteText(project.outside() / "Makefile", ".PHONY: b\nb:\n");
  EXPECT_TRUE(ToldOfTools(client)) << client.Errors();
}

TEST_F(ListChanged, WhereAnotherDirectoryHasTheName) {
  ASSERT_TRUE(client_.CallTool("make_targets")["success"]);
  std::filesystem::rename(project_.root(), project_.root().string() + ".old");
  WriteText(project_.root() / "Makefile", ".PHONY: other\nother:\n");
  EXPECT_TRUE(Told());
}

TEST_F(ListChanged, BeforeAnybodyHasAsked) {
  WriteText(project_.root() / "Makefile", ".PHONY: other\nother:\n");
  EXPECT_TRUE(Told());
}

// What changes before the server has learned what was there counts as another one.
TEST_F(ListChanged, NotByAMakefileThatIsTheSame) {
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::string text = ReadText(project_.root() / "Makefile");
  WriteText(project_.root() / "Makefile", text);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  client_.Request("ping");
  EXPECT_TRUE(client_.notifications().empty()) << client_.notifications().front();
}

TEST_F(ListChanged, ByAnIncludedFile) {
  std::filesystem::create_directory(project_.root() / "rules");
  WriteText(project_.root() / "rules" / "more.mk", ".PHONY: more\nmore: ## included\n");
  WriteText(project_.root() / "Makefile", "include rules/more.mk\n");
  Json listed = client_.CallTool("make_targets");
  EXPECT_EQ(listed["data"]["targets"][0]["description"], "included") << listed;
  WriteText(project_.root() / "rules" / "more.mk", ".PHONY: more still\nmore still:\n");
  EXPECT_TRUE(Told());
}

TEST_F(ListChanged, ByRemovingTheMakefile) {
  client_.CallTool("make_targets");
  std::filesystem::remove(project_.root() / "Makefile");
  EXPECT_TRUE(Told());
}

TEST_F(ListChanged, ByBreakingTheMakefile) {
  client_.CallTool("make_targets");
  WriteText(project_.root() / "Makefile", ".PHONY: a\na:\n$(error broken)\n");
  EXPECT_TRUE(Told());
}

TEST_F(ListChanged, NotByARecipe) {
  client_.CallTool("make_targets");
  std::string text = ReadText(project_.root() / "Makefile");
  WriteText(project_.root() / "Makefile", text + "\n# one more comment\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  client_.Request("ping");
  EXPECT_TRUE(client_.notifications().empty()) << client_.notifications().front();
}

}  // namespace
}  // namespace pa::testing
