// Plays the conversations beside this file and compares every message that the server sends.
//
//   > {...}      the client sends this line
//   < {...}      the server must send this line
//   ! VERB ARG   something else happens; see Play::Do
//   = ended      the session has nothing more to do
//   # ...        a comment; as empty lines, kept
//
// Durations read 0, stored results RESULT, and the state of a request that asks for input STATE.
// PROJECT_ACTIONS_RECORD=1 writes the files again from what the server said: read the difference
// before committing it. tests/conversations/validate.mjs checks the same files against the official
// schemas.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/json.h"
#include "supervisor/transport/outline_scanner.h"
#include "tests/support/fake_world.h"

namespace pa {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The first line that differs, as a compiler would name it; "" when there is none.
std::string FirstDifference(const std::string& name, const std::string& played,
                            const std::string& recorded) {
  std::istringstream got_lines(played);
  std::istringstream want_lines(recorded);
  std::string got;
  std::string want;
  for (int number = 1;; ++number) {
    const bool more_got = static_cast<bool>(std::getline(got_lines, got));
    const bool more_want = static_cast<bool>(std::getline(want_lines, want));
    if (!more_got && !more_want) return {};
    if (more_got && more_want && got == want) continue;
    return name + ":" + std::to_string(number) +
           "\n  recorded: " + (more_want ? want : "(the end)") +
           "\n  played:   " + (more_got ? got : "(the end)");
  }
}

// One conversation: the lines of the file go in, the file as it should be comes out.
class Play {
 public:
  Play() {
    world_.session().WhenEnded([this] { world_.transport.sent.emplace_back("= ended"); });
  }

  std::string Run(const std::string& script) {
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("< ") || line.starts_with("= ")) continue;
      transcript_ += line + "\n";
      if (line.starts_with("> "))
        world_.session().OnLine(
            Replaced(Replaced(line.substr(2), "RESULT", result_), "STATE", state_));
      if (line.starts_with("! ")) Do(line.substr(2));
      Collect();
    }
    return transcript_;
  }

 private:
  void Do(const std::string& order) {
    const std::string verb = order.substr(0, order.find(' '));
    const std::string rest = verb.size() < order.size() ? order.substr(verb.size() + 1) : "";
    if (verb == "print") return world_.Print(Text(rest));
    if (verb == "finish") return rest == "last" ? world_.FinishLast() : world_.Finish();
    if (verb == "wait") return world_.Wait();
    if (verb == "enable") {
      world_.Enable({rest});
      return world_.session().ListChanged(ListKind::kTools);
    }
    if (verb == "reload") {
      const policy::PolicyPtr before = world_.services().policy();
      world_.Enable({rest});
      return world_.session().PolicyChanged(*before);
    }
    if (verb == "store") return Stored(world_.Store(Text(rest)));
    if (verb == "grow") return world_.state().open.ResourceUpdated(kResultUriPrefix + result_);
    if (verb == "bytes") return world_.session().OnLine(Bytes(rest));
    if (verb == "too-long") return TooLong(rest);
    if (verb == "close") return world_.session().OnClosed();
    FAIL() << "unknown order: " << order;
  }

  static std::string Text(const std::string& json) {
    const Result<JsonValue> value = ParseJson(json);
    EXPECT_TRUE(value && value->IsString()) << json;
    return value ? value->AsString() : "";
  }

  static std::string Bytes(const std::string& hex) {
    std::istringstream words(hex);
    std::string bytes;
    for (unsigned byte = 0; words >> std::hex >> byte;) bytes += static_cast<char>(byte);
    return bytes;
  }

  // A limit, and the line that is longer: as LineReader hands it on.
  void TooLong(const std::string& order) {
    std::size_t digits = 0;
    const std::size_t limit = std::stoul(order, &digits);
    OutlineScanner scanner(limit);
    scanner.Feed(order.substr(digits));
    world_.session().OnLineTooLong(limit, scanner.Take());
  }

  void Stored(const std::string& uri) {
    result_ = uri.substr(std::string_view(kResultUriPrefix).size());
  }

  void Collect() {
    static const std::regex kDuration(R"("duration_ms":[0-9]+)");
    static const std::regex kTook(R"(, [0-9]+ ms")");
    static const std::regex kResult(R"(project-actions://results/([0-9a-f]+))");
    static const std::regex kState(R"~("requestState":"([0-9a-f]+)")~");
    for (std::string& line : world_.transport.sent) {
      if (std::smatch match; std::regex_search(line, match, kState)) state_ = match[1];
      line = std::regex_replace(line, kState, R"("requestState":"STATE")");
      if (std::smatch match; std::regex_search(line, match, kResult)) result_ = match[1];
      line = std::regex_replace(line, kDuration, "\"duration_ms\":0");
      line = std::regex_replace(line, kTook, ", 0 ms\"");
      line = std::regex_replace(line, kResult, "project-actions://results/RESULT");
      transcript_ += (line.starts_with("= ") ? "" : "< ") + line + "\n";
    }
    world_.transport.sent.clear();
  }

  FakeWorld world_;
  std::string transcript_;
  std::string state_;   // of the request that asked for input last
  std::string result_;  // the id of the result that was stored or seen last
};

class Conversation : public ::testing::TestWithParam<std::string> {};

TEST_P(Conversation, IsAsRecorded) {
  const std::filesystem::path path = std::filesystem::path(CONVERSATIONS) / (GetParam() + ".jsonl");
  const std::string recorded = ReadText(path);
  ASSERT_NE(recorded.find("\n> "), std::string::npos) << path << " holds no conversation";
  const std::string played = Play().Run(recorded);
  if (getenv("PROJECT_ACTIONS_RECORD") != nullptr) {
    std::ofstream(path, std::ios::binary) << played;
  } else {
    EXPECT_EQ(FirstDifference(path.filename(), played, recorded), "");
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(CONVERSATIONS)) {
    if (entry.path().extension() == ".jsonl") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Conversation, ::testing::ValuesIn(Names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace_if(
      name, [](char c) { return isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace pa
