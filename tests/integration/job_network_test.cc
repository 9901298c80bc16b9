// The network of a job, shared with other commands: `job: ID` of make and bash, network: loopback.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/unique_fd.h"
#include "tests/support/loopback.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

// One line to whoever connects, until it is ended.
constexpr std::string_view kServer =
    "import os, socket\n"
    "s = socket.socket()\n"
    "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
    "s.bind(('127.0.0.1', 3000))\n"
    "s.listen()\n"
    "open(os.environ['TMPDIR'] + '/ours', 'w')\n"
    "open('where', 'w').write(os.environ['TMPDIR'])\n"
    "print('listening', flush=True)\n"
    "while True:\n"
    "    c, _ = s.accept()\n"
    "    c.sendall(b'hello\\n')\n"
    "    c.close()\n";
constexpr const char* kGet = "cat < /dev/tcp/127.0.0.1/3000";

class JobNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NamespacesAreGranted()) GTEST_SKIP() << "network: loopback needs namespaces";
    WriteText(project_.root() / "server.py", std::string(kServer));
    Policy("network: loopback\n");
  }
  void Policy(const std::string& lines) {
    WriteText(project_.home() / ".config/project-actions/policy.yaml", "version: 1\n" + lines);
  }
  // The id of a job that listens.
  std::string Listening(McpClient& client) {
    const Json handle = client.CallTool("make", {{"target", "serve"}, {"background", true}});
    EXPECT_EQ(handle["data"]["job"]["state"], "running") << handle;
    const std::string id = handle["data"]["job"]["id"];
    EXPECT_TRUE(Eventually([&] {
      return client.CallTool("job", {{"action", "read"}, {"id", id}})["data"]["lines"] ==
             "listening\n";
    }));
    return id;
  }
  static Json Bash(McpClient& client, const std::string& command, const std::string& job) {
    Json arguments = {{"command", command}};
    if (!job.empty()) arguments["job"] = job;
    return client.CallTool("bash", arguments);
  }

  Project project_{
      ".PHONY: serve get\n"
      "serve:\n\t@exec /usr/bin/python3 server.py\n"
      "get:\n\t@bash -c '" +
      std::string(kGet) + "'\n"};
};

TEST_F(JobNetwork, WhoNamesTheJobReachesItAndNobodyElse) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Listening(client);
  const Json reached = Bash(client, kGet, id);
  EXPECT_EQ(reached["data"]["stdout"], "hello\n") << reached;
  EXPECT_EQ(client.CallTool("make", {{"target", "get"}, {"job", id}})["data"]["stdout"], "hello\n");
  const Json alone = Bash(client, kGet, "");
  EXPECT_EQ(alone["error"]["code"], "COMMAND_FAILED") << alone;
  EXPECT_NE(alone["data"]["stderr"].get<std::string>().find("refused"), std::string::npos);
  EXPECT_NE(alone["error"]["ai_message"].get<std::string>().find("with job: " + id),
            std::string::npos)
      << "what helps is said: " << alone;
  // In both directions, and by a job of its own.
  const Json second = client.CallTool(
      "bash", {{"command", "until [ -e go ]; do sleep 0.01; done; " + std::string(kGet)},
               {"job", id},
               {"background", true}});
  WriteText(project_.root() / "go", "");
  const Json waited =
      client.CallTool("job", {{"action", "wait"}, {"id", second["data"]["job"]["id"]}});
  EXPECT_EQ(waited["data"]["stdout"], "hello\n") << waited;
  // Each call is recorded with the job that it named.
  EXPECT_TRUE(Eventually([&] {
    for (const Json& end : project_.EndsInTheLog()) {
      const bool bash = end["api"]["operation"] == "bash";
      if (bash && end.dump().find(id) != std::string::npos) return true;
    }
    return false;
  }));
}

TEST_F(JobNetwork, ADryRunSaysInWhichOneTheTargetRuns) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Listening(client);
  Json make = {{"target", "get"}, {"job", id}, {"dry_run", true}};
  const Json seen = client.Await(client.StartTool("make", make))["result"];
  const Json& confinement = seen["structuredContent"]["data"]["confinement"];
  EXPECT_EQ(confinement["network"], "loopback") << seen;
  EXPECT_EQ(confinement["job"], id);
  const std::string text = seen["content"][0]["text"];
  EXPECT_NE(text.find("network: loopback, that of job " + id + "\n"), std::string::npos) << text;
  make["job"] = "0123456789abcdef";
  EXPECT_EQ(client.CallTool("make", make)["error"]["code"], "NOT_FOUND") << "as without dry_run";
  make.erase("job");
  EXPECT_FALSE(client.CallTool("make", make)["data"]["confinement"].contains("job"));
}

TEST_F(JobNetwork, ATaskIsAJobToo) {
  Policy("network: loopback\njobs: {detach_after: 1s}\n");
  McpClient client(project_.Server());
  const Json meta =
      ModernMeta({{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}});
  const auto call = [&](const char* tool, Json arguments) {
    return client.Await(client.StartTool(tool, std::move(arguments), meta))["result"];
  };
  const Json task = call("make", {{"target", "serve"}});
  ASSERT_EQ(task["resultType"], "task") << task;
  Json reached;
  EXPECT_TRUE(Eventually([&] {
    reached = call("bash", {{"command", kGet}, {"job", task["taskId"]}});
    return reached["structuredContent"]["data"]["stdout"] == "hello\n";
  })) << reached;
}

// The network is all that they share: neither processes nor files that are a command's own.
TEST_F(JobNetwork, TheOtherWallsStand) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Listening(client);
  // Its own command line has the brackets.
  const Json looked =
      Bash(client, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'python3 [s]erver.py'", id);
  EXPECT_EQ(looked["data"]["stdout"], "0\n") << looked;
  const Json found = Bash(client, "ls -R $TMPDIR $(cat where)", id);
  EXPECT_EQ(found["data"]["stdout"].get<std::string>().find("ours"), std::string::npos) << found;
  Bash(client, "kill -9 -1", id);
  EXPECT_EQ(Bash(client, kGet, id)["data"]["stdout"], "hello\n") << "it was not killed";
  const LoopbackListener listener;
  const std::string port = std::to_string(listener.port());
  EXPECT_EQ(Bash(client, ": < /dev/tcp/127.0.0.1/" + port, id)["error"]["code"], "COMMAND_FAILED")
      << "nor the machine's own";
  const Json out = Bash(
      client,
      "for way in 'unshare -n' 'unshare -Un' 'nsenter -t 1 -n'; do $way echo out; done; :", id);
  EXPECT_EQ(out["data"]["stdout"], "") << out;
  EXPECT_EQ(RunProgram({.command = {"unshare", "-Un", "echo", "out"}}).output, "out\n")
      << "it works where there is no sandbox";
}

// Landlock keeps abstract sockets apart from Linux 6.12 on.
TEST_F(JobNetwork, AbstractSocketsAreApartWhereTheKernelCanDoThat) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string python =
      "exec /usr/bin/python3 -c \"import socket; s = "
      "socket.socket(socket.AF_UNIX); ";
  const Json job = client.CallTool(
      "bash", {{"command", python + "s.bind(b'\\0pa-test'); s.listen(); print('listening', "
                                    "flush=True); s.accept()\""},
               {"background", true}});
  const std::string id = job["data"]["job"]["id"];
  EXPECT_TRUE(Eventually([&] {
    return client.CallTool("job", {{"action", "read"}, {"id", id}})["data"]["lines"] ==
           "listening\n";
  })) << job;
  const ProgramResult doctor =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"}});
  const bool apart = Json::parse(doctor.output)["kernel"]["landlock_abi"] >= 6;
  const Json connected = Bash(client, python + "s.connect(b'\\0pa-test')\"", id);
  EXPECT_EQ(connected["success"], !apart) << connected;
}

// Whatever is kept for further commands may have been made anew meanwhile.
TEST_F(JobNetwork, AlsoAfterThePolicyWasReadAgain) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Listening(client);
  Policy(
      "network: loopback\npermissions: [{tool: bash, command: nope, decision: deny, reason: x}]\n");
  client.Signal(SIGHUP);
  EXPECT_TRUE(
      Eventually([&] { return Bash(client, "nope", "")["error"]["code"] == "POLICY_DENIED"; }));
  EXPECT_EQ(Bash(client, kGet, id)["data"]["stdout"], "hello\n");
  Policy("network: none\n");
  client.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] {
    return Bash(client, kGet, id)["error"]["code"] == "POLICY_DENIED";
  })) << "what is in force now counts";
}

TEST_F(JobNetwork, GoesOnAfterTheJobForWhoeverIsInIt) {
  McpClient client(project_.Server());
  client.Initialize();
  const std::string id = Listening(client);
  const int call = client.StartTool(
      "bash",
      {{"command", "touch in; until [ -e go ]; do sleep 0.01; done; echo still"}, {"job", id}});
  EXPECT_TRUE(Eventually([&] { return fs::exists(project_.root() / "in"); }));
  client.CallTool("job", {{"action", "stop"}, {"id", id}});
  WriteText(project_.root() / "go", "");
  EXPECT_EQ(client.Await(call)["result"]["structuredContent"]["data"]["stdout"], "still\n");
  const Json late = Bash(client, kGet, id);
  EXPECT_EQ(late["error"]["code"], "INVALID_ARGUMENT") << late;
  EXPECT_NE(late["error"]["message"].get<std::string>().find("has ended"), std::string::npos);
}

TEST_F(JobNetwork, WhatHasNoNetworkToShareIsRefused) {
  Policy("network: loopback\npipeline: {tools: [bash]}\n");
  McpClient client(project_.Server());
  client.Initialize();
  EXPECT_EQ(Bash(client, "touch ran", "0123456789abcdef")["error"]["code"], "NOT_FOUND");
  const Json steps =
      Json::array({{{"id", "a"}, {"tool", "bash"}, {"args", {{"command", "sleep 9"}}}}});
  const Json pipeline = client.CallTool("pipeline", {{"steps", steps}, {"background", true}});
  const Json refused = Bash(client, "touch ran", pipeline["data"]["job"]["id"]);
  EXPECT_EQ(refused["error"]["code"], "INVALID_ARGUMENT") << refused;
  EXPECT_NE(refused["error"]["message"].get<std::string>().find("is a pipeline"),
            std::string::npos);
  const Json background =
      client.CallTool("bash", {{"command", "touch ran"}, {"job", "no"}, {"background", true}});
  EXPECT_EQ(background["error"]["code"], "NOT_FOUND") << "instead of a handle: " << background;
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
}

// The line that a refusal suggests is applied, and helps.
TEST_F(JobNetwork, WithoutANetworkTheLineThatHelpsIsNamed) {
  Policy("network: none\n");
  std::string line;
  {
    McpClient client(project_.Server());
    client.Initialize();
    const Json job = client.CallTool("bash", {{"command", "sleep 100"}, {"background", true}});
    const Json refused = Bash(client, "touch ran", job["data"]["job"]["id"]);
    EXPECT_EQ(refused["error"]["code"], "POLICY_DENIED") << refused;
    const std::string advice = refused["error"]["ai_message"];
    const std::size_t begin = advice.find('`') + 1;
    line = advice.substr(begin, advice.find('`', begin) - begin);
    EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  }
  Policy(line + "\n");
  McpClient client(project_.Server());
  client.Initialize();
  EXPECT_EQ(Bash(client, kGet, Listening(client))["data"]["stdout"], "hello\n") << line;
}

TEST_F(JobNetwork, WithTheNetworkOfTheMachineThereIsNothingToShare) {
  Policy("network: full\n");
  McpClient client(project_.Server());
  client.Initialize();
  const Json job = client.CallTool("bash", {{"command", "sleep 100"}, {"background", true}});
  const Json refused = Bash(client, "touch ran", job["data"]["job"]["id"]);
  EXPECT_EQ(refused["error"]["code"], "INVALID_ARGUMENT") << refused;
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
}

// ---- ports: served on this machine ----

// What a program of ours gets from a port of 127.0.0.1: all that comes until the end.
std::string Fetch(int port, const std::string& host, const std::string& path = "/") {
  const UniqueFd fd = ConnectLoopback(static_cast<std::uint16_t>(port));
  if (!fd) return "none";
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string all;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(fd.get(), buffer, sizeof buffer)) > 0;) {
    all.append(buffer, static_cast<std::size_t>(got));
  }
  return all;
}

class JobPorts : public JobNetwork {
 protected:
  static constexpr const char* kAllowed = "network: loopback\njobs: {ports: loopback}\n";
  static int PortOf(const Json& handle) {
    const std::string url = handle["data"]["job"]["ports"][0]["url"];
    return std::stoi(url.substr(url.rfind(':') + 1));
  }
  static Json Serve(McpClient& client, const std::string& command) {
    return client.CallTool(
        "bash", {{"command", command}, {"background", true}, {"ports", Json::array({3000})}});
  }
  static constexpr const char* kHttp = "exec /usr/bin/python3 -m http.server 3000 --bind 127.0.0.1";
};

TEST_F(JobPorts, TheUserReachesTheServerOfAJob) {
  Policy(kAllowed);
  WriteText(project_.root() / "index.html", "a page\n");
  for (const char* address : {"127.0.0.1", "::1"}) {
    McpClient client(project_.Server());
    client.Initialize();
    const Json handle =
        Serve(client, std::string("exec /usr/bin/python3 -m http.server 3000 --bind ") + address);
    ASSERT_EQ(handle["data"]["job"]["ports"][0]["port"], 3000) << handle;
    const int port = PortOf(handle);
    const std::string name = "localhost:" + std::to_string(port);
    std::string page;
    EXPECT_TRUE(Eventually([&] {
      page = Fetch(port, name);
      return page.find("a page\n") != std::string::npos;
    })) << page;
    const std::string other = "evil.example:" + std::to_string(port);
    EXPECT_TRUE(Fetch(port, other, "/evil").starts_with("HTTP/1.1 421 "));
    Fetch(port, name, "/good");
    const std::string id = handle["data"]["job"]["id"];
    std::string log;
    EXPECT_TRUE(Eventually([&] {
      log = client.CallTool("job", {{"action", "read"}, {"id", id}}).dump();
      return log.find("GET /good") != std::string::npos;
    })) << log;
    EXPECT_EQ(log.find("GET /evil"), std::string::npos) << "it never came there";
    client.CallTool("job", {{"action", "stop"}, {"id", id}});
    EXPECT_EQ(Fetch(port, name), "none") << "closed with the job";
  }
}

TEST_F(JobPorts, OffUntilThePolicySaysSo) {
  for (const std::string before : {"network: none\n", "network: loopback\n"}) {
    Policy(before);
    std::string lines;
    {
      McpClient client(project_.Server());
      client.Initialize();
      const Json refused = Serve(client, "touch ran");
      EXPECT_EQ(refused["error"]["code"], "POLICY_DENIED") << refused;
      const std::string advice = refused["error"]["ai_message"];
      for (std::size_t at = 0; (at = advice.find('`', at)) != std::string::npos;) {
        const std::size_t end = advice.find('`', at + 1);
        lines += advice.substr(at + 1, end - at - 1) + "\n";
        at = end + 1;
      }
      EXPECT_FALSE(fs::exists(project_.root() / "ran"));
    }
    // The lines that the refusal suggests help.
    Policy(lines.starts_with("network") ? lines : before + lines);
    McpClient client(project_.Server());
    client.Initialize();
    EXPECT_EQ(Serve(client, kHttp)["data"]["job"]["ports"].size(), 1u) << lines;
  }
}

TEST_F(JobPorts, AreForJobsAlone) {
  Policy(kAllowed);
  McpClient client(project_.Server());
  client.Initialize();
  const Json refused =
      client.CallTool("bash", {{"command", "touch ran"}, {"ports", Json::array({3000})}});
  EXPECT_EQ(refused["error"]["code"], "INVALID_ARGUMENT") << refused;
  for (const Json& wrong : {Json::array(), Json::array({0}), Json::array({65536}),
                            Json::array({"x"}), Json::array({1, 2, 3, 4, 5, 6, 7, 8, 9})}) {
    const Json answer =
        client.CallTool("bash", {{"command", "touch ran"}, {"background", true}, {"ports", wrong}});
    EXPECT_EQ(answer["error"]["code"], "INVALID_ARGUMENT") << wrong << answer;
  }
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
}

TEST_F(JobPorts, AreClosedToOtherUsersOfThisMachine) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  Policy(kAllowed);
  WriteText(project_.root() / "index.html", "a page\n");
  McpClient client(project_.Server());
  client.Initialize();
  const int port = PortOf(Serve(client, kHttp));
  const std::string name = "127.0.0.1:" + std::to_string(port);
  EXPECT_TRUE(Eventually([&] { return Fetch(port, name).find("a page") != std::string::npos; }));
  ASSERT_EQ(seteuid(65534), 0);
  const std::string others = Fetch(port, name);
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(others.find("a page"), std::string::npos) << others;
}

// Nor to commands, even to those of the same user.
TEST_F(JobPorts, AreClosedToCommands) {
  Policy(kAllowed);
  McpClient client(project_.Server());
  client.Initialize();
  const Json handle = Serve(client, kHttp);
  const std::string port = std::to_string(PortOf(handle));
  const Json tried = Bash(client, ": < /dev/tcp/127.0.0.1/" + port, "");
  EXPECT_EQ(tried["error"]["code"], "COMMAND_FAILED") << tried;
}

}  // namespace
}  // namespace pa::testing
