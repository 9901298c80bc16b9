// `project-actions init`: real files in a home and a project, as a person finds them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/json.h"
#include "tests/support/project.h"
#include "tests/support/terminal.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class Init : public ::testing::Test {
 protected:
  ProgramResult Run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), {BuiltProgram("PA_SERVER"), "init"});
    environment.push_back("HOME=" + project_.home().string());
    return RunProgram({.command = std::move(arguments),
                       .environment = std::move(environment),
                       .directory = root_});
  }
  fs::path FileOf(const std::string& client) const {
    if (client == "claude-code") return root_ / ".mcp.json";
    if (client == "claude-desktop") {
      return project_.home() / ".config/Claude/claude_desktop_config.json";
    }
    if (client == "vscode") return root_ / ".vscode/mcp.json";
    if (client == "cursor") return root_ / ".cursor/mcp.json";
    if (client == "gemini") return root_ / ".gemini/settings.json";
    return project_.home() / ".codex/config.toml";
  }

  static constexpr const char* kClients[] = {"claude-code", "claude-desktop", "vscode",
                                             "cursor",      "codex",          "gemini"};
  Project project_{".PHONY: a\na:\n"};
  // By the name that a program sees which runs in it.
  const fs::path root_ = fs::canonical(project_.root());
};

TEST_F(Init, WithoutATerminalTheDiffIsShownAndNothingWritten) {
  for (const std::string client : kClients) {
    const ProgramResult result = Run({client});
    EXPECT_EQ(result.exit_code, 1) << client;
    EXPECT_NE(result.output.find("+++ "), std::string::npos) << client << result.output;
    EXPECT_TRUE(result.output.contains("make,makefile_generate,git_add,git_commit")) << client;
    EXPECT_NE(result.errors.find("--yes writes without asking"), std::string::npos)
        << result.errors;
    EXPECT_FALSE(fs::exists(FileOf(client))) << client;
    EXPECT_EQ(fs::exists(FileOf(client).parent_path()), client == "claude-code") << client;
  }
}

TEST_F(Init, WithYesItIsWrittenOnce) {
  for (const std::string client : kClients) {
    const ProgramResult first = Run({client, "--yes"});
    EXPECT_EQ(first.exit_code, 0) << client << first.errors;
    EXPECT_NE(first.output.find("\nnext: "), std::string::npos) << first.output;
    EXPECT_NE(first.output.find(" bypass all this"), std::string::npos) << first.output;
    const std::string text = ReadText(FileOf(client));
    const ProgramResult printed = Run({client, "--print"});
    EXPECT_EQ(text, printed.output) << client;
    EXPECT_NE(printed.errors.find(" bypass all this"), std::string::npos) << printed.errors;
    const ProgramResult second = Run({client});
    EXPECT_EQ(second.exit_code, 0) << client << second.errors;
    EXPECT_NE(second.output.find("nothing has to change"), std::string::npos) << second.output;
    EXPECT_EQ(second.output.find("+++"), std::string::npos) << second.output;
    EXPECT_EQ(ReadText(FileOf(client)), text) << client;
  }
}

// What is written starts a server that answers, in the directory in which the client starts it.
TEST_F(Init, WhatIsWrittenStartsTheServer) {
  ASSERT_EQ(Run({"cursor", "--yes", "--enable", "make"}).exit_code, 0);
  const Json file = Json::parse(ReadText(FileOf("cursor")));
  const Json& entry = file["mcpServers"]["project-actions"];
  EXPECT_EQ(entry["command"], BuiltProgram("PA_SERVER")) << "it is not on the PATH";
  std::vector<std::string> arguments = entry["args"];
  ASSERT_EQ(arguments[0], "serve");
  EXPECT_EQ(arguments[2], root_);
  arguments.erase(arguments.begin());
  McpClient client({.arguments = arguments, .home = project_.home()});
  client.Initialize();
  EXPECT_TRUE(client.CallTool("make", {{"target", "a"}})["success"]);
}

// `--url`: a server that listens. Written once, taken away as a whole, and no token in it.
TEST_F(Init, AServerThatListensIsEntered) {
  for (const std::string client : kClients) {
    for (const std::string& url :
         {std::string("unix:/run/agent.sock"), std::string("http://127.0.0.1:8787")}) {
      const bool by_program = url.starts_with("unix:");
      const ProgramResult first = Run({client, "--url", url, "--yes"});
      if (client == "claude-desktop" && !by_program) {
        EXPECT_EQ(first.exit_code, 1);
        EXPECT_NE(first.errors.find("pass --url unix:PATH"), std::string::npos) << first.errors;
        continue;
      }
      ASSERT_EQ(first.exit_code, 0) << client << first.errors;
      const std::string text = ReadText(FileOf(client));
      const std::string known = client == "codex"
                                    ? "bearer_token_env_var = \"PROJECT_ACTIONS_TOKEN\""
                                    : "\"headers\": {\"Authorization\": \"Bearer ${";
      EXPECT_EQ(text.find("http://127.0.0.1:8787/mcp\"") != std::string::npos, !by_program) << text;
      EXPECT_EQ(text.find("[\"connect\", \"unix:/run/agent.sock\"]") != std::string::npos,
                by_program)
          << text;
      EXPECT_EQ(text.find(known) != std::string::npos, !by_program) << text;
      EXPECT_EQ(text.find("\"serve\""), std::string::npos) << text;
      EXPECT_EQ(first.output.find("PROJECT_ACTIONS_TOKEN where the client is started") !=
                    std::string::npos,
                !by_program)
          << first.output;
      EXPECT_NE(Run({client, "--url", url}).output.find("nothing has to change"),
                std::string::npos);
      // Another place takes its place; another kind of entry does not.
      const std::string other = by_program ? "unix:/run/other.sock" : "https://a.example/x";
      EXPECT_EQ(Run({client, "--url", other, "--yes"}).exit_code, 0);
      EXPECT_NE(ReadText(FileOf(client)).find(other), std::string::npos);
      if (!by_program) {
        const ProgramResult serves = Run({client, "--yes"});
        EXPECT_EQ(serves.exit_code, 1) << client;
        EXPECT_NE(serves.errors.find("an entry that starts a program"), std::string::npos);
      }
      EXPECT_EQ(Run({client, "--remove", "--yes"}).exit_code, 0) << client;
      EXPECT_EQ(ReadText(FileOf(client)).find("project-actions"), std::string::npos);
    }
  }
}

TEST_F(Init, WhatIsNoAddressOfAServerIsRefused) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--url", "127.0.0.1:8787"},
           {"--url", "ftp://a"},
           {"--url", "unix:"},
           {"--url", "http://a?token=x"},
           {"--url", "unix:/s", "--enable", "make"},
           {"--url", "unix:/s", "--remove"},
           {"--url", "unix:/s", "--root", "/a", "--root", "/b"}}) {
    std::vector<std::string> arguments = {"claude-code", "--yes"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << more[1] << result.output;
    EXPECT_NE(result.errors, "");
    EXPECT_FALSE(fs::exists(FileOf("claude-code")));
  }
}

// A user who sends more with each request goes on doing so.
TEST_F(Init, HeadersThatAreThereStay) {
  WriteText(
      FileOf("claude-code"),
      "{\"mcpServers\": {\"project-actions\": {\"type\": \"http\", \"url\": \"http://old/mcp\", "
      "\"headers\": {\"X-Team\": \"a\"}}}}\n");
  ASSERT_EQ(Run({"claude-code", "--url", "http://new.example", "--yes"}).exit_code, 0);
  const Json entry = Json::parse(ReadText(FileOf("claude-code")))["mcpServers"]["project-actions"];
  EXPECT_EQ(
      entry,
      Json({{"type", "http"}, {"url", "http://new.example/mcp"}, {"headers", {{"X-Team", "a"}}}}));
}

TEST_F(Init, OnThePathItsNameIsEnough) {
  const fs::path bin = project_.outside() / "bin";
  fs::create_directories(bin);
  const std::string name = fs::path(BuiltProgram("PA_SERVER")).filename();
  fs::create_symlink(BuiltProgram("PA_SERVER"), bin / name);
  const auto command = [&](const std::string& path) {
    const ProgramResult result = RunProgram(
        {.command = {"env", "PATH=" + path, BuiltProgram("PA_SERVER"), "init", "cursor", "--print"},
         .environment = {"HOME=" + project_.home().string()},
         .directory = root_});
    return Json::parse(result.output)["mcpServers"]["project-actions"]["command"];
  };
  EXPECT_EQ(command(bin.string() + ":/usr/bin:/bin"), name);
  EXPECT_EQ(command("/usr/bin:/bin"), BuiltProgram("PA_SERVER"));
  // A command could lay one there, which the client would start.
  const std::string rest = bin.string() + ":/usr/bin:/bin";
  EXPECT_EQ(command((root_ / ".venv/bin").string() + ":" + rest), BuiltProgram("PA_SERVER"));
  for (const char* here : {"", ".", "bin"}) {
    EXPECT_EQ(command(here + (":" + rest)), BuiltProgram("PA_SERVER")) << here;
  }
  EXPECT_EQ(command(rest + ":" + (root_ / ".venv/bin").string()), name) << "after it";
  fs::remove(bin / name);
  WriteText(bin / name, "#!/bin/sh\n");
  fs::permissions(bin / name, fs::perms::owner_all);
  EXPECT_EQ(command(bin.string() + ":/usr/bin:/bin"), BuiltProgram("PA_SERVER")) << "another one";
}

TEST_F(Init, WhatIsThereStays) {
  WriteText(FileOf("vscode"), R"({
	// servers of mine
	"servers": {
		"db": {"url": "http://localhost"}, // local
	},
	"inputs": [],
}
)");
  chmod(FileOf("vscode").c_str(), 0600);
  ASSERT_EQ(Run({"vscode", "--yes", "--enable", "bash,make"}).exit_code, 0);
  EXPECT_EQ(ReadText(FileOf("vscode")), R"({
	// servers of mine
	"servers": {
		"db": {"url": "http://localhost"}, // local
		"project-actions": {
			"type": "stdio",
			"command": ")" + BuiltProgram("PA_SERVER") +
                                            R"(",
			"args": ["serve", "--root", "${workspaceFolder}", "--enable", "bash,make"]
		},
	},
	"inputs": [],
}
)");
  struct stat status{};
  ASSERT_EQ(stat(FileOf("vscode").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600u);
}

TEST_F(Init, MalformedFilesAreRefusedUntouched) {
  const auto refused = [&](const std::string& client, std::string_view text,
                           std::string_view problem) {
    WriteText(FileOf(client), text);
    const ProgramResult result = Run({client, "--yes"});
    EXPECT_EQ(result.exit_code, 1) << client;
    EXPECT_NE(result.errors.find(FileOf(client).string() + ":" + std::string(problem)),
              std::string::npos)
        << result.errors;
    EXPECT_NE(result.errors.find("nothing was written"), std::string::npos);
    EXPECT_EQ(ReadText(FileOf(client)), text);
  };
  refused("claude-code", "{\n  \"mcpServers\": {},\n  \"a\" 1\n}", "3:7: expected : after");
  refused("claude-code", "{ // mine\n}", "1:3: expected plain JSON");
  refused("cursor", "{\"mcpServers\": []}", "1:16: expected an object as 'mcpServers'");
  refused("gemini", "{\"a\": 1, \"a\": 2}", "1:10: expected 'a' once");
  refused("codex", "[a]\nb = \n", "2:5: expected TOML");
}

TEST_F(Init, ALinkInTheHomeIsTheUsers) {
  for (const std::string client : {"codex", "claude-desktop"}) {
    const fs::path real = project_.home() / "dotfiles" / client;
    WriteText(real, client == "codex" ? "model = \"m\"\n" : "{}\n");
    fs::create_directories(FileOf(client).parent_path());
    fs::create_symlink(real, FileOf(client));
    EXPECT_EQ(Run({client, "--yes"}).exit_code, 0) << client;
    EXPECT_TRUE(fs::is_symlink(FileOf(client))) << client;
    EXPECT_NE(ReadText(real).find("project-actions"), std::string::npos) << client;
  }
}

TEST_F(Init, ALinkOfADotfileManagerStays) {
  const fs::path file = project_.home() / "dotfiles/codex.toml";
  WriteText(file, "model = \"m\"\n");
  fs::create_directories(project_.home() / ".codex");
  fs::create_symlink("../dotfiles/codex.toml", FileOf("codex"));
  const ProgramResult result = Run({"codex", "--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find(" leads to "), std::string::npos) << result.output;
  EXPECT_TRUE(fs::is_symlink(FileOf("codex")));
  EXPECT_TRUE(ReadText(file).starts_with("model = \"m\"\n\n[mcp_servers.project-actions]\n"));
}

// What an agent can make in a project would have init write, or read and show, what lies elsewhere.
class InitMeetsALink : public Init, public ::testing::WithParamInterface<const char*> {
 protected:
  void Refused(
      std::string_view why = " is reached through a symlink in the project; make it a file") {
    const ProgramResult result = Run({GetParam(), "--yes"});
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_NE(result.errors.find(why), std::string::npos) << result.errors;
    EXPECT_NE(result.errors.find("nothing was written"), std::string::npos) << result.errors;
    EXPECT_EQ(result.output.find("secret"), std::string::npos) << result.output;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(project_.outside())) {
      names.push_back(entry.path());
    }
    return names;
  }
};

INSTANTIATE_TEST_SUITE_P(Projects, InitMeetsALink,
                         ::testing::Values("claude-code", "vscode", "cursor", "gemini"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(InitMeetsALink, InAProjectItIsNotFollowed) {
  const fs::path file = FileOf(GetParam());
  const fs::path theirs = project_.outside() / file.filename();
  const std::string content = "{\"secret\": 1}\n";
  WriteText(theirs, content);
  const std::vector<std::string> names = Names();
  fs::create_directories(file.parent_path());
  fs::create_symlink(theirs, file);
  Refused();
  fs::remove(file);
  fs::create_symlink(project_.outside() / "new", file);
  Refused("follow symlink");
  fs::remove(file);
  if (file.parent_path() != root_) {
    fs::remove(file.parent_path());
    fs::create_directory_symlink(project_.outside(), file.parent_path());
    Refused();
    fs::remove(theirs);
    Refused();
    WriteText(theirs, content);
    fs::remove(file.parent_path());
    fs::create_directory_symlink(project_.outside() / "new", file.parent_path());
    Refused("mkdir");
    fs::remove(file.parent_path());
  }
  EXPECT_EQ(ReadText(theirs), content);
  EXPECT_EQ(Names(), names) << "nothing was made";
  // A project that is itself reached through a symlink is the user's.
  fs::create_directory_symlink(root_, project_.outside() / "project");
  const ProgramResult named = Run({GetParam(), "--yes", "--root", project_.outside() / "project"});
  EXPECT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file)));
}

TEST_F(Init, FilesAreWhereTheEnvironmentSays) {
  const std::string elsewhere = project_.home() / "elsewhere";
  EXPECT_EQ(Run({"codex", "--yes"}, {"CODEX_HOME=" + elsewhere}).exit_code, 0);
  EXPECT_TRUE(fs::exists(elsewhere + "/config.toml"));
  EXPECT_EQ(Run({"claude-desktop", "--yes"}, {"XDG_CONFIG_HOME=" + elsewhere}).exit_code, 0);
  EXPECT_TRUE(fs::exists(elsewhere + "/Claude/claude_desktop_config.json"));
  const fs::path other = root_ / "other";
  fs::create_directory(other);
  EXPECT_EQ(Run({"claude-code", "--root", "other", "--yes"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(other / ".mcp.json"));
}

TEST_F(Init, OptionsWithWhichNoServerStartsAreRefused) {
  const ProgramResult tool = Run({"cursor", "--yes", "--enable", "mkae"});
  EXPECT_EQ(tool.exit_code, 1);
  EXPECT_NE(tool.errors.find("did you mean 'make'"), std::string::npos) << tool.errors;
  EXPECT_EQ(Run({"cursor", "--yes", "--root", "/nonexistent"}).exit_code, 1);
  EXPECT_EQ(Run({"cursor", "--yes", "--policy", "none.yaml"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(FileOf("cursor")));
  EXPECT_EQ(Run({"emacs", "--yes"}).exit_code, 2);
  EXPECT_EQ(Run({}).exit_code, 2);
  WriteText(project_.home() / "p.yaml", "version: 1\n");
  const std::string policy = project_.home() / "p.yaml";
  const Json named = Json::parse(Run({"cursor", "--print", "--policy", policy}).output);
  EXPECT_EQ(named["mcpServers"]["project-actions"]["args"],
            (Json{"serve", "--root", root_, "--policy", policy}))
      << "the policy says which tools are on";
}

// A file in the home has one entry for all projects.
TEST_F(Init, ASecondProjectComesToTheFirst) {
  const std::string second = fs::canonical(project_.outside()).string() + "/second";
  const auto args = [&](const std::vector<std::string>& roots) {
    std::string text = "[\"serve\"";
    for (const std::string& root : roots) text += ", \"--root\", \"" + root + "\"";
    return text + ", \"--enable\", \"bash\"]";
  };
  for (const std::string client : {"codex", "claude-desktop"}) {
    fs::create_directories(second);
    ASSERT_EQ(Run({client, "--yes", "--enable", "bash"}).exit_code, 0) << client;
    EXPECT_TRUE(ReadText(FileOf(client)).contains(args({root_}))) << ReadText(FileOf(client));
    const ProgramResult added = Run({client, "--yes", "--root", second});
    EXPECT_EQ(added.exit_code, 0) << added.errors;
    EXPECT_TRUE(ReadText(FileOf(client)).contains(args({root_, second})))
        << ReadText(FileOf(client));
    for (const std::string& root : {second, root_.string()}) {
      const ProgramResult again = Run({client, "--root", root});
      EXPECT_TRUE(again.output.contains("nothing has to change")) << again.output << again.errors;
    }
    fs::remove_all(second);
    EXPECT_EQ(Run({client, "--yes"}).exit_code, 0);
    EXPECT_TRUE(ReadText(FileOf(client)).contains(args({root_})))
        << "no server would start with a root that is gone: " << ReadText(FileOf(client));
    // What is given now counts.
    EXPECT_EQ(Run({client, "--yes", "--enable", "make"}).exit_code, 0);
    EXPECT_TRUE(ReadText(FileOf(client)).contains("\"--enable\", \"make\"]"));
  }
}

// What switches a client's own tools off, and the file that says it.
struct Exclusive {
  const char* client;
  const char* file;  // in the project, or in the home
  std::vector<std::string> says;
};
const Exclusive kExclusive[] = {
    {"claude-code",
     ".claude/settings.json",
     {R"("deny": ["Bash", "PowerShell", "Monitor", "Edit", "Write", "NotebookEdit"])"}},
    {"gemini",
     ".gemini/settings.json",
     {R"("exclude": ["run_shell_command", "write_file", "replace"])"}},
    {"codex", ".codex/config.toml", {"sandbox_mode = \"read-only\"\n", "\nshell_tool = false\n"}},
};

TEST_F(Init, TheClientsOwnToolsAreSwitchedOffAndOnAgain) {
  for (const auto& [client, name, says] : kExclusive) {
    const fs::path file = (client == std::string("codex") ? project_.home() : root_) / name;
    const ProgramResult asked = Run({client, "--exclusive"});
    EXPECT_EQ(asked.exit_code, 1) << client;
    EXPECT_FALSE(fs::exists(file)) << client;
    const ProgramResult off = Run({client, "--exclusive", "--yes"});
    EXPECT_EQ(off.exit_code, 0) << client << off.errors;
    EXPECT_TRUE(off.output.contains("own tools are switched off: ")) << off.output;
    EXPECT_FALSE(off.output.contains(" bypass all this")) << off.output;
    for (const std::string& one : says) {
      EXPECT_TRUE(ReadText(file).contains(one)) << ReadText(file);
      EXPECT_TRUE(off.output.contains("+")) << off.output;
    }
    EXPECT_TRUE(ReadText(FileOf(client)).contains("project-actions")) << client;
    const ProgramResult again = Run({client, "--exclusive"});
    EXPECT_EQ(again.exit_code, 0) << client << again.errors;
    EXPECT_TRUE(again.output.contains("nothing has to change")) << again.output;

    EXPECT_EQ(Run({client, "--remove"}).exit_code, 1) << client;
    EXPECT_TRUE(ReadText(FileOf(client)).contains("project-actions")) << client;
    const ProgramResult on = Run({client, "--remove", "--yes"});
    EXPECT_EQ(on.exit_code, 0) << client << on.errors;
    for (const std::string& one : says) EXPECT_FALSE(ReadText(file).contains(one)) << client;
    EXPECT_FALSE(ReadText(FileOf(client)).contains("project-actions")) << ReadText(FileOf(client));
    const ProgramResult none = Run({client, "--remove"});
    EXPECT_EQ(none.exit_code, 0) << client << none.errors;
    EXPECT_TRUE(none.output.contains("nothing has to change")) << none.output;
  }
}

TEST_F(Init, WhatTheUserHasDeniedStaysDenied) {
  const fs::path file = root_ / ".claude/settings.json";
  const std::string text =
      "{\n  \"permissions\": {\n    \"deny\": [\n      \"Edit\",\n"
      "      \"Read(.env)\"\n    ]\n  }\n}\n";
  WriteText(file, text);
  ASSERT_EQ(Run({"claude-code", "--exclusive", "--yes"}).exit_code, 0);
  const Json deny = Json::parse(ReadText(file))["permissions"]["deny"];
  EXPECT_EQ(deny,
            (Json{"Edit", "Read(.env)", "Bash", "PowerShell", "Monitor", "Write", "NotebookEdit"}));
  ASSERT_EQ(Run({"claude-code", "--remove", "--yes"}).exit_code, 0);
  EXPECT_EQ(ReadText(file), text) << "what init did not write stays";
  WriteText(file, R"({"permissions": {"deny": ["Bash"]}})");
  ASSERT_EQ(Run({"claude-code", "--remove"}).exit_code, 0);
  EXPECT_EQ(ReadText(file), R"({"permissions": {"deny": ["Bash"]}})");
}

TEST_F(Init, WhereAClientOffersNothingItIsRefused) {
  for (const std::string client : {"vscode", "cursor", "claude-desktop"}) {
    const ProgramResult refused = Run({client, "--exclusive", "--yes"});
    EXPECT_EQ(refused.exit_code, 1) << client;
    EXPECT_TRUE(refused.errors.contains(" has no setting ")) << refused.errors;
    EXPECT_FALSE(fs::exists(FileOf(client))) << client;
  }
  WriteText(FileOf("codex"), "sandbox_mode = \"danger-full-access\"\n");
  const ProgramResult refused = Run({"codex", "--exclusive", "--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(refused.errors.contains("config.toml:1:16: expected no other value"))
      << refused.errors;
  EXPECT_EQ(ReadText(FileOf("codex")), "sandbox_mode = \"danger-full-access\"\n");
  EXPECT_EQ(Run({"codex", "--exclusive", "--remove"}).exit_code, 2);
}

// Of an entry for several projects the one that is named goes, the last one with the entry.
TEST_F(Init, OneOfSeveralProjectsIsRemoved) {
  const std::string second = fs::canonical(project_.outside()).string();
  ASSERT_EQ(Run({"codex", "--yes", "--exclusive"}).exit_code, 0);
  ASSERT_EQ(Run({"codex", "--yes", "--root", second}).exit_code, 0);
  ASSERT_EQ(Run({"codex", "--remove", "--yes"}).exit_code, 0);
  const std::string text = ReadText(FileOf("codex"));
  EXPECT_TRUE(text.contains("[\"serve\", \"--root\", \"" + second + "\", \"--enable\"")) << text;
  EXPECT_TRUE(text.contains("shell_tool = false"))
      << "the other project is exclusive still" << text;
  EXPECT_TRUE(Run({"codex", "--remove"}).output.contains("nothing has to change"));
  ASSERT_EQ(Run({"codex", "--remove", "--yes", "--root", second}).exit_code, 0);
  const std::string rest = ReadText(FileOf("codex"));
  EXPECT_FALSE(rest.contains("project-actions") || rest.contains("shell_tool")) << rest;
}

TEST_F(Init, AnEntryThatInitHasNotWrittenIsNotRemoved) {
  const std::string text = R"({"mcpServers": {"project-actions": {"url": "http://localhost"}}})";
  WriteText(FileOf("claude-code"), text);
  const ProgramResult refused = Run({"claude-code", "--remove", "--yes"});
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_TRUE(refused.errors.contains("not one of init's")) << refused.errors;
  EXPECT_EQ(ReadText(FileOf("claude-code")), text);
}

// A file in a project is about that project alone, wherever it was before.
TEST_F(Init, AProjectThatWasMovedHasItsNewPlace) {
  ASSERT_EQ(Run({"cursor", "--yes"}).exit_code, 0);
  const fs::path moved = fs::canonical(project_.outside()) / "moved";
  fs::create_directories(moved / ".cursor");
  fs::copy_file(FileOf("cursor"), moved / ".cursor/mcp.json");
  ASSERT_EQ(Run({"cursor", "--yes", "--root", moved}).exit_code, 0);
  const Json args =
      Json::parse(ReadText(moved / ".cursor/mcp.json"))["mcpServers"]["project-actions"]["args"];
  EXPECT_EQ(args, (Json{"serve", "--root", moved, "--enable",
                        "make,makefile_generate,git_add,git_commit"}));
}

TEST_F(Init, TheServerPrefersTheProjectInWhichItIsStarted) {
  const fs::path second = fs::canonical(project_.outside()) / "second";
  WriteText(second / "Makefile", ".PHONY: b\nb:\n");
  for (const auto& [where, wanted] :
       {std::pair{root_, root_}, std::pair{second, second}, std::pair{fs::path("/"), root_}}) {
    const ProgramResult listed =
        RunProgram({.command = {BuiltProgram("PA_SERVER"), "call", "make_targets", "--root", root_,
                                "--root", second},
                    .environment = {"HOME=" + project_.home().string()},
                    .directory = where});
    EXPECT_TRUE(listed.output.contains(" in " + wanted.string() + "/Makefile"))
        << where << listed.output << listed.errors;
  }
}

// What somebody at a terminal answers.
class InitAtATerminal : public Init {
 protected:
  // Everything that was shown; the answer is typed when the question is there.
  std::string Say(std::string_view answer, int* status) {
    const pid_t pid =
        Spawn(terminal_.Of({.command = {BuiltProgram("PA_SERVER"), "init", "claude-code"},
                            .environment = {"HOME=" + project_.home().string()},
                            .directory = root_}));
    std::string shown = terminal_.ReadUntil("[y/N] ");
    terminal_.Type(answer);
    *status = terminal_.Wait(pid, shown);
    return shown;
  }

 private:
  Terminal terminal_{80};
};

TEST_F(InitAtATerminal, OnlyWithAYesItIsWritten) {
  WriteText(FileOf("claude-code"), "{\n  \"a\": \"\xE2\x80\xAE\x7F x\"\n}\n");
  int status = 0;
  const std::string declined = Say("n\n", &status);
  EXPECT_EQ(status, 1) << declined;
  EXPECT_NE(declined.find("nothing was written"), std::string::npos) << declined;
  EXPECT_NE(declined.find("\\u{202e}\\u{7f} x"), std::string::npos)
      << "what turns the direction of writing is written out: " << declined;
  EXPECT_EQ(ReadText(FileOf("claude-code")).find("project-actions"), std::string::npos);
  const std::string accepted = Say("y\n", &status);
  EXPECT_EQ(status, 0) << accepted;
  EXPECT_NE(ReadText(FileOf("claude-code")).find("project-actions"), std::string::npos);
}

}  // namespace
}  // namespace pa::testing
