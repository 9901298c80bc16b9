#include "supervisor/cli/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace pa {
namespace {

ParsedCommandLine Parse(std::vector<const char*> args, std::size_t width = 80) {
  args.insert(args.begin(), "project-actions");
  return ParseCommandLine(static_cast<int>(args.size()), args.data(), width);
}

TEST(CommandLine, ServeTakesRootsToolsAndPolicy) {
  auto parsed = Parse({"serve", "--root", "/a", "--root=/b", "--enable", "make,git_add",
                       "--enable=git_commit", "--policy", "p.yaml", "--listen", "stdio"});
  ASSERT_TRUE(parsed.command) << parsed.text;
  const auto& common = std::get<ServeCommand>(*parsed.command).common;
  EXPECT_EQ(common.roots, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(common.enable, (std::vector<std::string>{"make", "git_add", "git_commit"}));
  EXPECT_EQ(common.policy_file, "p.yaml");
  EXPECT_FALSE(std::get<ServeCommand>(*parsed.command).text_only);
  parsed = Parse({"serve", "--text-only"});
  ASSERT_TRUE(parsed.command) << parsed.text;
  EXPECT_TRUE(std::get<ServeCommand>(*parsed.command).text_only);
  EXPECT_FALSE(Parse({"call", "make", "--text-only"}).command);
}

TEST(CommandLine, ServeListensInSeveralPlaces) {
  auto parsed = Parse({"serve", "--listen", "stdio", "--listen=unix:/s", "--listen",
                       "http://127.0.0.1:8080", "--listen", "systemd"});
  ASSERT_TRUE(parsed.command) << parsed.text;
  const auto& listen = std::get<ServeCommand>(*parsed.command).listen;
  ASSERT_EQ(listen.size(), 4u);
  EXPECT_EQ(listen[1].path, "/s");
  EXPECT_EQ(listen[2].port, 8080);
  EXPECT_TRUE(std::get<ServeCommand>(*Parse({"serve"}).command).listen.empty());

  parsed = Parse({"serve", "--listen", "systemd", "--front-door", "www", "--tokens", "t.json"});
  ASSERT_TRUE(parsed.command) << parsed.text;
  EXPECT_EQ(std::get<ServeCommand>(*parsed.command).front_door, "www");
  EXPECT_EQ(std::get<ServeCommand>(*parsed.command).tokens, "t.json");
}

TEST(CommandLine, ConnectAndTokens) {
  EXPECT_EQ(std::get<ConnectCommand>(*Parse({"connect", "unix:/s"}).command).address.path, "/s");
  const auto made = std::get<TokenNewCommand>(*Parse({"token", "new", "ci"}).command);
  EXPECT_EQ(made.name, "ci");
  EXPECT_EQ(made.expires, "90d");
  EXPECT_TRUE(std::get<TokenListCommand>(*Parse({"token", "list", "--json"}).command).json);
  EXPECT_EQ(std::get<TokenRevokeCommand>(*Parse({"token", "revoke", "ci"}).command).name, "ci");
}

TEST(CommandLine, CallTakesToolAndArguments) {
  auto parsed = Parse({"call", "make", R"({"target":"test"})", "--json", "--enable", "make"});
  ASSERT_TRUE(parsed.command) << parsed.text;
  const auto& call = std::get<CallCommand>(*parsed.command);
  EXPECT_EQ(call.tool, "make");
  EXPECT_EQ(call.arguments, R"({"target":"test"})");
  EXPECT_TRUE(call.json);
  EXPECT_EQ(call.common.enable, std::vector<std::string>{"make"});
}

TEST(CommandLine, CallWithoutArgumentsIsTheEmptyObject) {
  auto parsed = Parse({"call", "make_targets"});
  ASSERT_TRUE(parsed.command) << parsed.text;
  EXPECT_EQ(std::get<CallCommand>(*parsed.command).arguments, "{}");
}

TEST(CommandLine, EveryPolicySubcommandIsReached) {
  EXPECT_TRUE(std::holds_alternative<PolicyCheckCommand>(*Parse({"policy", "check", "f"}).command));
  EXPECT_TRUE(std::holds_alternative<PolicyShowCommand>(*Parse({"policy", "show"}).command));
  EXPECT_TRUE(std::holds_alternative<PolicySchemaCommand>(*Parse({"policy", "schema"}).command));
  EXPECT_TRUE(
      std::holds_alternative<PolicyExplainCommand>(*Parse({"policy", "explain", "make"}).command));
  EXPECT_TRUE(std::holds_alternative<DoctorCommand>(*Parse({"doctor", "--json"}).command));
}

TEST(CommandLine, HelpAndVersionSucceed) {
  for (const char* flag : {"--help", "-h", "help", "--version", "-V"}) {
    auto parsed = Parse({flag});
    EXPECT_FALSE(parsed.command);
    EXPECT_EQ(parsed.exit_status, 0);
    EXPECT_NE(parsed.text.find("project-actions"), std::string::npos);
  }
}

TEST(CommandLine, HelpIsThatOfTheCommandThatIsNamed) {
  const ParsedCommandLine show = Parse({"help", "policy", "show"});
  EXPECT_EQ(show.exit_status, 0);
  EXPECT_EQ(show.text, Parse({"policy", "show", "--help"}).text);
  EXPECT_NE(show.text.find("Usage: project-actions policy show"), show.text.npos) << show.text;
  EXPECT_EQ(Parse({"help"}).text, Parse({"--help"}).text);
  EXPECT_EQ(Parse({"help", "polcy"}).exit_status, 2);
  const ParsedCommandLine more = Parse({"help", "policy", "show", "now"});
  EXPECT_EQ(more.exit_status, 2);
  EXPECT_NE(more.text.find("unexpected argument 'now'"), more.text.npos) << more.text;
}

TEST(CommandLine, HelpFitsTheTerminal) {
  const auto fits = [](const std::vector<const char*>& args, std::size_t width) {
    const ParsedCommandLine parsed = Parse(args, width);
    EXPECT_EQ(parsed.exit_status, 0) << parsed.text;
    std::istringstream help(parsed.text);
    int lines = 0;
    for (std::string line; std::getline(help, line); ++lines) {
      EXPECT_LE(line.size(), width) << line;
    }
    EXPECT_GT(lines, 3);
  };
  for (const std::size_t width : {60u, 80u}) {
    fits({"help"}, width);
    for (const CommandHelp& command : DescribeCommandLine().subcommands) {
      fits({"help", command.name.c_str()}, width);
      for (const CommandHelp& sub : command.subcommands) {
        fits({"help", command.name.c_str(), sub.name.c_str()}, width);
      }
    }
  }
  EXPECT_EQ(Parse({"--help"}, 0).text, Parse({"--help"}, 80).text);
  EXPECT_NE(Parse({"--help"}, 50).text, Parse({"--help"}, 80).text);
}

TEST(CommandLine, WithoutACommandTheHelpIsTheError) {
  EXPECT_EQ(Parse({}).text, Parse({"--help"}).text);
  EXPECT_EQ(Parse({}).exit_status, 2);
  EXPECT_EQ(Parse({"policy"}).text, Parse({"help", "policy"}).text);
  EXPECT_EQ(Parse({"policy"}).exit_status, 2);
}

TEST(CommandLine, AnUnknownWordIsNamedWithWhatWasProbablyMeant) {
  struct Case {
    std::vector<const char*> args;
    const char* said;
  };
  const Case cases[] = {
      {{"serv"}, "unknown command 'serv' - did you mean 'serve'?"},
      {{"policy", "chek", "p.yaml"}, "unknown command 'chek' - did you mean 'check'?"},
      {{"trash", "frobnicate"}, "unknown command 'frobnicate'\nThe commands are list, restore"},
      {{"--verison"}, "unknown option '--verison' - did you mean '--version'?"},
      {{"policy", "--frob", "show"}, "unknown option '--frob'"},
      {{"doctor", "--jsn"}, "unknown option '--jsn' - did you mean '--json'?"},
      {{"doctor", "--jsn=yes"}, "unknown option '--jsn' - did you mean '--json'?"},
      {{"doctor", "now"}, "unexpected argument 'now'"},
      {{"policy", "show", "now"}, "Run 'project-actions policy show --help' for more."},
      {{"init", "cluade-code"}, "unknown client 'cluade-code' - did you mean 'claude-code'?"},
  };
  for (const Case& wrong : cases) {
    const ParsedCommandLine parsed = Parse(wrong.args);
    EXPECT_FALSE(parsed.command) << wrong.said;
    EXPECT_EQ(parsed.exit_status, 2);
    EXPECT_NE(parsed.text.find(wrong.said), parsed.text.npos) << parsed.text;
  }
  EXPECT_TRUE(Parse({"call", "make", "serv"}).command) << "a tool's arguments are no commands";
}

TEST(CommandLine, DescribesWhatItParses) {
  const CommandHelp program = DescribeCommandLine();
  const auto call = std::ranges::find(program.subcommands, "call", &CommandHelp::name);
  ASSERT_NE(call, program.subcommands.end());
  ASSERT_EQ(call->arguments.size(), 2u);
  EXPECT_EQ(call->arguments[0].value, "TOOL");
  const auto named = [&](const std::string& name) {
    return *std::ranges::find_if(call->options, [&](const OptionHelp& option) {
      return std::ranges::find(option.names, name) != option.names.end();
    });
  };
  EXPECT_EQ(named("--root").value, "DIR");
  EXPECT_TRUE(named("--root").repeats);
  EXPECT_FALSE(named("--policy").repeats);
  EXPECT_EQ(named("--verbose").names, (std::vector<std::string>{"-v", "--verbose"}));
  EXPECT_EQ(named("--verbose").value, "");
  EXPECT_FALSE(named("--help").text.empty());
  const auto policy = std::ranges::find(program.subcommands, "policy", &CommandHelp::name);
  ASSERT_NE(policy, program.subcommands.end());
  EXPECT_EQ(policy->subcommands.size(), 5u);
}

TEST(CommandLine, InitDoesOneThing) {
  for (const char* one : {"--print", "--exclusive", "--remove"}) {
    EXPECT_TRUE(Parse({"init", "codex", one}).command) << one;
    for (const char* other : {"--print", "--exclusive", "--remove"}) {
      if (std::string(one) == other) continue;
      const ParsedCommandLine both = Parse({"init", "codex", one, other});
      EXPECT_FALSE(both.command) << one << other;
      EXPECT_EQ(both.exit_status, 2);
      EXPECT_TRUE(both.text.contains("exclude each other: pass one")) << both.text;
    }
  }
}

TEST(CommandLine, WrongLinesSayWhatIsWrong) {
  for (std::vector<const char*> args : {std::vector<const char*>{},
                                        {"srve"},
                                        {"call"},
                                        {"serve", "--bogus"},
                                        {"policy"},
                                        {"serve", "--listen", "tcp:1"},
                                        {"connect"},
                                        {"connect", "stdio"},
                                        {"connect", "systemd"},
                                        {"connect", "http://127.0.0.1:0"},
                                        {"token"},
                                        {"token", "new"},
                                        {"token", "new", "a b"},
                                        {"token", "new", "a", "--expires", "soon"},
                                        {"token", "revoke"},
                                        {"serve", "--root"}}) {
    auto parsed = Parse(args);
    EXPECT_FALSE(parsed.command);
    EXPECT_EQ(parsed.exit_status, 2);
    EXPECT_FALSE(parsed.text.empty());
  }
}

}  // namespace
}  // namespace pa
