// Proxies that speak TLS in front of two machines, as docs/daemon.md has them: the configurations
// that are installed as examples, with other places. Both machines have the same tenants.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <set>

#include "base/unique_fd.h"
#include "tests/support/front_door.h"
#include "tests/support/http_client.h"
#include "tests/support/launch.h"
#include "tests/support/loopback.h"
#include "tests/support/processes.h"
#include "tests/support/project.h"
#include "tests/support/tenant_machine.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kHaproxy[] = "/usr/sbin/haproxy";
constexpr char kHost[] = "agents.example.org";
constexpr char kProxiesMakefile[] =
    ".PHONY: where steps wait once\n"
    "where:\n\t@id -u; pwd\n"
    "steps:\n\t@echo begun; while [ ! -e go ]; do sleep 0.1; done; echo ended\n"
    "wait:\n\t@echo begun; exec sleep 100\n"
    "once:\n\t@echo ran >>runs; exec sleep 100\n";

// Less than the 14.5 s after which the server writes to a stream that is silent, and so would
// notice by itself that nobody reads it.
constexpr std::chrono::seconds kAtOnce{10};

// A client that trusts the certificate in `authority` alone.
class TlsConnection {
 public:
  TlsConnection(std::uint16_t port, const std::string& authority) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) abort();
    fd_.reset(ends[0]);
    const UniqueFd theirs(ends[1]);
    process_ = Spawn({.command = {"openssl", "s_client", "-quiet", "-no_ign_eof", "-connect",
                                  "127.0.0.1:" + std::to_string(port), "-CAfile", authority,
                                  "-verify_return_error", "-verify_hostname", kHost},
                      .in = theirs.get(),
                      .out = theirs.get()});
  }
  ~TlsConnection() {
    fd_.reset();
    End(process_, 0);
  }
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  void Send(const std::string& request) const {
    send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL);
  }
  std::string Hear(std::string_view until = "") const { return testing::Hear(fd_.get(), until); }

 private:
  UniqueFd fd_;
  pid_t process_ = -1;
};

// Also its own authority.
void MakeCertificate(const std::string& certificate, const std::string& key) {
  const ProgramResult made = RunProgram(
      {.command = {
           "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
           "-noenc", "-days", "2", "-subj", std::string("/CN=") + kHost, "-addext",
           std::string("subjectAltName=DNS:") + kHost, "-keyout", key, "-out", certificate}});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const passwd web = UserOf(kWebServer);
  ASSERT_EQ(chown(key.c_str(), web.pw_uid, web.pw_gid), 0);
}

std::string Shipped(const char* name) {
  return ReadText(fs::path(BuiltProgram("PA_PROXY_EXAMPLES")) / name);
}

std::uint16_t FreePort() { return LoopbackListener().port(); }

std::string TlsFields(const std::string& token) {
  return std::string("Host: ") + kHost + "\r\nAuthorization: Bearer " + token +
         "\r\nConnection: close\r\n";
}
std::string MakeCall(const std::string& token, const char* target, bool with_progress = false) {
  Json meta = ModernMeta();
  if (with_progress) meta["progressToken"] = "p";
  return ModernPost("make", {{"target", target}}, TlsFields(token), meta);
}

class TlsMachines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root has several users";
    if (access(kNginx, X_OK) != 0 || access("/usr/bin/openssl", X_OK) != 0) {
      GTEST_SKIP() << "there is no nginx or openssl: packaging/install-deps.sh tenants";
    }
    chmod(dir_.path().c_str(), 0755);
    MakeCertificate(At("agents.pem"), At("agents.key"));
  }
  std::string At(const std::string& name) const { return dir_.path() / name; }

  void StartMachine(std::size_t i) {
    TenantMachine& machine = machines_[i];
    machine.Lay();
    WriteText(machine.At("policy.yaml"),
              std::string("version: 1\nhttp: {public_url: \"https://") + kHost + "/mcp\"}\n");
    for (const char* user : {kAnn, kBob}) {
      WriteText(machine.HomeOf(user) / "project/Makefile", kProxiesMakefile);
    }
    fs::copy_file(At("agents.pem"), machine.At("agents.pem"));
    fs::copy_file(At("agents.key"), machine.At("agents.key"));
    ASSERT_EQ(chown(machine.At("agents.key").c_str(), UserOf(kWebServer).pw_uid, 0), 0);
    ports_[i] = FreePort();
    WriteText(machine.At("nginx.d/tls.conf"),
              WithPlaces(Shipped("front-door-tls.conf"),
                         {{"listen 443", "listen 127.0.0.1:" + std::to_string(ports_[i])},
                          {"/etc/ssl/agents.pem", machine.At("agents.pem")},
                          {"/etc/ssl/private/agents.key", machine.At("agents.key")}}));
    if (i > 0) CopyTokens();
    machine.Start();
  }
  // As an administrator of several machines does.
  void CopyTokens() {
    for (const char* user : {kAnn, kBob}) {
      const std::string tokens = std::string("tenants/") + user + "/tokens.json";
      WriteText(machines_[1].At(tokens), ReadText(machines_[0].At(tokens)));
    }
    fs::last_write_time(machines_[1].TenantsPath(), fs::file_time_type::clock::now());
  }

  std::string Ask(std::uint16_t port, const std::string& request) const {
    const TlsConnection connection(port, At("agents.pem"));
    connection.Send(request);
    return connection.Hear();
  }
  // "5 at 0": user 5 of machine 0; or what was answered instead.
  std::string Answerer(std::uint16_t port, const std::string& token) const {
    const Json result = ResultOf(Ask(port, MakeCall(token, "where")));
    if (!result.is_object()) return result.dump();
    const std::string said = result["data"]["stdout"];
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (!said.contains(machines_[i].path().string())) continue;
      return said.substr(0, said.find('\n')) + " at " + std::to_string(i);
    }
    return result.dump();
  }
  static std::string UserAt(const char* user, std::size_t machine) {
    return std::to_string(UserOf(user).pw_uid) + " at " + std::to_string(machine);
  }
  fs::path ProjectAt(std::size_t machine) const {
    return machines_[machine].HomeOf(kAnn) / "project";
  }

  TempDir dir_;
  std::array<TenantMachine, 2> machines_;
  std::array<std::uint16_t, 2> ports_{};  // of TLS
};

TEST_F(TlsMachines, AFrontDoorSpeaksTlsItself) {
  StartMachine(0);
  for (const char* user : {kAnn, kBob}) {
    EXPECT_EQ(Answerer(ports_[0], machines_[0].TokenOf(user)), UserAt(user, 0));
  }
  EXPECT_EQ(StatusOf(Ask(ports_[0], MakeCall("pa_" + std::string(64, '0'), "where"))), "401");
  // The client would not have talked to whoever has another certificate of this name.
  MakeCertificate(At("other.pem"), At("other.key"));
  const TlsConnection distrustful(ports_[0], At("other.pem"));
  distrustful.Send(MakeCall(machines_[0].TokenOf(kAnn), "where"));
  EXPECT_EQ(distrustful.Hear(), "");
}

class Proxies : public TlsMachines, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    TlsMachines::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (IsHaproxy() && access(kHaproxy, X_OK) != 0) {
      GTEST_SKIP() << "there is no haproxy: packaging/install-deps.sh tenants";
    }
    for (std::size_t i = 0; i < machines_.size(); ++i) StartMachine(i);
    if (HasFatalFailure()) return;
    port_ = FreePort();
    proxy_ = IsHaproxy() ? StartHaproxy() : StartNginx();
    ASSERT_TRUE(Eventually([&] { return static_cast<bool>(ConnectLoopback(port_)); })) << Log();
  }
  ~Proxies() override { End(proxy_, SIGTERM); }

  static bool IsHaproxy() { return GetParam() == std::string("haproxy"); }
  std::string Loopback(std::uint16_t port) const { return "127.0.0.1:" + std::to_string(port); }
  // What the proxy has written.
  std::string Log() const { return ReadText(At("log")) + ReadText(At("proxy/access.log")); }

  pid_t StartHaproxy() {
    WriteText(At("both.pem"), ReadText(At("agents.pem")) + ReadText(At("agents.key")));
    WriteText(At("haproxy.cfg"),
              WithPlaces(Shipped("haproxy-tls.cfg"), {{"/dev/log", "stderr format raw"},
                                                      {":443", Loopback(port_)},
                                                      {"/etc/haproxy/agents.pem", At("both.pem")},
                                                      {"/etc/ssl/agents-ca.pem", At("agents.pem")},
                                                      {"192.0.2.11:8443", Loopback(ports_[0])},
                                                      {"192.0.2.12:8443", Loopback(ports_[1])}}));
    return Spawn({.command = {kHaproxy, "-db", "-f", At("haproxy.cfg")}, .err = log_.get()});
  }
  // Within the http of an nginx as distributions have it.
  pid_t StartNginx() {
    fs::create_directory(At("proxy"));
    EXPECT_EQ(chown(At("proxy").c_str(), UserOf(kWebServer).pw_uid, 0), 0);
    WriteText(At("nginx-tls.conf"), WithPlaces(Shipped("nginx-tls.conf"),
                                               {{"listen 443", "listen " + Loopback(port_)},
                                                {"/etc/ssl/agents.pem", At("agents.pem")},
                                                {"/etc/ssl/private/agents.key", At("agents.key")},
                                                {"/etc/ssl/agents-ca.pem", At("agents.pem")},
                                                {"192.0.2.11:8443", Loopback(ports_[0])},
                                                {"192.0.2.12:8443", Loopback(ports_[1])}}));
    std::string conf = "daemon off;\npid " + At("proxy/pid") +
                       ";\nworker_processes 2;\nerror_log stderr info;\nevents {}\nhttp {\n" +
                       "access_log " + At("proxy/access.log") + ";\n";
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
      conf += std::string(kind) + "_temp_path " + At("proxy/") + kind + ";\n";
    }
    WriteText(At("nginx.conf"), conf + "include " + At("nginx-tls.conf") + ";\n}\n");
    std::vector<std::string> words = As(kWebServer);
    words.insert(words.end(), {kNginx, "-c", At("nginx.conf"), "-e", "stderr"});
    return Spawn({.command = std::move(words), .err = log_.get()});
  }

  std::string Answerer(const std::string& token) const {
    return TlsMachines::Answerer(port_, token);
  }
  // A token of ann's, whose requests go to this machine; half of all do.
  std::string TokenAt(std::size_t machine) {
    for (int tries = 0; tries < 40; ++tries) {
      const ProgramResult made =
          machines_[0].Run({"token", "new", "t" + std::to_string(tokens_++), "--tenant", kAnn,
                            "--tenants", machines_[0].TenantsPath()});
      const std::string token = made.output.substr(0, made.output.find('\n'));
      CopyTokens();
      if (Answerer(token) == UserAt(kAnn, machine)) return token;
    }
    ADD_FAILURE() << "no token leads to machine " << machine << "\n" << Log();
    return "";
  }
  bool Busy() const {
    return std::ranges::any_of(machines_, [](const TenantMachine& machine) {
      return !ProcessesIn(machine.HomeOf(kAnn)).empty();
    });
  }

  UniqueFd log_{open(At("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  std::uint16_t port_ = 0;
  pid_t proxy_ = -1;
  int tokens_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Examples, Proxies, ::testing::Values("nginx", "haproxy"),
                         [](const auto& proxy) { return std::string(proxy.param); });

TEST_P(Proxies, ATokenStaysAtItsMachine) {
  const std::string bob = Answerer(machines_[0].TokenOf(kBob));
  EXPECT_TRUE(bob == UserAt(kBob, 0) || bob == UserAt(kBob, 1)) << bob << Log();
  EXPECT_EQ(Answerer("pa_" + std::string(64, '0')), "\"401\"");
  for (std::size_t machine = 0; machine < machines_.size(); ++machine) {
    const std::string token = TokenAt(machine);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(Answerer(token), UserAt(kAnn, machine)) << Log();
    // So each request of a session finds it.
    const Json initialize = {{"jsonrpc", "2.0"},
                             {"id", 1},
                             {"method", "initialize"},
                             {"params",
                              {{"protocolVersion", "2025-11-25"},
                               {"capabilities", Json::object()},
                               {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}};
    std::string begun = Ask(port_, PostOf(initialize, TlsFields(token)));
    std::ranges::transform(begun, begun.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t at = begun.find("mcp-session-id: ");
    ASSERT_NE(at, std::string::npos) << begun;
    const std::string session = begun.substr(at, begun.find("\r\n", at) - at + 2);
    const Json list = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "tools/list"}};
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(StatusOf(Ask(port_, PostOf(list, TlsFields(token) + session))), "200");
    }
  }
}

TEST_P(Proxies, EventsComeAsTheyAreMade) {
  const TlsConnection connection(port_, At("agents.pem"));
  connection.Send(MakeCall(machines_[0].TokenOf(kAnn), "steps", true));
  const std::string first = connection.Hear("begun");
  EXPECT_TRUE(first.contains("begun")) << first << Log();
  EXPECT_FALSE(first.contains("ended")) << first;
  for (std::size_t i = 0; i < machines_.size(); ++i) WriteText(ProjectAt(i) / "go", "");
  const std::string rest = connection.Hear();
  EXPECT_TRUE(rest.contains("ended")) << rest;
}

TEST_P(Proxies, AClientThatGoesEndsItsCall) {
  for (const bool streams : {false, true}) {
    {
      const TlsConnection connection(port_, At("agents.pem"));
      connection.Send(MakeCall(machines_[0].TokenOf(kAnn), "wait", streams));
      if (streams) {
        EXPECT_TRUE(connection.Hear("begun").contains("begun")) << Log();
      }
      EXPECT_TRUE(Eventually([&] { return Busy(); }));
    }
    EXPECT_TRUE(Eventually([&] { return !Busy(); }, kAtOnce)) << streams << Log();
  }
}

TEST_P(Proxies, AnotherMachineAnswersForOneThatIsDown) {
  const std::string token = TokenAt(0);
  End(machines_[0].nginx(), SIGTERM);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Answerer(token), UserAt(kAnn, 1)) << Log();
  machines_[0].StartNginx();
  EXPECT_TRUE(Eventually([&] { return Answerer(token) == UserAt(kAnn, 0); }, kPatience)) << Log();
}

TEST_P(Proxies, NothingThatHasBegunIsSentAgain) {
  const TlsConnection connection(port_, At("agents.pem"));
  connection.Send(MakeCall(TokenAt(0), "once"));
  const fs::path runs = ProjectAt(0) / "runs";
  // The file is there before its line is, and the recipe ends with its connection.
  ASSERT_TRUE(Eventually([&] { return ReadText(runs) == "ran\n"; })) << Log();
  End(machines_[0].nginx(), SIGTERM);
  EXPECT_EQ(StatusOf(connection.Hear()), "502") << Log();
  EXPECT_EQ(ReadText(runs) + ReadText(ProjectAt(1) / "runs"), "ran\n");
}

// It would hear tokens.
TEST_P(Proxies, AMachineWithAnotherCertificateGetsNothing) {
  const std::string token = TokenAt(0);
  End(machines_[0].nginx(), SIGTERM);
  MakeCertificate(machines_[0].At("agents.pem"), machines_[0].At("agents.key"));
  machines_[0].StartNginx();
  EXPECT_EQ(Answerer(token), UserAt(kAnn, 1)) << Log();
}

// It can look into access tokens, which are other ones each hour.
class Haproxy : public Proxies {
 protected:
  // By the log: "one" or "two".
  std::string MachineOf(const std::string& claims) {
    const auto encoded = [](const std::string& json) {
      const std::string text =
          RunProgram({.command = {"basenc", "--base64url", "-w0"}}, json).output;
      return text.substr(0, text.find('='));
    };
    const std::size_t before = Log().size();
    const std::string token = encoded(R"({"alg":"RS256"})") + "." + encoded(claims) + ".c2ln";
    EXPECT_EQ(StatusOf(Ask(port_, MakeCall(token, "where"))), "401");
    EXPECT_TRUE(Eventually([&] { return Log().find(" machines/", before) != std::string::npos; }));
    return Log().substr(Log().find(" machines/", before) + 10, 3);
  }
};
INSTANTIATE_TEST_SUITE_P(Examples, Haproxy, ::testing::Values("haproxy"));

TEST_P(Haproxy, AnAccessTokenGoesByItsSubject) {
  std::set<std::string> machines;
  for (int subject = 0; subject < 40 && machines.size() < 2; ++subject) {
    const std::string claims = R"({"sub":"s)" + std::to_string(subject) + R"(","exp":)";
    const std::string machine = MachineOf(claims + "1}");
    for (const char* later : {"2}", "3}", "4}"}) EXPECT_EQ(MachineOf(claims + later), machine);
    machines.insert(machine);
  }
  EXPECT_EQ(machines, (std::set<std::string>{"one", "two"})) << Log();
}

TEST_P(Proxies, NoTokenIsInALog) {
  const std::string token = machines_[0].TokenOf(kAnn);
  EXPECT_NE(ResultOf(Ask(port_, MakeCall(token, "where"))), "401");
  for (const TenantMachine& machine : machines_) End(machine.nginx(), SIGTERM);
  EXPECT_EQ(StatusOf(Ask(port_, MakeCall(token, "where"))).front(), '5');
  EXPECT_EQ(StatusOf(Ask(port_, MakeCall(std::string(3000, 'Q'), "where"))).front(), '5');
  EXPECT_TRUE(Eventually([&] { return Log().contains("POST /mcp"); })) << Log();
  EXPECT_FALSE(Log().contains(token.substr(3))) << Log();
  EXPECT_FALSE(Log().contains(std::string(40, 'Q'))) << Log();
}

}  // namespace
}  // namespace pa::testing
