#include "supervisor/audit/audit_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <uv.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <optional>

#include "supervisor/loop/uv_handles.h"
#include "tests/support/run_until.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

// Whom a line has to wait for, the loop that waits can let go: nothing waits on the loop.
class AuditLogTest : public ::testing::Test {
 protected:
  AuditLogTest() { uv_loop_init(&loop_); }
  ~AuditLogTest() override {
    audit_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  void Keep(const policy::AuditPolicy& policy, const std::string& text) {
    kept_.reset();
    const LineMaker make = [text](const ChainLink&) { return text; };
    Detach(audit_->Keep(policy, make), [this](Result<void> kept) { kept_ = std::move(kept); });
  }
  bool Finish() {
    testing::RunUntil(&loop_, [&] { return kept_.has_value(); });
    return kept_->has_value();
  }

  testing::TempDir dir_;
  uv_loop_t loop_;
  std::optional<AuditLog> audit_{std::in_place, &loop_};
  std::optional<Result<void>> kept_;
};

TEST_F(AuditLogTest, WhileAnotherAppendsTheLoopGoesOn) {
  policy::AuditPolicy policy;
  policy.path = dir_.path() / "audit.jsonl";
  UniqueFd other(open(policy.path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  Keep(policy, "{}");
  EXPECT_FALSE(kept_) << "it waits";
  TimerHandle timer(&loop_);
  timer.Start(std::chrono::milliseconds(5), [&] { other.reset(); });
  EXPECT_TRUE(Finish()) << kept_->error().Message();
  EXPECT_EQ(testing::ReadText(policy.path), "{}\n");
}

TEST_F(AuditLogTest, WhoNeverLetsGoIsNotWaitedForForEver) {
  policy::AuditPolicy policy;
  policy.path = dir_.path() / "audit.jsonl";
  const UniqueFd other(open(policy.path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  Keep(policy, "{}");
  ASSERT_FALSE(Finish());
  EXPECT_EQ(kept_->error().sys_errno, EWOULDBLOCK);
  EXPECT_EQ(testing::ReadText(policy.path), "");
}

std::ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST_F(AuditLogTest, WhoWaitsForTheDiskCostsNoDescriptor) {
  policy::AuditPolicy policy;
  policy.path = dir_.path() / "audit.jsonl";
  policy.sync = true;
  Keep(policy, "{}");
  ASSERT_TRUE(Finish());
  const auto before = OpenDescriptors();
  for (int i = 0; i < 30; ++i) Keep(policy, "{}");
  EXPECT_FALSE(kept_) << "they wait";
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_TRUE(Finish()) << kept_->error().Message();
}

TEST_F(AuditLogTest, WhileTheDaemonIsBusyTheLoopGoesOn) {
  policy::AuditPolicy policy;
  policy.socket = dir_.path() / "socket";
  policy.daemon = policy::AuditPolicy::Daemon::kJournal;
  const UniqueFd daemon(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  policy.socket.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(daemon.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  do {
    Keep(policy, std::string(10'000, 'x'));
  } while (kept_ && *kept_);
  ASSERT_FALSE(kept_) << "it waits: " << kept_->error().Message();
  TimerHandle timer(&loop_);
  timer.Start(std::chrono::milliseconds(5), [&] {
    while (recv(daemon.get(), nullptr, 0, MSG_DONTWAIT) >= 0) continue;
  });
  EXPECT_TRUE(Finish()) << kept_->error().Message();
}

}  // namespace
}  // namespace pa
