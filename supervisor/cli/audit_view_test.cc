#include "supervisor/cli/audit_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>

#include "base/json_writer.h"
#include "supervisor/text/columns.h"

namespace pa {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kBegan = 1'800'000'000'000;  // 2027-01-15T08:00:00Z

struct LineOf {
  std::string phase = "end";
  std::string id = "1";
  std::int64_t time = kBegan;
  std::string tool = "make";
  std::string code = {};
  bool refused = false;
  std::string directory = "/srv/p";
  std::string about = "hello";
  std::uint64_t sequence = 1;

  std::string Text() const {
    JsonWriter w;
    w.BeginObject().Field("time", time).Field("duration", std::int64_t{1234});
    if (!code.empty()) w.Field("status_code", code);
    if (refused) w.Field("action_id", 2);
    w.Key("metadata").BeginObject().Field("correlation_uid", id).EndObject();
    w.Key("api").BeginObject().Field("operation", tool).Key("request").BeginObject();
    w.Key("data").BeginObject().Field("command", about).EndObject().EndObject().EndObject();
    w.Key("unmapped").BeginObject().Field("phase", phase).Field("working_dir", directory);
    w.Key("chain").BeginObject().Field("sequence", sequence).EndObject().EndObject().EndObject();
    return std::move(w).Take();
  }
};

class AuditViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  static std::string Rows(AuditView& view, const std::vector<LineOf>& lines) {
    std::string out;
    for (const LineOf& line : lines) out += view.Add({.place = "log:1", .text = line.Text()}).out;
    return out + view.Finish().out;
  }
  static std::string Rows(AuditQuery query, const std::vector<LineOf>& lines,
                          std::size_t width = 0) {
    AuditView view(std::move(query), width);
    return Rows(view, lines);
  }
  static std::vector<std::string> LinesOf(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
};

TEST_F(AuditViewTest, ACallIsARow) {
  EXPECT_EQ(Rows({}, {{.phase = "begin"}, {.about = std::string(300, 'x')}}),
            "2027-01-15 08:00:00  make               ok                     1.2s  /srv/p  " +
                std::string(300, 'x') + "\n")
      << "nothing is cut where there is no terminal";
  EXPECT_NE(Rows({}, {{.code = "COMMAND_FAILED"}}).find("COMMAND_FAILED"), std::string::npos);
  EXPECT_NE(Rows({}, {{.phase = "begin", .directory = ""}}).find("unfinished"), std::string::npos);
}

TEST_F(AuditViewTest, ATerminalHasRowsOfItsWidthAndItsDays) {
  const std::string day = Rows({},
                               {{.directory = "/home/ann/src/long/project"},
                                {.time = kBegan + 90'000,
                                 .tool = "makefile_generate",
                                 .code = "INVALID_DIRECTORY",
                                 .directory = ""},
                                {.time = kBegan + 86'400'000}},
                               80);
  EXPECT_EQ(
      LinesOf(day),
      (std::vector<std::string>{
          "TIME      TOOL          OUTCOME           TOOK  DIRECTORY     ABOUT", "2027-01-15",
          "08:00:00  make          ok                1.2s  \u2026/project     hello",
          "08:01:30  makefile_ge\u2026  INVALID_DIREC\u2026    1.2s  -             hello",
          "2027-01-16", "08:00:00  make          ok                1.2s  /srv/p        hello"}));
  const LineOf wide{.tool = std::string(40, 't'),
                    .code = std::string(40, 'C'),
                    .directory = "/\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587",
                    .about = "\U0001f600" + std::string(5000, 'x')};
  for (std::size_t width = 1; width < 250; ++width) {
    for (const std::string& line : LinesOf(Rows({}, {wide, {}}, width))) {
      EXPECT_LE(ColumnsOf(line), width) << line;
    }
  }
}

TEST_F(AuditViewTest, NoTextOfTheLogDoesMoreThanToBeRead) {
  const LineOf evil{.tool = "m\x1b[2Jake",
                    .code = "\u202eCODE",
                    .directory = "/srv/\u009b1mp",
                    .about = "echo\n\r\x7f\tx"};
  for (const std::size_t width : {0UZ, 80UZ, 200UZ}) {
    for (const bool json : {false, true}) {
      if (json && width == 0) continue;  // as it is
      const std::string shown = Rows({.json = json}, {evil}, width);
      for (const char* raw : {"\x1b", "\u202e", "\u009b", "\x7f", "\t", "\r"}) {
        EXPECT_FALSE(shown.contains(raw)) << width << shown;
      }
      EXPECT_TRUE(shown.contains("202e")) << shown;
    }
  }
  EXPECT_EQ(Rows({.json = true}, {evil}), evil.Text() + "\n");
}

TEST_F(AuditViewTest, ShowsWhatWasAskedFor) {
  const std::vector<LineOf> lines = {
      {.id = "1", .about = "one"},
      {.id = "2", .time = kBegan + 1000, .tool = "bash", .code = "COMMAND_FAILED", .about = "two"},
      {.id = "3",
       .time = kBegan + 2000,
       .tool = "bash",
       .code = "POLICY_DENIED",
       .refused = true,
       .about = "three"},
      {.phase = "begin", .id = "4", .time = kBegan + 3000, .about = "four"}};
  const auto shown = [&](const AuditQuery& query) {
    std::string found;
    for (const std::string& line : LinesOf(Rows(query, lines))) {
      found += (found.empty() ? "" : " ") + line.substr(line.rfind(' ') + 1);
    }
    return found;
  };
  const PointInTime began{milliseconds(kBegan)};
  EXPECT_EQ(shown({}), "one two three four");
  EXPECT_EQ(shown({.since = began + milliseconds(1000)}), "two three four");
  EXPECT_EQ(shown({.until = began + milliseconds(1000)}), "one");
  EXPECT_EQ(shown({.since = began + milliseconds(1), .until = began + milliseconds(1001)}), "two");
  EXPECT_EQ(shown({.tools = {"bash"}}), "two three");
  EXPECT_EQ(shown({.tools = {"bash", "make"}}), "one two three four");
  EXPECT_EQ(shown({.outcomes = {"ok"}}), "one");
  EXPECT_EQ(shown({.outcomes = {"failed"}}), "two three");
  EXPECT_EQ(shown({.outcomes = {"refused"}}), "three");
  EXPECT_EQ(shown({.outcomes = {"COMMAND_FAILED", "ok"}}), "one two");
  EXPECT_EQ(shown({.outcomes = {"unfinished"}}), "four");
  EXPECT_EQ(shown({.tools = {"bash"}, .outcomes = {"ok"}}), "");
}

TEST_F(AuditViewTest, JsonIsTheLines) {
  const LineOf begin{.phase = "begin"};
  const LineOf end{.code = "BUSY"};
  const LineOf other{.phase = "begin", .id = "2"};
  const std::string all = begin.Text() + "\n" + end.Text() + "\n" + other.Text() + "\n";
  EXPECT_EQ(Rows({.json = true}, {begin, end, other}), all);
  EXPECT_EQ(Rows({.outcomes = {"failed"}, .json = true}, {begin, end, other}), end.Text() + "\n");
  EXPECT_EQ(Rows({.outcomes = {"unfinished"}, .json = true}, {begin, end, other}),
            other.Text() + "\n");
}

TEST_F(AuditViewTest, ReportsWhatItCannotShow) {
  AuditView view({}, 0);
  EXPECT_EQ(view.Add({.place = "lo\x1bg:3", .text = "{}"}).err,
            "lo\\u{1b}g:3: no line of the audit log: it lacks unmapped.phase\n");
  EXPECT_NE(view.Add({.place = "log:4", .text = LineOf{}.Text(), .too_long = true}).err, "");
  EXPECT_EQ(view.damaged(), 2u);
  EXPECT_FALSE(view.found());
  EXPECT_EQ(view.Finish().err,
            "2 lines are not shown because of that; `project-actions audit verify` checks the "
            "log\n");
  for (int i = 0; i < 18; ++i) EXPECT_NE(view.Add({.place = "log:5", .text = ""}).err, "");
  EXPECT_EQ(view.Add({.place = "log:6", .text = ""}).err, "") << "no flood";
  EXPECT_TRUE(view.Finish().err.starts_with("and 1 more\n21 lines are not shown"));
}

TEST_F(AuditViewTest, TellsThatAFileIsMissingBetweenTwo) {
  AuditView view({}, 0);
  const auto add = [&](std::uint64_t sequence, bool first) {
    return view
        .Add(
            {.place = "log:1", .text = LineOf{.sequence = sequence}.Text(), .first_of_file = first})
        .err;
  };
  EXPECT_EQ(add(4, true), "log:1: lines 1 to 3 are in another file, or gone\n");
  EXPECT_EQ(add(5, false), "");
  EXPECT_EQ(add(6, true), "");
  EXPECT_EQ(add(9, true), "log:1: lines 7 to 8 are in another file, or gone\n");
  EXPECT_EQ(add(1, true), "") << "a chain that begins anew";
}

// Calls of servers that were killed stay without an end for ever.
TEST_F(AuditViewTest, KeepsNoMoreOfTheUnfinishedThanItCan) {
  AuditView view({}, 0);
  std::string out;
  for (int i = 0; i < 10'001; ++i) {
    out +=
        view.Add({.place = "log:1",
                  .text =
                      LineOf{.phase = "begin", .id = std::to_string(i), .about = std::to_string(i)}
                          .Text()})
            .out;
  }
  EXPECT_EQ(LinesOf(out).size(), 1u);
  EXPECT_TRUE(out.ends_with(" 0\n")) << out;
  EXPECT_EQ(LinesOf(view.Finish().out).size(), 10'000u);
}

}  // namespace
}  // namespace pa
