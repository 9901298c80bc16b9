#include "supervisor/transport/stdio_transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/support/failing_new.h"
#include "tests/support/run_until.h"

namespace pa {
namespace {

struct Pipe {
  Pipe() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    read_end.reset(fds[0]);
    write_end.reset(fds[1]);
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

void Write(const UniqueFd& fd, std::string_view bytes) { EXPECT_TRUE(WriteAll(fd.get(), bytes)); }

// Everything that can be read from `fd` now.
std::string ReadNow(const UniqueFd& fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  std::string text(1u << 20, '\0');
  const ssize_t count = read(fd.get(), text.data(), text.size());
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

class Recorder : public TransportHandler {
 public:
  void OnLine(std::string_view line) override {
    lines.emplace_back(line);
    if (on_line) on_line(lines.back());
  }
  void OnLineHeld(std::string_view line) override {
    if (keeps_held) held.emplace_back(line);
  }
  void OnLineTooLong(std::size_t limit, const std::vector<rpc::Outline>& outlines) override {
    lines.push_back("> " + std::to_string(limit));
    for (const rpc::Outline& outline : outlines) lines.push_back(outline.id->token());
  }
  void OnClosed() override { ++closed; }

  std::vector<std::string> lines;
  std::vector<std::string> held;
  bool keeps_held = true;
  int closed = 0;
  std::function<void(const std::string&)> on_line;
};

class StdioTransportTest : public ::testing::Test {
 protected:
  StdioTransportTest() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    EXPECT_EQ(sigaction(SIGPIPE, &ignore, nullptr), 0);
    uv_loop_init(&loop_);
  }
  ~StdioTransportTest() override {
    if (transport_) End();
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  StdioTransport& Start(int in, int out, std::size_t max_line = StdioTransport::kMaxLine) {
    transport_ = std::make_unique<StdioTransport>(&loop_, in, out, max_line);
    const Result<void> started = transport_->Start(handler_);
    EXPECT_TRUE(started) << started.error().Message();
    return *transport_;
  }
  StdioTransport& StartOnPipes(std::size_t max_line = StdioTransport::kMaxLine) {
    return Start(in_.read_end.get(), out_.write_end.get(), max_line);
  }

  // Turns the loop until `condition`, which a lost wake-up never fulfils.
  void Until(const std::function<bool()>& condition) {
    for (int turn = 0; turn < 10'000 && !condition(); ++turn) {
      if (uv_run(&loop_, UV_RUN_NOWAIT) == 0 && !condition()) break;
      usleep(100);
    }
    EXPECT_TRUE(condition());
  }

  void End() {
    bool done = false;
    transport_->Close([&] { done = true; });
    Until([&] { return done; });
    transport_.reset();
  }

  uv_loop_t loop_;
  Pipe in_;
  Pipe out_;
  Recorder handler_;
  std::unique_ptr<StdioTransport> transport_;
};

using Lines = std::vector<std::string>;

TEST_F(StdioTransportTest, CarriesLinesBothWays) {
  StdioTransport& transport = StartOnPipes();
  Write(in_.write_end, "one\ntwo\r\nthr");
  Until([&] { return handler_.lines.size() == 2; });
  Write(in_.write_end, "ee\n");
  Until([&] { return handler_.lines.size() == 3; });
  EXPECT_EQ(handler_.lines, (Lines{"one", "two", "three"}));
  transport.Send("reply");
  transport.Send("another");
  EXPECT_EQ(ReadNow(out_.read_end), "reply\nanother\n");
}

TEST_F(StdioTransportTest, ReportsALineThatIsTooLongAndGoesOn) {
  StartOnPipes(8);
  Write(in_.write_end, "123456789\nok\n");
  Until([&] { return handler_.lines.size() == 2; });
  EXPECT_EQ(handler_.lines, (Lines{"> 8", "ok"}));
}

TEST_F(StdioTransportTest, ReportsTheEndOnceAfterTheLastLine) {
  StdioTransport& transport = StartOnPipes();
  int closed_at_line = -1;
  handler_.on_line = [&](const std::string& line) {
    closed_at_line = handler_.closed;
    transport.Send("reply to " + line);
  };
  Write(in_.write_end, "last, without a newline");
  in_.write_end.reset();
  Until([&] { return handler_.closed > 0; });
  EXPECT_EQ(closed_at_line, 0);
  EXPECT_EQ(handler_.lines, Lines{"last, without a newline"});
  EXPECT_EQ(ReadNow(out_.read_end), "reply to last, without a newline\n");
  transport.Send("after the end of input");
  EXPECT_EQ(ReadNow(out_.read_end), "after the end of input\n");
  EXPECT_EQ(handler_.closed, 1);
}

TEST_F(StdioTransportTest, ReportsABrokenPipeOnceAndNotWhileSending) {
  StdioTransport& transport = StartOnPipes();
  out_.read_end.reset();
  transport.Send("nobody reads this");
  transport.Send("nor this");
  EXPECT_EQ(handler_.closed, 0);
  Until([&] { return handler_.closed > 0; });
  in_.write_end.reset();
  for (int i = 0; i < 10; ++i) uv_run(&loop_, UV_RUN_NOWAIT);
  EXPECT_EQ(handler_.closed, 1);
}

TEST_F(StdioTransportTest, ClosesItsGateWhileThePeerDoesNotRead) {
  StdioTransport& transport = StartOnPipes();
  std::size_t sent = 0;
  while (!transport.gate().closed() && sent < 2 * StdioTransport::kGateCloses) {
    transport.Send(std::string(999, 'x'));
    sent += 1000;
  }
  EXPECT_TRUE(transport.gate().closed());
  bool opened = false;
  transport.gate().WhenOpen([&] { opened = true; });
  std::size_t received = 0;
  Until([&] {
    received += ReadNow(out_.read_end).size();
    return opened;
  });
  EXPECT_GE(received + StdioTransport::kGateOpens, sent);
  Until([&] {
    received += ReadNow(out_.read_end).size();
    return received == sent;
  });
}

TEST_F(StdioTransportTest, LeavesRequestsUnreadWhileThePeerDoesNotRead) {
  StdioTransport& transport = StartOnPipes();
  handler_.on_line = [&](const std::string&) { transport.Send(std::string(200'000, 'x')); };
  std::string flood;
  for (int i = 0; i < 100; ++i) flood += "request\n";
  Write(in_.write_end, flood);
  in_.write_end.reset();
  Until([&] { return transport.gate().closed(); });
  for (int i = 0; i < 10; ++i) uv_run(&loop_, UV_RUN_NOWAIT);
  EXPECT_LE(handler_.lines.size(), 7u);  // 1 MiB, a full pipe and one reply
  EXPECT_EQ(handler_.closed, 0);
  std::size_t received = 0;
  Until([&] {
    received += ReadNow(out_.read_end).size();
    return received == 100u * 200'001u;
  });
  EXPECT_EQ(handler_.lines.size(), 100u);
  EXPECT_EQ(handler_.closed, 1);
}

TEST_F(StdioTransportTest, WhileThePeerDoesNotReadALineIsShownAtOnceAndHandledLater) {
  StdioTransport& transport = StartOnPipes();
  transport.Send(std::string(2 * StdioTransport::kGateCloses, 'x'));
  ASSERT_TRUE(transport.gate().closed());
  Write(in_.write_end, "first\nsecond\n");
  Until([&] { return handler_.held.size() == 2; });
  EXPECT_EQ(handler_.held, (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(handler_.lines.empty());
  Until([&] {
    ReadNow(out_.read_end);
    return !transport.gate().closed();
  });
  Write(in_.write_end, "third\n");
  Until([&] { return handler_.lines.size() == 3; });
  EXPECT_EQ(handler_.lines, (std::vector<std::string>{"first", "second", "third"}));
}

// Whoever waits for it gets an answer, and what comes after it is heard.
TEST_F(StdioTransportTest, AHeldLineForWhichThereIsNoMemoryIsTold) {
  constexpr std::size_t kLarge = 30'000;
  StdioTransport& transport = StartOnPipes();
  transport.Send(std::string(2 * StdioTransport::kGateCloses, 'x'));
  ASSERT_TRUE(transport.gate().closed());
  handler_.keeps_held = false;
  const std::string request =
      R"({"id":"n","method":"x","params":")" + std::string(kLarge, 'x') + "\"}";
  Write(in_.write_end, request + "\nsecond\n");
  {
    // The reader's own buffer has grown with what it was given at once; the next of that size is
    // the line's copy.
    testing::FailingNew failing(2, kLarge);
    for (int turn = 0; turn < 10; ++turn) uv_run(&loop_, UV_RUN_NOWAIT);
    EXPECT_TRUE(failing.failed());
  }
  EXPECT_TRUE(handler_.lines.empty());
  Until([&] {
    ReadNow(out_.read_end);
    return handler_.lines.size() == 3;
  });
  EXPECT_EQ(handler_.lines, (Lines{"> 0", "\"n\"", "second"}));
}

TEST_F(StdioTransportTest, NoLineIsLostWhicheverAllocationFailsWhileItIsHeld) {
  std::string flood;
  Lines expected;
  for (int i = 0; i < 40; ++i) {
    expected.push_back("request " + std::to_string(i));
    flood += expected.back() + "\n";
  }
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    in_ = Pipe();
    out_ = Pipe();
    handler_ = Recorder();
    handler_.keeps_held = false;
    StdioTransport& transport = StartOnPipes();
    transport.Send(std::string(2 * StdioTransport::kGateCloses, 'x'));
    for (int turn = 0; turn < 3; ++turn) uv_run(&loop_, UV_RUN_NOWAIT);
    Write(in_.write_end, flood);
    testing::FailingNew failing(failures + 1);
    for (int turn = 0; turn < 3; ++turn) uv_run(&loop_, UV_RUN_NOWAIT);
    failing.Stop();
    failed = failing.failed();
    if (failed) ++failures;
    Until([&] {
      ReadNow(out_.read_end);
      return handler_.lines.size() == expected.size();
    });
    // At most one of them was dropped, which is told in its place.
    for (std::size_t i = 0, told = 0; i < expected.size(); ++i) {
      if (handler_.lines[i] == "> 0" && told++ == 0) continue;
      EXPECT_EQ(handler_.lines[i], expected[i]) << failures;
    }
    End();
  }
  EXPECT_GT(failures, 1u);
}

TEST_F(StdioTransportTest, TheEndOfInputIsHeardWhileThePeerDoesNotRead) {
  StdioTransport& transport = StartOnPipes();
  transport.Send(std::string(2 * StdioTransport::kGateCloses, 'x'));
  Write(in_.write_end, "first\n");
  in_.write_end.reset();
  const auto start = std::chrono::steady_clock::now();
  testing::RunUntil(&loop_, [&] { return handler_.closed > 0; });
  EXPECT_GE(std::chrono::steady_clock::now() - start, StdioTransport::kDrainTime / 2)
      << "it may only be slow";
  EXPECT_EQ(handler_.held.size(), 1u);
}

TEST_F(StdioTransportTest, CloseWritesWhatIsQueued) {
  StdioTransport& transport = StartOnPipes();
  const std::string big(500'000, 'x');
  transport.Send(big);
  bool done = false;
  transport.Close([&] { done = true; });
  std::string received;
  Until([&] {
    received += ReadNow(out_.read_end);
    return done;
  });
  received += ReadNow(out_.read_end);
  EXPECT_EQ(received.size(), big.size() + 1);
  transport_.reset();
}

TEST_F(StdioTransportTest, CloseDoesNotWaitForeverForAPeerThatDoesNotRead) {
  StdioTransport& transport = StartOnPipes();
  transport.Send(std::string(500'000, 'x'));
  bool done = false;
  transport.Close([&] { done = true; });
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_TRUE(done);
  transport_.reset();
}

TEST_F(StdioTransportTest, LeavesTheDescriptorsOpenAndBlocking) {
  StartOnPipes();
  EXPECT_NE(fcntl(in_.read_end.get(), F_GETFL) & O_NONBLOCK, 0);
  End();
  EXPECT_EQ(fcntl(in_.read_end.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(out_.write_end.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(StdioTransportTest, ReadsAndWritesFiles) {
  char in_name[] = "/tmp/stdio_in_XXXXXX";
  char out_name[] = "/tmp/stdio_out_XXXXXX";
  const UniqueFd in(mkstemp(in_name));
  const UniqueFd out(mkstemp(out_name));
  unlink(in_name);
  unlink(out_name);
  Write(in, "one\ntwo\n");
  lseek(in.get(), 0, SEEK_SET);
  StdioTransport& transport = Start(in.get(), out.get());
  handler_.on_line = [&](const std::string& line) { transport.Send("reply to " + line); };
  Until([&] { return handler_.closed == 1; });
  lseek(out.get(), 0, SEEK_SET);
  EXPECT_EQ(ReadNow(out), "reply to one\nreply to two\n");
}

TEST_F(StdioTransportTest, ReadsDevNullAsItsEnd) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  Start(null.get(), null.get()).Send("into nothing");
  Until([&] { return handler_.closed == 1; });
}

TEST_F(StdioTransportTest, SpeaksOverOneSocketToo) {
  int fds[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const UniqueFd ours(fds[0]);
  const UniqueFd theirs(fds[1]);
  StdioTransport& transport = Start(ours.get(), ours.get());
  Write(theirs, "hello\n");
  Until([&] { return handler_.lines.size() == 1; });
  transport.Send("welcome");
  EXPECT_EQ(ReadNow(theirs), "welcome\n");
}

TEST_F(StdioTransportTest, NamesTheDescriptorThatIsNotOpen) {
  const int not_open = 987;
  transport_ = std::make_unique<StdioTransport>(&loop_, in_.read_end.get(), not_open);
  const Result<void> started = transport_->Start(handler_);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().subject, "standard output");
  EXPECT_EQ(started.error().sys_errno, EBADF);
}

}  // namespace
}  // namespace pa
