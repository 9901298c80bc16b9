#include "supervisor/mcp/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/utf8.h"
#include "supervisor/loop/uv_handles.h"
#include "tests/support/fake_transport.h"
#include "tests/support/json.h"
#include "tests/support/run_until.h"

namespace pa {
namespace {

using testing::Json;

// The text after `chunks`, as a person would see it.
std::string Latest(const std::vector<std::string>& chunks) {
  LatestLine line;
  for (const std::string& chunk : chunks) line.Append(chunk);
  return DisplayLine(line.text());
}

TEST(LatestLine, IsTheLastLineCompleteOrNot) {
  EXPECT_EQ(Latest({}), "");
  EXPECT_EQ(Latest({"one\ntwo\n"}), "two");
  EXPECT_EQ(Latest({"one\ntw"}), "tw");
  EXPECT_EQ(Latest({"one\ntw", "o"}), "two");
  EXPECT_EQ(Latest({"one\ntw", "o", "\n"}), "two");
  EXPECT_EQ(Latest({"on", "e\ntwo\nthree\nfo", "ur"}), "four");
}

TEST(LatestLine, PassesOverBlankLines) {
  EXPECT_EQ(Latest({"one\n\n  \n\t\n"}), "one");
  EXPECT_EQ(Latest({"\n\n"}), "");
}

TEST(LatestLine, BeginsAnewAfterACarriageReturn) {
  EXPECT_EQ(Latest({"10%\r20%\r30%"}), "30%");
  EXPECT_EQ(Latest({"10%\r", "20%\r", "30%\r"}), "30%");
  EXPECT_EQ(Latest({"10%", "\r", "2"}), "2");
  EXPECT_EQ(Latest({"one\r\ntwo\r\n"}), "two");
  EXPECT_EQ(Latest({"one\r", "\n"}), "one");
}

TEST(LatestLine, GivesTheSameForEveryChunkSize) {
  const std::string output = "compiling\r\n 1%\r 50%\r\n\x1b[32mdone\x1b[0m\n\nlast \xc3\xa9 line";
  for (std::size_t size = 1; size <= output.size(); ++size) {
    std::vector<std::string> chunks;
    for (std::size_t i = 0; i < output.size(); i += size) chunks.push_back(output.substr(i, size));
    EXPECT_EQ(Latest(chunks), "last é line") << "chunks of " << size;
  }
}

TEST(LatestLine, KeepsLittleOfAnEndlessLine) {
  LatestLine line;
  for (int i = 0; i < 1000; ++i) line.Append(std::string(10'000, 'x'));
  EXPECT_LE(line.text().size(), 4096u);
  line.Append("\nnext");
  EXPECT_EQ(line.text(), "next");
}

TEST(DisplayLine, RemovesEscapeSequences) {
  EXPECT_EQ(DisplayLine("\x1b[1;31mred\x1b[0m plain"), "red plain");
  EXPECT_EQ(DisplayLine("\x1b[38:2::1:2:3mcolour"), "colour");
  EXPECT_EQ(DisplayLine("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(DisplayLine("\x1b]0;title\atext"), "text");
  EXPECT_EQ(DisplayLine("\x1b(Btext\x1b=\x1b"
                        "7more"),
            "textmore");
  EXPECT_EQ(DisplayLine("cut off \x1b[3"), "cut off");
  EXPECT_EQ(DisplayLine("cut off \x1b"), "cut off");
  EXPECT_EQ(DisplayLine("\x1bPq#0;2\x1b\\after"), "after");
}

TEST(DisplayLine, RemovesControlCharacters) {
  EXPECT_EQ(DisplayLine(std::string("a\0b\ac\b\x7f"
                                    "d\te",
                                    10)),
            "abcd e");
  EXPECT_EQ(DisplayLine("a\xc2\x9b"
                        "b\xe2\x80\xa8"
                        "c\xe2\x80\xae"
                        "d"),
            "abcd");
  EXPECT_EQ(DisplayLine("  \x1b[0m  "), "");
}

TEST(DisplayLine, RepairsUtf8) {
  EXPECT_EQ(DisplayLine("caf\xe9!"), "caf\uFFFD!");
  EXPECT_EQ(DisplayLine("\xf0\x9f\x98\x80 \xf0\x9f"), "😀 \uFFFD");
}

TEST(DisplayLine, CutsAtCharactersNotBytes) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "é";
  const std::string shown = DisplayLine(text);
  EXPECT_EQ(shown.size(), 2 * ProgressNotifier::kMaxCharacters);
  EXPECT_TRUE(IsValidUtf8(shown));
  EXPECT_EQ(DisplayLine(std::string(180, 'x')).size(), 180u);
}

// Something that the loop goes on for, as a call has it.
class Keeper {
 public:
  explicit Keeper(uv_loop_t* loop) : timer_(loop) {
    timer_.Start(std::chrono::minutes(1), [] { FAIL() << "no notification in a minute"; });
  }

 private:
  TimerHandle timer_;
};

class ProgressNotifierTest : public ::testing::Test {
 protected:
  ProgressNotifierTest() { uv_loop_init(&loop_); }
  ~ProgressNotifierTest() override {
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  std::vector<std::string> Messages() const {
    std::vector<std::string> messages;
    for (const std::string& line : transport_.sent) {
      messages.push_back(Json::parse(line)["params"]["message"]);
    }
    return messages;
  }

  uv_loop_t loop_;
  FakeTransport transport_;
};

TEST_F(ProgressNotifierTest, SendsTheFirstLineAtOnceAndThenTheLatest) {
  ProgressNotifier progress(&loop_, transport_, "0");
  progress.OnOutput(Stream::kStdout, "one\n");
  EXPECT_EQ(Messages(), std::vector<std::string>{"one"});
  progress.OnOutput(Stream::kStdout, "two\n");
  progress.OnOutput(Stream::kStderr, "three");
  EXPECT_EQ(transport_.sent.size(), 1u);
  uv_run(&loop_, UV_RUN_DEFAULT);  // until no timer runs
  EXPECT_EQ(Messages(), (std::vector<std::string>{"one", "three"}));
  progress.OnOutput(Stream::kStdout, "four\n");
  EXPECT_EQ(transport_.sent.size(), 3u);
}

TEST_F(ProgressNotifierTest, CarriesTheTokenAndOnlyGrows) {
  ProgressNotifier progress(&loop_, transport_, R"("")");
  for (int i = 0; i < 3; ++i) {
    progress.OnOutput(Stream::kStdout, "line\n");
    uv_run(&loop_, UV_RUN_DEFAULT);
  }
  ASSERT_EQ(transport_.sent.size(), 3u);
  std::int64_t last = 0;
  for (const std::string& line : transport_.sent) {
    const Json message = Json::parse(line);
    EXPECT_EQ(message["method"], "notifications/progress");
    EXPECT_EQ(message["params"]["progressToken"], "");
    EXPECT_GT(message["params"]["progress"], last);
    last = message["params"]["progress"];
  }
}

TEST_F(ProgressNotifierTest, SaysNothingOfBlankOutputButGoesOn) {
  ProgressNotifier progress(&loop_, transport_, "1");
  progress.OnOutput(Stream::kStdout, "\n\n");
  progress.OnOutput(Stream::kStdout, "");
  EXPECT_TRUE(transport_.sent.empty());
  progress.OnOutput(Stream::kStdout, "text\n");
  EXPECT_EQ(Messages(), std::vector<std::string>{"text"});
}

// As often as the loop comes by.
TEST_F(ProgressNotifierTest, SaysThatACallGoesOn) {
  std::string waits = "waiting, 3 before it";
  ProgressNotifier progress(
      &loop_, transport_, "1", [&] { return waits; }, std::chrono::milliseconds(1));
  const auto run_until = [&](std::size_t sent) {
    Keeper keeper(&loop_);
    testing::RunUntil(&loop_, [&] { return transport_.sent.size() >= sent; });
  };
  run_until(2);
  waits = "";
  const std::size_t waited = transport_.sent.size();
  run_until(waited + 1);
  progress.OnOutput(Stream::kStdout, "a line\n");
  EXPECT_EQ(Messages().back(), "a line");
  run_until(waited + 3);
  EXPECT_EQ(Messages()[0], "waiting, 3 before it");
  EXPECT_TRUE(Messages()[waited].starts_with("still running, ")) << Messages()[waited];
  EXPECT_TRUE(Messages()[waited].ends_with(" s"));
  std::int64_t last = 0;
  for (const std::string& line : transport_.sent) {
    const Json message = Json::parse(line);
    EXPECT_GT(message["params"]["progress"], last);
    last = message["params"]["progress"];
  }
  progress.Silence();
  const std::size_t sent = transport_.sent.size();
  for (int round = 0; round < 5; ++round) {
    usleep(1000);
    uv_run(&loop_, UV_RUN_NOWAIT);
  }
  EXPECT_EQ(transport_.sent.size(), sent);
}

TEST_F(ProgressNotifierTest, ABeatWaitsForTheClientToRead) {
  ProgressNotifier progress(&loop_, transport_, "1", nullptr, std::chrono::milliseconds(1));
  transport_.gate().Close();
  for (int round = 0; round < 5; ++round) {
    usleep(2000);
    uv_run(&loop_, UV_RUN_NOWAIT);
  }
  EXPECT_TRUE(transport_.sent.empty());
  transport_.gate().Open();
  Keeper keeper(&loop_);
  testing::RunUntil(&loop_, [&] { return !transport_.sent.empty(); });
}

TEST_F(ProgressNotifierTest, IsSilentWhenSilenced) {
  ProgressNotifier progress(&loop_, transport_, "1");
  progress.OnOutput(Stream::kStdout, "one\n");
  progress.OnOutput(Stream::kStdout, "two\n");
  progress.Silence();
  progress.OnOutput(Stream::kStdout, "three\n");
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(Messages(), std::vector<std::string>{"one"});
}

TEST_F(ProgressNotifierTest, SendsNothingAfterItsEnd) {
  auto progress = std::make_unique<ProgressNotifier>(&loop_, transport_, "1");
  progress->OnOutput(Stream::kStdout, "one\n");
  progress->OnOutput(Stream::kStdout, "two\n");
  progress.reset();
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(Messages(), std::vector<std::string>{"one"});
}

TEST_F(ProgressNotifierTest, HoldsTheLatestLineWhileTheClientDoesNotRead) {
  ProgressNotifier progress(&loop_, transport_, "1");
  EXPECT_EQ(progress.gate(), &transport_.gate());
  transport_.gate().Close();
  progress.OnOutput(Stream::kStdout, "one\n");
  progress.OnOutput(Stream::kStdout, "two\n");
  uv_run(&loop_, UV_RUN_ONCE);
  EXPECT_TRUE(transport_.sent.empty());
  transport_.gate().Open();
  uv_run(&loop_, UV_RUN_DEFAULT);
  EXPECT_EQ(Messages(), std::vector<std::string>{"two"});
}

}  // namespace
}  // namespace pa
