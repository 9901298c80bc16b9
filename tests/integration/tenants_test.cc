// Many tenants behind one front door, each part as the user that it has there.
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "tests/support/front_door.h"
#include "tests/support/http_client.h"
#include "tests/support/issuer.h"
#include "tests/support/loopback.h"
#include "tests/support/notify_socket.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/tenant_machine.h"
#include "tests/support/unix_socket.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

class Tenants : public ::testing::Test, protected TenantMachine {
 protected:
  using TenantMachine::Run;  // not gtest's

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root has several users";
    if (access(kNginx, X_OK) != 0) {
      GTEST_SKIP() << "there is no nginx: packaging/install-deps.sh tenants";
    }
    Lay();
    Start();
  }
  // What bob's server answers to nginx, which says so whose a request is.
  std::string AskBob(const std::string& vouch) const {
    const passwd web = UserOf(kWebServer);
    // The kernel tells whoever listens as whom the socket was connected.
    if (setegid(web.pw_gid) != 0 || seteuid(web.pw_uid) != 0) return "seteuid";
    const UniqueFd fd = ConnectUnix(SocketOf(kBob));
    const int error = errno;
    if (seteuid(0) != 0 || setegid(0) != 0) abort();
    if (!fd) return "connect: " + std::to_string(error);
    const std::string request =
        ModernPost("make", {{"target", "who"}},
                   "Host: localhost\r\nConnection: close\r\n" +
                       (vouch.empty() ? "" : "Project-Actions-Caller: " + vouch + "\r\n"));
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    return StatusOf(Hear(fd.get()));
  }
};

TEST_F(Tenants, EachTokenLeadsToItsUsersServer) {
  for (const char* user : {kAnn, kBob}) {
    const Json result = Call(TokenOf(user), "make", {{"target", "who"}});
    ASSERT_TRUE(result.is_object()) << result << ReadText(At("errors"));
    EXPECT_EQ(result["data"]["stdout"], std::to_string(UserOf(user).pw_uid) + "\n") << result;
  }
}

TEST_F(Tenants, WhoIsNotKnownIsToldOneThing) {
  const auto ask = [&](const std::string& token) {
    std::string answer =
        Ask(ModernPost("make", {{"target", "who"}}, Fields(token, "Connection: close\r\n")));
    const std::size_t date = answer.find("Date: ");
    if (date != std::string::npos) answer.erase(date, answer.find('\n', date) - date);
    return answer;
  };
  const std::string none = ask("pa_" + std::string(64, '0'));
  EXPECT_EQ(StatusOf(none), "401") << none;
  EXPECT_TRUE(none.contains("WWW-Authenticate: Bearer")) << none;
  const std::string token = TokenOf(kAnn);
  ASSERT_EQ(
      Run({"token", "revoke", "first", "--tenant", kAnn, "--tenants", TenantsPath()}).exit_code, 0);
  EXPECT_EQ(ask(token), none);
  EXPECT_EQ(StatusOf(ask("")), "401");
  EXPECT_TRUE(Call(TokenOf(kBob), "make", {{"target", "who"}})["success"]);
}

TEST_F(Tenants, WhatAClientSaysOfItselfIsNotPassedOn) {
  const std::string hash = Hex(Sha256Of(TokenOf(kBob)));
  const std::string bob = std::to_string(UserOf(kBob).pw_uid);
  const Json result = Call(TokenOf(kAnn), "make", {{"target", "who"}},
                           "Project-Actions-Caller: token " + hash +
                               "\r\nProject-Actions-Tenant: " + bob + "\r\nX-Forwarded-For: 1\r\n");
  EXPECT_EQ(result["data"]["stdout"], std::to_string(UserOf(kAnn).pw_uid) + "\n") << result;
  EXPECT_EQ(Call("", "make", {{"target", "who"}}, "Project-Actions-Caller: token " + hash + "\r\n"),
            "401");
}

// Nor is anything else that is not named, least of all the token.
TEST_F(Tenants, AServerGetsNoTokenAndNoFieldThatIsNotNamed) {
  End(ServerOf(kBob), SIGTERM);
  fs::remove(SocketOf(kBob));
  const UniqueFd listener = ListenUnix(SocketOf(kBob));
  ASSERT_EQ(chown(SocketOf(kBob).c_str(), 0, UserOf(kWebServer).pw_gid), 0);
  ASSERT_EQ(chmod(SocketOf(kBob).c_str(), 0660), 0);
  const UniqueFd client = ConnectLoopback(port());
  const std::string request =
      ModernPost("make", {{"target", "who"}},
                 Fields(TokenOf(kBob), "Cookie: id=7\r\nX-Else: 7\r\ntraceparent: 00-7-7-01\r\n"));
  send(client.get(), request.data(), request.size(), MSG_NOSIGNAL);
  const UniqueFd accepted(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const std::string got = Hear(accepted.get(), "\r\n\r\n");
  EXPECT_TRUE(got.contains("Project-Actions-Caller: v1 token ")) << got;
  EXPECT_TRUE(got.contains("traceparent: 00-7-7-01\r\n")) << got;
  for (const char* never : {"uthorization", "ookie", "X-Else", TokenOf(kBob).c_str()}) {
    EXPECT_FALSE(got.contains(never)) << got;
  }
}

// Whoever is told when to come again repeats the call; so that is said only of one that never
// began.
TEST_F(Tenants, ACallThatMayHaveRunIsNotToBeRepeated) {
  const auto send_wait = [&] {
    UniqueFd fd = ConnectLoopback(port());
    const std::string request =
        ModernPost("make", {{"target", "wait"}}, Fields(TokenOf(kBob), "Connection: close\r\n"));
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    return fd;
  };
  const UniqueFd begun = send_wait();
  EXPECT_TRUE(Eventually([&] { return !ProcessesIn(HomeOf(kBob)).empty(); }));
  End(ServerOf(kBob), SIGKILL);
  const std::string lost = Hear(begun.get());
  EXPECT_EQ(StatusOf(lost), "502") << lost;
  EXPECT_FALSE(lost.contains("Retry-After")) << lost;
  EXPECT_TRUE(lost.contains("may have run")) << lost;

  fs::remove(SocketOf(kBob));
  const std::string refused = Hear(send_wait().get());
  EXPECT_EQ(StatusOf(refused), "503") << refused;
  EXPECT_TRUE(refused.contains("Retry-After: 2\r\n")) << refused;
}

TEST_F(Tenants, NoNameOfAPageLeadsHere) {
  const auto status = [&](const std::string& fields) {
    return StatusOf(Ask(ModernPost(
        "make", {{"target", "who"}},
        "Connection: close\r\nAuthorization: Bearer " + TokenOf(kAnn) + "\r\n" + fields)));
  };
  const std::string host = "Host: localhost:" + std::to_string(port()) + "\r\n";
  EXPECT_EQ(status(host), "200");
  EXPECT_EQ(status("Host: evil.example\r\n"), "403");
  EXPECT_EQ(status(host + "Origin: http://evil.example\r\n"), "403");
  WriteText(At("policy.yaml"),
            "version: 1\nhttp: {public_url: \"https://agents.example.org/mcp\", origins: "
            "[\"https://app.example.org\"]}\n");
  kill(door(), SIGHUP);
  const std::string named = "Host: Agents.example.org\r\n";
  EXPECT_TRUE(Eventually([&] { return status(named) == "200"; })) << ReadText(At("errors"));
  EXPECT_EQ(status(named + "Origin: https://app.example.org\r\n"), "200");
  EXPECT_EQ(status("Host: evil.example\r\n"), "403");
}

// A reload cannot give back what the process gave up.
TEST_F(Tenants, KeysWhereTheFrontDoorMayNotReadNeedARestart) {
  // Both run, and hear signals.
  ASSERT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
  const IssuerKey key("one");
  const TempDir elsewhere;
  chmod(elsewhere.path().c_str(), 0755);
  // Not there before the reload, either.
  const fs::path keys = elsewhere.path() / "later/keys.json";
  const std::string http =
      "http: {public_url: \"https://agents.example.org/mcp\", issuer: \"https://issuer.example\", "
      "jwks: \"" +
      keys.string() + "\", subjects: {staff: " + kAnn + "}}\n";
  const std::string own = TenantsPath() + "/" + kAnn + "/policy.yaml";
  WriteText(own, ReadText(own) + http);
  kill(ServerOf(kAnn), SIGHUP);
  const std::string token =
      key.Token(R"({"iss": "https://issuer.example", "aud": "https://agents.example.org/mcp", )"
                R"("sub": "staff", "exp": )" +
                std::to_string(time(nullptr) + 3600) + "}");

  WriteText(At("policy.yaml"), "version: 1\n" + http);
  kill(door(), SIGHUP);
  ASSERT_TRUE(Eventually([&] { return ReadText(At("errors")).contains("restart it"); }))
      << ReadText(At("errors"));
  fs::create_directory(keys.parent_path());
  WriteText(keys, JwkSet({key.Jwk()}));
  fs::permissions(keys, fs::perms(0644));
  kill(ServerOf(kAnn), SIGHUP);
  EXPECT_EQ(Call(token, "make", {{"target", "who"}}), "401");  // as before: there is no issuer
  EXPECT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
  End(door(), SIGTERM);
  StartDoor();
  EXPECT_TRUE(Eventually([&] {
    const Json result = Call(token, "make", {{"target", "who"}});
    return result.is_object() && result["success"] == true;
  })) << Call(token, "make", {{"target", "who"}})
      << ReadText(At("errors"));
}

TEST_F(Tenants, NoTenantReachesAnother) {
  const Json own = Call(TokenOf(kAnn), "read", {{"path", "secret"}});
  EXPECT_TRUE(own.dump().contains(std::string("of ") + kAnn)) << own;
  const std::string theirs = HomeOf(kBob) / "project/secret";
  const Json read = Call(TokenOf(kAnn), "read", {{"path", theirs}});
  EXPECT_FALSE(read["success"]) << read;
  const std::string absent = HomeOf(kBob) / "project/absent";
  std::string never = Call(TokenOf(kAnn), "read", {{"path", absent}})["error"].dump();
  for (std::size_t at; (at = never.find(absent)) != std::string::npos;) {
    never.replace(at, absent.size(), theirs);
  }
  EXPECT_EQ(read["error"].dump(), never);
  // By a command, and by a command to what lies beneath /etc and /run when it is installed.
  for (const std::string& path :
       {theirs, TenantsPath() + "/" + kBob + "/tokens.json", TenantsPath() + "/" + kBob,
        TenantsPath(), SocketOf(kBob), SocketOf(kAnn), At("door.sock")}) {
    const Json result =
        Call(TokenOf(kAnn), "bash", {{"command", "ls -d '" + path + "/' || cat '" + path + "'"}});
    EXPECT_FALSE(result["success"]) << path << result;
    EXPECT_FALSE(result.dump().contains(std::string("of ") + kBob)) << result;
  }
  // Nor as that user without a sandbox.
  for (const std::string& path : {SocketOf(kBob), SocketOf(kAnn), At("door.sock")}) {
    const pid_t child = fork();
    if (child == 0) {
      const passwd ann = UserOf(kAnn);
      if (setgroups(0, nullptr) != 0 || setgid(ann.pw_gid) != 0 || setuid(ann.pw_uid) != 0) {
        _exit(1);
      }
      const bool refused = !ConnectUnix(path) && errno == EACCES;
      _exit(refused ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << path;
  }
}

// What the server of one tenant keeps, and who calls there, another cannot even name.
TEST_F(Tenants, NoTenantReachesAnothersJobsResultsAndProcesses) {
  const std::string marker = "marker-of-ann-31";
  Json begun = Call(TokenOf(kAnn), "bash",
                    {{"command", "exec -a " + marker + " sleep 100"}, {"background", true}});
  ASSERT_TRUE(begun.contains("data")) << begun;
  const std::string job = begun["data"]["job"]["id"];
  EXPECT_TRUE(Eventually([&] { return !ProcessesIn(HomeOf(kAnn)).empty(); }));
  const Json file =
      Call(TokenOf(kAnn), "make", {{"target", "who"}, {"result", {{"return_mode", "file"}}}});
  ASSERT_TRUE(file.contains("data")) << file;
  const std::string path = file["data"]["file"]["path"];
  // In place of what is there, what never was; the answers may differ in that name alone.
  const auto same = [&](const std::string& tool, const Json& arguments, const std::string& name,
                        const std::string& never) {
    Json others = arguments;
    for (auto& [key, value] : others.items()) {
      if (value == name) value = never;
    }
    const Json asked = Call(TokenOf(kBob), tool, arguments);
    EXPECT_FALSE(asked["success"]) << asked;
    std::string expected = Call(TokenOf(kBob), tool, others)["error"].dump();
    for (std::size_t at; (at = expected.find(never)) != std::string::npos;) {
      expected.replace(at, never.size(), name);
    }
    EXPECT_EQ(asked["error"].dump(), expected);
    EXPECT_TRUE(Call(TokenOf(kAnn), tool, arguments)["success"]) << tool << arguments;
  };
  same("job", {{"action", "read"}, {"id", job}}, job, job.substr(0, job.size() - 2) + "zz");
  same("read", {{"path", path}}, path, path.substr(0, path.rfind('-')) + "-0123456789abcdef.json");
  EXPECT_EQ(Call(TokenOf(kBob), "job", {{"action", "list"}})["data"]["jobs"], Json::array());
  const Json processes = Call(TokenOf(kBob), "bash",
                              {{"command", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"}});
  EXPECT_TRUE(processes.dump().contains("cmdline")) << processes;  // its own
  const std::vector<pid_t> of_ann = ProcessesIn(HomeOf(kAnn));
  EXPECT_TRUE(std::ranges::any_of(of_ann, [&](pid_t process) {
    return ReadText("/proc/" + std::to_string(process) + "/cmdline").contains(marker);
  }));
  // Without namespaces commands see what users see (SECURITY.md).
  EXPECT_FALSE(NamespacesAreGranted() && processes.dump().contains(marker)) << processes;
}

// Neither the front door nor nginx drops a call for a configuration that is read again.
TEST_F(Tenants, AReloadOfTheFrontDoorDropsNoCall) {
  const UniqueFd slow = ConnectLoopback(port());
  const std::string request =
      ModernPost("make", {{"target", "pause"}}, Fields(TokenOf(kAnn), "Connection: close\r\n"));
  send(slow.get(), request.data(), request.size(), MSG_NOSIGNAL);
  const fs::path project = HomeOf(kAnn) / "project";
  EXPECT_TRUE(Eventually([&] { return fs::exists(project / "begun"); }));
  for (int i = 0; i < 10; ++i) {
    kill(door(), SIGHUP);
    kill(nginx(), SIGHUP);
    EXPECT_TRUE(Call(TokenOf(kBob), "make", {{"target", "who"}})["success"]) << i;
  }
  WriteText(project / "go", "");
  EXPECT_TRUE(Hear(slow.get()).contains("went on"));
}

// Its own hashes: who has one could say by it, as nginx does, whose a request is.
TEST_F(Tenants, NoCommandReadsTokens) {
  const std::string tokens = TenantsPath() + "/" + kAnn + "/tokens.json";
  const std::string hash = Hex(Sha256Of(TokenOf(kAnn)));
  ASSERT_TRUE(ReadText(tokens).contains(hash));
  std::vector<std::string> words = As(kAnn);
  words.insert(words.end(), {"cat", tokens});
  EXPECT_TRUE(RunProgram({.command = words}).output.contains(hash)) << "ann herself can";
  const auto reads = [&] {
    return Call(TokenOf(kAnn), "bash", {{"command", "cat '" + tokens + "'; true"}})
        .dump()
        .contains(hash);
  };
  EXPECT_FALSE(reads());
  // Nor where the policy grants all that is around them.
  const std::string policy = TenantsPath() + "/" + kAnn + "/policy.yaml";
  WriteText(policy, ReadText(policy) + "filesystem: {read: ['" + path().string() + "']}\n");
  kill(ServerOf(kAnn), SIGHUP);
  EXPECT_TRUE(Eventually([&] { return ReadText(At("errors")).contains("policy read again"); }))
      << ReadText(At("errors"));
  const Json others = Call(TokenOf(kAnn), "bash", {{"command", "cat '" + policy + "'"}});
  EXPECT_TRUE(others["success"]) << others << "the grant counts";
  EXPECT_FALSE(reads());
}

// Its socket lies where it may not look: a grant that holds it is no reason to run nothing.
TEST_F(Tenants, ACommandFindsNoSocketWhereAllIsGranted) {
  const std::string policy = TenantsPath() + "/" + kAnn + "/policy.yaml";
  const std::string before = ReadText(policy);
  for (const char* namespaces : {"auto", "off"}) {
    WriteText(policy, before + "filesystem: {read: ['" + At("run") +
                          "']}\nnamespaces: " + namespaces + "\n");
    End(ServerOf(kAnn), SIGTERM);
    StartServer(kAnn);
    const Json found =
        Call(TokenOf(kAnn), "bash", {{"command", "cat '" + SocketOf(kAnn) + "' 2>&1; echo ran"}});
    EXPECT_TRUE(found["success"]) << namespaces << found;
    EXPECT_TRUE(found.dump().contains("ran")) << namespaces << found;
  }
}

// Half a request is one, too.
TEST_F(Tenants, AClientHasSoManyRequestsOpen) {
  const std::string half = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n" +
                           Fields(TokenOf(kAnn)) + "Content-Length: 10\r\n\r\n";
  std::vector<UniqueFd> open;
  for (int i = 0; i < 300; ++i) {  // some of them are refused
    open.push_back(ConnectLoopback(port()));
    send(open.back().get(), half.data(), half.size(), MSG_NOSIGNAL);
  }
  const auto status = [&](const char* user) {
    return StatusOf(Ask(
        ModernPost("make", {{"target", "who"}}, Fields(TokenOf(user), "Connection: close\r\n"))));
  };
  EXPECT_TRUE(Eventually([&] { return status(kAnn) == "429"; }));
  EXPECT_EQ(status(kBob), "200");
  open.clear();
  EXPECT_TRUE(Eventually([&] { return status(kAnn) == "200"; }));
}

// One that asks without a pause waits, is refused nothing, and keeps nobody else waiting.
TEST_F(Tenants, AClientThatAsksTooOftenWaits) {
  const std::string request = "GET /metrics HTTP/1.1\r\nAccept: */*\r\n" +
                              Fields(TokenOf(kAnn), "Connection: close\r\n") + "\r\n";
  const auto began = std::chrono::steady_clock::now();
  std::vector<UniqueFd> open;
  for (int i = 0; i < 250; ++i) {
    open.push_back(ConnectLoopback(port()));
    send(open.back().get(), request.data(), request.size(), MSG_NOSIGNAL);
  }
  EXPECT_TRUE(Call(TokenOf(kBob), "make", {{"target", "who"}})["success"]);
  int served = 0;
  for (const UniqueFd& one : open) served += StatusOf(Hear(one.get())) == "200" ? 1 : 0;
  EXPECT_EQ(served, 250);
  // A hundred at once, and 200 a second: the others cannot come sooner, on whatever machine.
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(500));
}

// nginx would write a long value of limit_conn into its log, and not count it.
TEST_F(Tenants, NoTokenIsInALog) {
  const std::string access = "eyJh." + std::string(3000, 'Q') + ".c2ln";
  EXPECT_EQ(Call(access, "make", {{"target", "who"}}), "401");
  EXPECT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
  EXPECT_EQ(Call(TokenOf(kAnn) + "x", "make", {{"target", "who"}}), "401");
  for (const auto& file : fs::recursive_directory_iterator(path())) {
    if (!file.is_regular_file() || file.path().string().contains("/lib/")) continue;
    const std::string text = ReadText(file.path());
    EXPECT_FALSE(text.contains(std::string(40, 'Q'))) << file.path() << text.substr(0, 500);
    EXPECT_FALSE(text.contains(TokenOf(kAnn).substr(3))) << file.path();
  }
}

// nginx would have sent it to the wrong socket.
TEST_F(Tenants, ARequestThatReachesTheWrongServerIsRefusedThere) {
  EXPECT_EQ(AskBob("v1 token " + Hex(Sha256Of(TokenOf(kBob)))), "200") << ReadText(At("errors"));
  EXPECT_EQ(AskBob("v1 token " + Hex(Sha256Of(TokenOf(kAnn)))), "401");
  EXPECT_EQ(AskBob(""), "403");
}

// After an upgrade: a server that does not know what the front door says makes way for one that
// does, when the calls that it has begun have ended.
TEST_F(Tenants, AServerOfAnotherReleaseThanTheFrontDoorEnds) {
  const auto ended = [&] {
    const std::string stat = ReadText("/proc/" + std::to_string(ServerOf(kBob)) + "/stat");
    return stat.substr(stat.rfind(')') + 1, 2) == " Z";
  };
  const UniqueFd fd = ConnectLoopback(port());
  const std::string request = ModernPost("make", {{"target", "wait"}}, Fields(TokenOf(kBob)));
  send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(Eventually([&] { return !ProcessesIn(HomeOf(kBob)).empty(); }));
  const std::string vouch = "token " + Hex(Sha256Of(TokenOf(kBob)));
  EXPECT_EQ(AskBob("v2 " + vouch), "503");
  EXPECT_EQ(AskBob("v1 " + vouch), "200");
  EXPECT_FALSE(ended());
  shutdown(fd.get(), SHUT_RDWR);
  EXPECT_TRUE(Eventually(ended));
  EXPECT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
}

// Metrics are a tenant's own; root reads everybody's without a token.
TEST_F(Tenants, MetricsTellATenantOfItselfAlone) {
  const auto metrics = [&](const std::string& token) {
    return Ask("GET /metrics HTTP/1.1\r\nAccept: */*\r\n" + Fields(token, "Connection: close\r\n") +
               "\r\n");
  };
  for (int i = 0; i < 3; ++i) Call(TokenOf(kAnn), "make", {{"target", "who"}});
  Call(TokenOf(kBob), "read", {{"path", "secret"}});
  const std::string ann = metrics(TokenOf(kAnn));
  EXPECT_TRUE(ann.contains("project_actions_calls_total{tool=\"make\",outcome=\"ok\"} 3\n")) << ann;
  EXPECT_TRUE(ann.contains("application/openmetrics-text")) << ann;
  EXPECT_TRUE(ann.ends_with("# EOF\n")) << ann;
  EXPECT_FALSE(ann.contains("\"read\"")) << ann;
  const std::string bob = metrics(TokenOf(kBob));
  EXPECT_TRUE(bob.contains("project_actions_calls_total{tool=\"read\",outcome=\"ok\"} 1\n")) << bob;
  EXPECT_FALSE(bob.contains("\"make\"")) << bob;
  EXPECT_EQ(StatusOf(metrics(TokenOf(kBob) + "x")), "401");
  const ProgramResult root =
      Run({"top", "--open-metrics", "unix:" + SocketOf(kAnn), "unix:" + SocketOf(kBob)});
  EXPECT_EQ(root.exit_code, 0) << root.errors;
  EXPECT_TRUE(root.output.contains("server=\"" + SocketOf(kAnn) + "\",tool=\"make\""))
      << root.output;
  EXPECT_TRUE(root.output.contains("server=\"" + SocketOf(kBob) + "\",tool=\"read\""))
      << root.output;
  // Root calls nothing there: it is not the tenant.
  const UniqueFd fd = ConnectUnix(SocketOf(kAnn));
  const std::string call =
      ModernPost("make", {{"target", "who"}}, "Host: localhost\r\nConnection: close\r\n");
  send(fd.get(), call.data(), call.size(), MSG_NOSIGNAL);
  EXPECT_EQ(StatusOf(Hear(fd.get())), "403");
}

TEST_F(Tenants, AClientThatGoesEndsItsCall) {
  {
    const UniqueFd fd = ConnectLoopback(port());
    const std::string request = ModernPost("make", {{"target", "wait"}}, Fields(TokenOf(kAnn)));
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(Eventually([&] { return !ProcessesIn(HomeOf(kAnn)).empty(); }));
  }
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(HomeOf(kAnn)).empty(); }));
  EXPECT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
}

TEST_F(Tenants, ARevokedTokenEndsWhatItHasOpen) {
  const UniqueFd fd = ConnectLoopback(port());
  const std::string request = ModernPost("make", {{"target", "wait"}}, Fields(TokenOf(kAnn)));
  send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(Eventually([&] { return !ProcessesIn(HomeOf(kAnn)).empty(); }));
  ASSERT_EQ(
      Run({"token", "revoke", "first", "--tenant", kAnn, "--tenants", TenantsPath()}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return ProcessesIn(HomeOf(kAnn)).empty(); }));
}

// A session, its stream and its end, in an older revision.
TEST_F(Tenants, ASessionGoesThrough) {
  const Json initialize = {{"jsonrpc", "2.0"},
                           {"id", 1},
                           {"method", "initialize"},
                           {"params",
                            {{"protocolVersion", "2025-11-25"},
                             {"capabilities", Json::object()},
                             {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}};
  const std::string close = "Connection: close\r\n";
  const std::string begun = Ask(PostOf(initialize, Fields(TokenOf(kAnn), close)));
  ASSERT_EQ(StatusOf(begun), "200") << begun;
  const std::size_t at = begun.find("Mcp-Session-Id: ");
  ASSERT_NE(at, std::string::npos) << begun;
  const std::string session = begun.substr(at, begun.find("\r\n", at) - at + 2);
  const Json list = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "tools/list"}};
  const std::string version = "MCP-Protocol-Version: 2025-11-25\r\n";
  EXPECT_EQ(StatusOf(Ask(PostOf(list, Fields(TokenOf(kAnn), close + session + version)))), "200");
  // Another tenant does not even learn that there is such a session.
  EXPECT_EQ(StatusOf(Ask(PostOf(list, Fields(TokenOf(kBob), close + session + version)))), "404");
  const auto by = [&](const char* method) {
    return std::string(method) + " /mcp HTTP/1.1\r\nAccept: text/event-stream\r\n" +
           Fields(TokenOf(kAnn), close + session + version) + "\r\n";
  };
  const UniqueFd stream = ConnectLoopback(port());
  const std::string get = by("GET");
  send(stream.get(), get.data(), get.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(Hear(stream.get(), "\r\n\r\n").contains("text/event-stream"));
  EXPECT_EQ(StatusOf(Ask(by("DELETE"))).front(), '2');
  EXPECT_EQ(StatusOf(Ask(PostOf(list, Fields(TokenOf(kAnn), close + session + version)))), "404");
}

TEST_F(Tenants, ConnectGoesThrough) {
  ServerOptions options{.arguments = {}, .home = HomeOf(kAnn)};
  options.command = {Program("project-actions"), "connect",
                     "http://127.0.0.1:" + std::to_string(port())};
  options.environment.push_back("PROJECT_ACTIONS_TOKEN=" + TokenOf(kAnn));
  McpClient lines(options);
  lines.Initialize();
  EXPECT_EQ(lines.CallTool("make", {{"target", "who"}})["data"]["stdout"],
            std::to_string(UserOf(kAnn).pw_uid) + "\n");
}

TEST_F(Tenants, WhatDiesIsStartedAgainAndNobodyElseNotices) {
  End(ServerOf(kAnn), SIGKILL);
  EXPECT_TRUE(Call(TokenOf(kBob), "make", {{"target", "who"}})["success"]);
  StartServer(kAnn);
  EXPECT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
  End(door(), SIGKILL);
  StartDoor();
  for (const char* user : {kAnn, kBob}) {
    EXPECT_TRUE(Call(TokenOf(user), "make", {{"target", "who"}})["success"]);
  }
}

TEST_F(Tenants, TheFrontDoorTellsSystemdThatItLivesUntilItEnds) {
  const std::string notify = At("notify");
  const NotifySocket systemd(notify);
  End(door(), SIGTERM);
  StartDoor(notify);
  EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=2 tenants");
  EXPECT_EQ(systemd.Next(), "WATCHDOG=1");
  EXPECT_EQ(systemd.Next(), "WATCHDOG=1");
  End(door(), SIGTERM);
  std::string last = systemd.Next();
  while (last == "WATCHDOG=1") last = systemd.Next();
  EXPECT_EQ(last, "STOPPING=1");
}

// As systemd starts it: whoever asks is told, and the next request finds what was mended.
TEST_F(Tenants, AFrontDoorThatCannotStartSaysSo) {
  End(door(), SIGTERM);
  WriteText(At("policy.yaml"), "version: 1\nnonsense: 1\n");
  const UniqueFd fd = ConnectLoopback(port());
  const std::string request =
      ModernPost("make", {{"target", "who"}}, Fields(TokenOf(kAnn), "Connection: close\r\n"));
  send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  StartDoor();
  const std::string answer = Hear(fd.get());
  EXPECT_EQ(StatusOf(answer), "503") << answer;
  EXPECT_TRUE(answer.contains("Retry-After: 2\r\n")) << answer;
  EXPECT_TRUE(answer.contains("does not answer")) << answer;
  End(door(), 0);
  WriteText(At("policy.yaml"), "version: 1\n");
  StartDoor();
  EXPECT_TRUE(Call(TokenOf(kAnn), "make", {{"target", "who"}})["success"]);
}

TEST_F(Tenants, ARemovedTenantIsGoneAtOnce) {
  const ProgramResult removed = Run({"tenant", "remove", kAnn, "--tenants", TenantsPath()});
  EXPECT_EQ(removed.exit_code, 0) << removed.errors;
  EXPECT_EQ(Call(TokenOf(kAnn), "make", {{"target", "who"}}), "401");
  EXPECT_TRUE(Call(TokenOf(kBob), "make", {{"target", "who"}})["success"]);
  EXPECT_FALSE(fs::exists(TenantsPath() + "/" + kAnn));
  EXPECT_TRUE(fs::exists(HomeOf(kAnn) / "project/secret"));
  EXPECT_EQ(Run({"tenant", "remove", kAnn, "--tenants", TenantsPath()}).exit_code, 1);
  EXPECT_EQ(Run({"tenant", "list", "--tenants", TenantsPath()}).output,
            std::to_string(UserOf(kBob).pw_uid) + "  " + kBob + "  tokens: 1\n");
}

}  // namespace
}  // namespace pa::testing
