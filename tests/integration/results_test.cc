// The argument `result`: filter, limit, fields and return mode of real calls, and what is kept.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "tests/support/project.h"
#include "tests/support/run_program.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kResultsMakefile =
    R"(.PHONY: fail count json
fail: ## a long test
	@for i in $$(seq 20000); do echo "ok $$i"; \
	  [ $$i = 9000 ] && printf '\033[31mFAIL\033[0m test_%s\n' $$i; done; \
	echo 'error: one test failed' >&2; touch ran; exit 3
count:
	@seq 100000
json:
	@cat rows.jsonl
)";

class Results : public ::testing::Test {
 protected:
  Project project_{kResultsMakefile};
  McpClient client_{project_.Server()};

  void SetUp() override { client_.Initialize(); }

  Json Whole(const char* tool, Json arguments) {
    return client_.Await(client_.StartTool(tool, std::move(arguments)))["result"];
  }
  Json Call(const char* tool, Json arguments) {
    return Whole(tool, std::move(arguments))["structuredContent"];
  }
  Json Make(const char* target, Json result) {
    return Call("make", {{"target", target}, {"result", std::move(result)}});
  }
  Json Bash(const std::string& command, Json result) {
    return Call("bash", {{"command", command}, {"result", std::move(result)}});
  }
  ProgramResult Jq(const std::string& program) {
    return RunProgram(
        {.command = {"/usr/bin/jq", "-c", program, "rows.jsonl"}, .directory = project_.root()});
  }
  void Write(const char* name, std::string_view text) { WriteText(project_.root() / name, text); }
};

// The line is far from both ends of what is shown, and the rest of the result stays.
TEST_F(Results, AFailedBuildIsFilteredWhole) {
  const Json result =
      Whole("make", {{"target", "fail"}, {"result", {{"filter", ". CONTAINS FAIL"}}}});
  const Json& structured = result["structuredContent"];
  EXPECT_EQ(structured["data"]["stdout"], "FAIL test_9000");
  EXPECT_EQ(structured["data"]["stderr"].get<std::string>().substr(0, 23),
            "error: one test failed\n");
  EXPECT_EQ(structured["error"]["code"], "COMMAND_FAILED");
  EXPECT_EQ(structured["data"]["exit_code"], 2);
  EXPECT_EQ(structured["data"]["outcome"], "exited");
  EXPECT_FALSE(structured["data"].contains("stdout_omitted_bytes")) << structured["data"];
  EXPECT_EQ(structured["meta"]["items"],
            (Json{{"path", "stdout"}, {"total", 20001}, {"matched", 1}, {"returned", 1}}));
  EXPECT_EQ(structured["meta"]["transformations"], Json::array({"filter: 20001 -> 1"}));
  EXPECT_FALSE(structured["meta"].contains("truncated")) << structured["meta"];
  const std::string text = result["content"][0]["text"];
  EXPECT_TRUE(text.starts_with("make fail: exit code 2 in ")) << text;
  EXPECT_TRUE(
      text.contains("\nfilter: 20001 -> 1\nFAIL test_9000\n--- stderr ---\nerror: one test"))
      << text;
  EXPECT_TRUE(text.contains("\nCOMMAND_FAILED: ")) << text;
  EXPECT_FALSE(text.contains("ok 1\n")) << text.substr(0, 200);
}

TEST_F(Results, WhatIsWrongIsSaidBeforeAnythingRuns) {
  for (const Json& bad :
       {Json{{"filter", "= x"}}, Json{{"fitler", ". = x"}}, Json{{"items", "targets"}},
        Json{{"filter", "name = x"}}, Json{{"fields", {"a"}}}, Json{{"return_mode", "all"}},
        Json{{"items", "stdout.x"}}, Json{{"items", "[0]"}}, Json("text"), Json(3)}) {
    const Json result = Make("fail", bad);
    EXPECT_EQ(result["error"]["code"], "INVALID_ARGUMENT") << bad << result;
    EXPECT_TRUE(result["error"]["message"].get<std::string>().contains("'result")) << result;
  }
  const Json beside = Call("make", {{"target", "fail"}, {"filter", ". CONTAINS x"}});
  EXPECT_TRUE(beside["error"]["message"].get<std::string>().contains("it is a member of 'result'"))
      << beside;
  EXPECT_FALSE(fs::exists(project_.root() / "ran"));
  EXPECT_EQ(Make("fail", nullptr)["data"]["exit_code"], 2) << "null counts as absent";
  EXPECT_TRUE(fs::exists(project_.root() / "ran"));
}

TEST_F(Results, ADryRunIsOnlyChecked) {
  Json call = {{"target", "fail"}, {"dry_run", true}};
  const Json plain = Call("make", call);
  ASSERT_TRUE(plain["data"].contains("confinement")) << plain;
  for (const char* mode : {"inline", "summary", "file"}) {
    call["result"] = {{"limit", 1}, {"return_mode", mode}};
    const Json result = Call("make", call);
    EXPECT_TRUE(result["success"]) << result;
    EXPECT_EQ(result["data"], plain["data"]) << mode;
    EXPECT_FALSE(result["meta"].contains("items")) << result;
    EXPECT_EQ(result["meta"].value("warnings", Json()), plain["meta"].value("warnings", Json()))
        << mode;
  }
  call["result"] = {{"filter", "?"}};
  EXPECT_EQ(Call("make", call)["error"]["code"], "INVALID_ARGUMENT");
}

// The lists of every tool that has some.
TEST_F(Results, EachToolsLists) {
  project_.InitGit();
  for (const char* name : {"a1", "a2", "b1"}) Write(name, "one\ntwo TODO\nthree\n");
  const auto call = [&](const char* tool, Json arguments, Json result) {
    arguments["result"] = std::move(result);
    return Call(tool, std::move(arguments));
  };
  Json result = call("glob", {{"pattern", "a*"}}, {{"filter", ". CONTAINS 2"}});
  EXPECT_EQ(result["data"]["files"], Json::array({"a2"})) << result;
  EXPECT_EQ(result["data"]["total"], 2);
  result = call("grep", {{"pattern", "TODO"}, {"mode", "content"}},
                {{"filter", "path STARTS_WITH a"}, {"fields", {"path"}}, {"limit", 1}});
  EXPECT_EQ(result["data"]["matches"], Json::parse(R"([{"path":"a1"}])")) << result;
  EXPECT_EQ(result["meta"]["transformations"],
            (Json{"filter: 3 -> 2", "limit: 2 -> 1", "fields: path"}));
  result = call("grep", {{"pattern", "TODO"}}, {{"return_mode", "summary"}});
  EXPECT_EQ(result["data"]["summary"],
            Json::parse(R"({"count":3,"sample":["a1","a2","b1"],"truncated":false})"));
  EXPECT_FALSE(result["data"].contains("files"));
  EXPECT_EQ(result["data"]["total_files"], 3);
  result = call("read", {{"path", "a1"}}, {{"filter", ". CONTAINS t"}});
  EXPECT_EQ(result["data"]["content"], "two TODO\nthree") << "lines as they are, without numbers";
  EXPECT_EQ(result["data"]["total_lines"], 3);
  result = call("make_targets", Json::object(), {{"filter", "name = fail"}});
  EXPECT_EQ(result["data"]["targets"],
            Json::parse(R"([{"name":"fail","description":"a long test"}])"));
  EXPECT_EQ(call("make_targets", Json::object(), {{"items", "refused"}})["data"]["targets"].size(),
            3u);
  result = call("git_add", {{"paths", {"a1", "a2", "b1"}}}, {{"fields", {"path"}}, {"limit", 2}});
  EXPECT_EQ(result["data"]["staged"], Json::parse(R"([{"path":"a1"},{"path":"a2"}])")) << result;
  result = call("git_commit", {{"message", "m"}}, {{"filter", "path = b1"}});
  EXPECT_EQ(result["data"]["files"], Json::parse(R"([{"path":"b1","change":"added"}])"));
  EXPECT_EQ(result["data"]["hash"].get<std::string>().size(), 40u);
  result = call("git_commit", {{"message", "none"}}, {{"filter", "path = b1"}});
  EXPECT_EQ(result["error"]["code"], "COMMAND_FAILED");
  EXPECT_TRUE(
      result["meta"]["warnings"][0].get<std::string>().starts_with("`result` was not applied: "))
      << result;
  EXPECT_NE(result["data"]["stdout"], "");
  const Json edits = {{{"path", "a1"}, {"old", "one"}, {"new", "1"}},
                      {{"path", "a2"}, {"old", "one"}, {"new", "1"}}};
  result = call("edit", {{"edits", edits}}, {{"filter", "path = a2"}, {"fields", {"path"}}});
  EXPECT_EQ(result["data"]["files"], Json::parse(R"([{"path":"a2"}])"));
  EXPECT_TRUE(result["data"]["diff"].get<std::string>().contains("a/a1"));
  result = call("project_actions", {{"operation", "count"}}, {{"filter", ". = 77777"}});
  EXPECT_EQ(result["data"]["stdout"], "77777");
}

TEST_F(Results, ToolsWithoutAList) {
  const Json refused =
      Call("write", {{"path", "n"}, {"content", "x"}, {"result", {{"filter", ". = x"}}}});
  EXPECT_EQ(refused["error"]["code"], "INVALID_ARGUMENT");
  EXPECT_FALSE(fs::exists(project_.root() / "n"));
  const Json result =
      Call("write", {{"path", "n"}, {"content", "x"}, {"result", {{"return_mode", "summary"}}}});
  EXPECT_EQ(result["data"]["summary"]["count"], 1) << result;
  EXPECT_EQ(result["data"]["summary"]["sample"][0]["path"], "n");
  EXPECT_TRUE(fs::exists(project_.root() / "n"));
}

// As many rows as the page of the tool would not have shown.
TEST_F(Results, AFilterSeesMoreThanAPage) {
  std::string text;
  for (int i = 1; i <= 30'000; ++i) text += "line " + std::to_string(i) + " of many\n";
  Write("long.txt", text);
  const Json grep = Call("grep", {{"pattern", "many"},
                                  {"mode", "content"},
                                  {"result", {{"filter", "line = 29999"}, {"fields", {"text"}}}}});
  EXPECT_EQ(grep["data"]["matches"], Json::parse(R"([{"text":"line 29999 of many"}])")) << grep;
  const Json read =
      Call("read", {{"path", "long.txt"}, {"result", {{"filter", ". CONTAINS 29999"}}}});
  EXPECT_EQ(read["data"]["content"], "line 29999 of many");
  const Json part = Call(
      "read", {{"path", "long.txt"}, {"limit", 5}, {"result", {{"filter", ". CONTAINS 29999"}}}});
  EXPECT_EQ(part["data"]["content"], "");
  EXPECT_TRUE(part["meta"]["truncated"]) << part["meta"];
  EXPECT_TRUE(part["meta"]["warnings"].dump().contains("the filter has looked at 5 rows"))
      << part["meta"];
  const Json page = Call("grep", {{"pattern", "many"},
                                  {"mode", "content"},
                                  {"limit", 5},
                                  {"result", {{"filter", "line = 29999"}}}});
  EXPECT_EQ(page["data"]["matches"], Json::array());
  EXPECT_TRUE(
      page["meta"]["warnings"].dump().contains("the filter has looked at 5 rows, and there "
                                               "are more"))
      << page["meta"];
}

TEST_F(Results, StdoutAsJson) {
  Json result = Bash(R"(echo '{"n": 2, "items": [{"a": 1}, {"a": {"b": [5, 6]}}]}')",
                     {{"items", "json.items"}, {"fields", {"a.b[1]"}}});
  EXPECT_EQ(result["data"]["json"], Json::parse(R"([{},{"a":{"b":[6]}}])")) << result;
  EXPECT_FALSE(result["data"].contains("stdout")) << "the same twice";
  EXPECT_EQ(result["meta"]["items"]["path"], "json.items");
  result = Bash("for i in 1 2 3; do echo \"{\\\"i\\\": $i}\"; done; echo oops >&2; false",
                {{"items", "json"}, {"filter", "i >= 2"}});
  EXPECT_EQ(result["data"]["json"], Json::parse(R"([{"i":2},{"i":3}])"));
  EXPECT_EQ(result["data"]["exit_code"], 1);
  EXPECT_EQ(result["data"]["stderr"], "oops\n");
  result = Whole("bash", {{"command", R"(echo '["\u001b[31mred\u001b[0m", "a"]')"},
                          {"result", {{"items", "json"}}}});
  EXPECT_TRUE(result["content"][0]["text"].get<std::string>().contains("\nred\na\n")) << result;
  result = Bash("echo building; echo done", {{"items", "json"}});
  EXPECT_TRUE(result["success"]) << "what ran is not made to fail";
  EXPECT_EQ(result["data"]["stdout"], "building\ndone\n");
  EXPECT_TRUE(result["meta"]["warnings"][0].get<std::string>().starts_with(
      "`result` was not applied: json is neither one JSON document"))
      << result;
}

// All that a result has left out can be read and searched.
TEST_F(Results, RowsThatDoNotFitAreKept) {
  client_.notifications().clear();
  const Json result = Make("count", {{"filter", ". CONTAINS 7"}});
  EXPECT_TRUE(result["meta"]["truncated"]) << result["meta"];
  const std::string shown = result["data"]["stdout"];
  EXPECT_TRUE(shown.starts_with("7\n17\n27\n")) << shown.substr(0, 20);
  EXPECT_LE(shown.size(), 24U << 10);
  const std::string uri = result["meta"]["result_uri"];
  const std::uint64_t matched = result["meta"]["items"]["matched"];
  EXPECT_EQ(matched, 40951u);
  const Json read = Call("read", {{"path", uri}, {"offset", -2}});
  EXPECT_EQ(read["data"]["content"], " 40950\t99987\n 40951\t99997\n") << read;
  EXPECT_EQ(read["data"]["total_lines"], matched);
  const Json grep = Call("grep", {{"pattern", "^9997.$"}, {"path", uri}, {"mode", "content"}});
  EXPECT_EQ(grep["data"]["total_matches"], 10) << grep;
  EXPECT_EQ(grep["data"]["matches"][0], (Json{{"line", 40940}, {"text", "99970"}})) << grep;
  EXPECT_EQ(Call("grep", {{"pattern", "x"}, {"path", uri}})["data"]["files"], Json::array());
  EXPECT_EQ(Call("grep", {{"pattern", "99"}, {"path", uri}})["data"]["files"], Json::array({uri}));
  const Json lines = client_.Request("resources/read", {{"uri", uri + "?lines=-2"}})["result"];
  EXPECT_EQ(lines["contents"][0]["text"], "99987\n99997\n");
  const Json listed = client_.Request("resources/list")["result"]["resources"];
  EXPECT_TRUE(std::ranges::any_of(listed, [&](const Json& one) { return one["uri"] == uri; }));
  EXPECT_TRUE(std::ranges::any_of(client_.notifications(), [](const Json& one) {
    return one["method"] == "notifications/resources/list_changed";
  }));
  const Json gone = Call("read", {{"path", uri.substr(0, uri.size() - 4) + "0000"}});
  EXPECT_EQ(gone["error"]["code"], "NOT_FOUND") << gone;
  EXPECT_EQ(Call("grep", {{"pattern", "x"}, {"path", uri}, {"glob", "*.c"}})["error"]["code"],
            "INVALID_ARGUMENT");
}

// No rule about paths is meant, but one about the tool.
TEST_F(Results, ARuleCanRefuseToReadWhatWasKept) {
  const fs::path policy = project_.home() / "policy.yaml";
  WriteText(policy,
            "version: 1\npermissions:\n"
            "  - {tool: read, path: \"secrets/**\", decision: deny, reason: no}\n"
            "  - {tool: grep, decision: deny, reason: no}\n");
  McpClient client(project_.Server({"--policy", policy.string()}));
  client.Initialize();
  const Json made = client.CallTool("bash", {{"command", "seq 50000"}});
  const std::string uri = made["meta"]["result_uri"];
  EXPECT_EQ(client.CallTool("read", {{"path", uri}, {"limit", 1}})["data"]["content"],
            "     1\t1\n");
  EXPECT_EQ(client.CallTool("grep", {{"path", uri}, {"pattern", "1"}})["error"]["code"],
            "POLICY_DENIED");
  WriteText(policy, "version: 1\npermissions: [{tool: read, decision: deny, reason: no}]\n");
  McpClient other(project_.Server({"--policy", policy.string()}));
  other.Initialize();
  const Json again = other.CallTool("bash", {{"command", "seq 50000"}});
  EXPECT_EQ(other.CallTool("read", {{"path", again["meta"]["result_uri"]}})["error"]["code"],
            "POLICY_DENIED");
}

TEST_F(Results, AFileOfRows) {
  std::string rows;
  for (int i = 0; i < 5000; ++i) {
    rows +=
        R"({"id":)" + std::to_string(i) + R"(,"even":)" + (i % 2 == 0 ? "true" : "false") + "}\n";
  }
  Write("rows.jsonl", rows);
  const Json result = Make(
      "json",
      {{"items", "json"}, {"filter", "even = true"}, {"fields", {"id"}}, {"return_mode", "file"}});
  const Json& file = result["data"]["file"];
  EXPECT_FALSE(result["data"].contains("stdout"));
  EXPECT_EQ(file["count"], 2500);
  EXPECT_EQ(file["format"], "json");
  const std::string path = file["path"];
  const Json content = Json::parse(ReadText(path));
  EXPECT_EQ(content.size(), 2500u);
  EXPECT_EQ(content[2499], Json::parse(R"({"id":4998})"));
  EXPECT_EQ(file["size"], ReadText(path).size());
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const Json by_path = Call("grep", {{"pattern", "4998"}, {"path", path}, {"mode", "content"}});
  EXPECT_EQ(by_path["data"]["matches"][0]["text"], R"({"id":4998})") << by_path;
  EXPECT_EQ(Call("read", {{"path", file["uri"]}, {"offset", 2}, {"limit", 1}})["data"]["content"],
            "     2\t{\"id\":0},\n");
  const std::string beside = fs::path(path).parent_path() / "other";
  EXPECT_EQ(Call("read", {{"path", beside}})["error"]["code"], "INVALID_PATH");
  // It outlives the server, and another one of the user reads it.
  client_.CloseInput();
  EXPECT_EQ(client_.WaitForExit(), 0);
  ASSERT_TRUE(fs::exists(path));
  McpClient second(project_.Server());
  second.Initialize();
  EXPECT_EQ(second.CallTool("read", {{"path", path}, {"limit", 1}})["data"]["content"],
            "     1\t[\n");
  EXPECT_EQ(second.CallTool("read", {{"path", file["uri"]}})["error"]["code"], "NOT_FOUND");
  fs::remove(path);
}

// Commands must not reach what was kept for the host.
TEST_F(Results, CommandsDoNotSeeTheFiles) {
  const Json result = Make("count", {{"return_mode", "file"}});
  const std::string path = result["data"]["file"]["path"];
  EXPECT_NE(Call("bash", {{"command", "cat " + path}})["data"]["exit_code"], 0);
  EXPECT_EQ(Call("bash", {{"command", "cat Makefile"}})["data"]["exit_code"], 0);
  fs::remove(path);
}

TEST_F(Results, CallPrintsWhatIsLeft) {
  const ProgramResult printed =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "call", "make",
                              R"({"target":"fail","result":{"filter":". CONTAINS FAIL"}})",
                              "--enable", "make"},
                  .environment = {"HOME=" + project_.home().string()},
                  .directory = project_.root()});
  const std::string all = printed.output + printed.errors;
  EXPECT_EQ(printed.exit_code, 2) << all;
  EXPECT_TRUE(all.contains("FAIL test_9000")) << all;
  EXPECT_FALSE(all.contains("ok 1\n")) << all.substr(0, 500);
}

// ---- against jq ----

struct Comparison {
  const char* filter;
  const char* jq;
};

// Integers above 2^53 and strings that look like numbers apart, where both mean something else.
constexpr Comparison kComparisons[] = {
    {"n > 50", R"((.n|type)=="number" and .n>50)"},
    {"n <= -3.5", R"((.n|type)=="number" and .n<=-3.5)"},
    {"n = 7", ".n==7"},
    {"n != 7", ".n!=null and .n!=7"},
    {"s = \"b c\"", R"(.s=="b c")"},
    {"s != a", R"(.s!=null and .s!="a")"},
    {"s >= \"b\"", R"((.s|type)=="string" and .s>="b")"},
    {"s CONTAINS \"\\u00fc\"", R"((.s|type)=="string" and (.s|contains("ü")))"},
    {"s STARTS_WITH \"a\"", R"((.s|type)=="string" and (.s|startswith("a")))"},
    {"s IS_NULL", ".s==null"},
    {"o.k IS_NOT_NULL", ".o.k?!=null"},
    {"o.k = true", ".o.k?==true"},
    {"l CONTAINS x", R"((.l|type)=="array" and any(.l[];.=="x"))"},
    {"l[*] = y", R"((.l|type)=="array" and any(.l[];.=="y"))"},
    {"l[1] = x", R"((.l|type)=="array" and .l[1]=="x")"},
    {"d[*].v > 2", R"(any(.d[]?;(.v|type)=="number" and .v>2))"},
};

std::string RandomRow(std::mt19937& random, int id) {
  const auto pick = [&](std::initializer_list<const char*> all) {
    return *(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
  };
  std::string row = R"({"id":)" + std::to_string(id);
  const auto add = [&](const char* name, const char* value) {
    if (*value != '\0') row += std::string(",\"") + name + "\":" + value;
  };
  add("n", pick({"", "null", "7", "7.0", "50", "50.5", "-4", "1e3", "0", "true", "[]"}));
  add("s",
      pick({"", "null", "\"a\"", "\"b c\"", "\"aü\"", "\"B\"", "\"\"", "\"a\\\"q\\\\\"", "{}"}));
  add("o", pick({"", "null", "{}", R"({"k":true})", R"({"k":null})", R"({"k":"x"})"}));
  add("l", pick({"", "null", "[]", R"(["x"])", R"(["y","x"])", R"([["x"]])"}));
  add("d", pick({"", "[]", R"([{"v":1},{"v":3}])", R"([{"v":"x"},{}])", R"([{"v":2}])"}));
  return row + "}\n";
}

TEST_F(Results, FiltersAgreeWithJq) {
  if (access("/usr/bin/jq", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/jq to compare with";
  std::mt19937 random(20261127);
  std::string rows;
  for (int i = 0; i < 3000; ++i) rows += RandomRow(random, i);
  Write("rows.jsonl", rows);
  for (const Comparison& one : kComparisons) {
    const Json ours = Make(
        "json",
        {{"items", "json"}, {"filter", one.filter}, {"fields", {"id"}}, {"return_mode", "file"}});
    ASSERT_TRUE(ours["data"].contains("file")) << one.filter << ours;
    const std::string path = ours["data"]["file"]["path"];
    const ProgramResult jq = Jq(std::string("select(") + one.jq + ")|{id}");
    ASSERT_EQ(jq.exit_code, 0) << jq.errors;
    std::string theirs = jq.output;
    if (!theirs.empty()) theirs.pop_back();
    std::ranges::replace(theirs, '\n', ',');
    EXPECT_EQ(Json::parse(ReadText(path)), Json::parse("[" + theirs + "]")) << one.filter;
    EXPECT_GT(ours["data"]["file"]["count"], 20) << one.filter << ": it decides nothing";
    EXPECT_LT(ours["data"]["file"]["count"], 2980) << one.filter;
    fs::remove(path);
  }
}

// A row that lacks a field stays as {}, where jq would give null; so all rows have all fields here.
TEST_F(Results, FieldsAgreeWithJq) {
  if (access("/usr/bin/jq", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/jq to compare with";
  Write("rows.jsonl",
        R"({"a":{"b":1.50,"c":[1,{"d":"x","e":2},"\u00fc\n"]},"f.g":true,"h":null,"i":-0.0})"
        "\n");
  const Json ours =
      Make("json", {{"items", "json"}, {"fields", {"a.b", "a.c[1].d", "[\"f.g\"]", "h"}}});
  const ProgramResult jq = Jq(R"({a:{b:.a.b,c:[{d:.a.c[1].d}]},"f.g":.["f.g"],h})");
  EXPECT_FALSE(ours["data"].contains("json")) << "one line is one document, and an object no list";
  Write("rows.jsonl", ReadText(project_.root() / "rows.jsonl") + "{}\n");
  const Json rows =
      Make("json", {{"items", "json"}, {"fields", {"a.b", "a.c[1].d", "[\"f.g\"]", "h"}}});
  EXPECT_EQ(rows["data"]["json"][0], Json::parse(jq.output)) << jq.output;
  EXPECT_EQ(rows["data"]["json"][1], Json::object());
}

}  // namespace
}  // namespace pa::testing
