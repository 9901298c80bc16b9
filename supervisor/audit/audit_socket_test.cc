#include "supervisor/audit/audit_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <regex>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

using Daemon = policy::AuditPolicy::Daemon;

// What listens where the daemon would.
class Listener {
 public:
  explicit Listener(const std::string& path) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    unlink(path.c_str());
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  // "" if there is none.
  std::string Read() {
    std::string message(128U << 10, '\0');
    const ssize_t got = recv(fd_.get(), message.data(), message.size(), MSG_DONTWAIT);
    message.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return message;
  }

 private:
  UniqueFd fd_;
};

class AuditSocketTest : public ::testing::Test {
 protected:
  static Result<void> Append(AuditSocket& socket, const std::string& text) {
    return socket.Append([&](const ChainLink& link) {
      return text + " " + std::to_string(link.sequence) + " " + Hex(link.previous);
    });
  }

  testing::TempDir dir_;
  const std::string path_ = dir_.path() / "socket";
  const std::string zeros_ = std::string(64, '0');
};

TEST_F(AuditSocketTest, TheJournalsOwnProtocol) {
  Listener journal(path_);
  AuditSocket socket(Daemon::kJournal, path_);
  ASSERT_TRUE(Append(socket, "first"));
  EXPECT_EQ(journal.Read(), "MESSAGE=first 1 " + zeros_ +
                                "\nPRIORITY=6\nSYSLOG_FACILITY=10\n"
                                "SYSLOG_IDENTIFIER=project-actions\n");
  ASSERT_TRUE(Append(socket, "second"));
  EXPECT_TRUE(
      journal.Read().starts_with("MESSAGE=second 2 " + Hex(Sha256Of("first 1 " + zeros_)) + "\n"));
}

TEST_F(AuditSocketTest, AsSyslogWritesIt) {
  Listener syslog(path_);
  AuditSocket socket(Daemon::kSyslog, path_);
  ASSERT_TRUE(Append(socket, "first"));
  const std::regex expected(
      R"(<86>[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d project-actions\[\d+\]: first 1 0{64})");
  const std::string message = syslog.Read();
  EXPECT_TRUE(std::regex_match(message, expected)) << message;
}

TEST_F(AuditSocketTest, ALineAsLongAsALineMayBe) {
  Listener journal(path_);
  AuditSocket socket(Daemon::kJournal, path_);
  const std::string text(kMaxAuditLine - 100, 'x');
  ASSERT_TRUE(Append(socket, text));
  EXPECT_NE(journal.Read().find(text + " 1 "), std::string::npos);
}

TEST_F(AuditSocketTest, WithoutADaemonNothingIsKept) {
  AuditSocket socket(Daemon::kJournal, path_);
  EXPECT_EQ(Append(socket, "lost").error().sys_errno, ENOENT);
  {
    const Listener dead(path_);
  }
  EXPECT_EQ(Append(socket, "lost").error().sys_errno, ECONNREFUSED);
  Listener journal(path_);
  ASSERT_TRUE(Append(socket, "kept"));
  EXPECT_TRUE(journal.Read().starts_with("MESSAGE=kept 1 " + zeros_)) << "what is lost is no link";
}

TEST_F(AuditSocketTest, ADaemonThatIsStartedAnew) {
  AuditSocket socket(Daemon::kSyslog, path_);
  {
    const Listener first(path_);
    ASSERT_TRUE(Append(socket, "a"));
  }
  Listener second(path_);
  ASSERT_TRUE(Append(socket, "b"));
  EXPECT_NE(second.Read().find(": b 2 "), std::string::npos);
}

TEST_F(AuditSocketTest, ADaemonThatReadsNothingHoldsNobody) {
  Listener stuck(path_);
  AuditSocket socket(Daemon::kJournal, path_);
  Result<void> sent;
  for (int i = 0; i < 10'000 && sent; ++i) sent = Append(socket, std::string(10'000, 'x'));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().sys_errno, EAGAIN);
  while (!stuck.Read().empty()) continue;
  EXPECT_TRUE(Append(socket, "again"));
}

}  // namespace
}  // namespace pa
