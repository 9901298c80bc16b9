#include "policy/fragment.h"

#include <gtest/gtest.h>

namespace pa::policy {
namespace {

const std::vector<std::string> kTools = {"make_targets", "make", "git_add",        "git_commit",
                                         "read",         "bash", "project_actions"};

PolicyFragment Accepted(const std::string& text) {
  std::vector<Diagnostic> diagnostics;
  std::optional<PolicyFragment> fragment = ParsePolicyText(text, "p.yaml", kTools, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics) ADD_FAILURE() << diagnostic.Format();
  return fragment ? std::move(*fragment) : PolicyFragment{};
}

// What is wrong with `text` after the line `version: 1`; one line each.
std::string Refused(const std::string& text) {
  std::vector<Diagnostic> diagnostics;
  EXPECT_FALSE(ParsePolicyText("version: 1\n" + text, "p.yaml", kTools, diagnostics).has_value());
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) {
    lines += (lines.empty() ? "" : "\n") + diagnostic.Format();
  }
  return lines;
}

TEST(Fragment, EveryKeyThatIsBuilt) {
  const PolicyFragment f = Accepted(R"(version: 1
roots: [~/src, "${X}"]
tools: {enable: [make, all]}
permissions:
  - {tool: make, target: "deploy*", decision: deny, reason: production}
  - {tool: "*", decision: allow}
filesystem: {read: [/data], write: [], protect: [ci], toolchains: none}
network: full
environment: {pass: [CI], set: {DEBUG: yes, EMPTY: ""}}
limits: {wall_time: 90s, memory: 1GiB, queue: 0}
git: {identity: none, hooks: skip, signing: off}
pipeline: {tools: [make, git_add]}
)");
  EXPECT_EQ(f.roots->value.at(1).value, "${X}");
  EXPECT_EQ(f.roots->value.at(1).at, (SourceLocation{"p.yaml", 2, 16}));
  EXPECT_EQ(f.tools_enable->value.size(), 2u);
  ASSERT_EQ(f.permissions->value.size(), 2u);
  EXPECT_EQ(f.permissions->value[0].verdict, Verdict::kDeny);
  EXPECT_EQ(f.permissions->value[0].target, "deploy*");
  EXPECT_EQ(f.permissions->value[0].at, (SourceLocation{"p.yaml", 5, 5}));
  EXPECT_EQ(f.permissions->value[1].verdict, Verdict::kAllow);
  EXPECT_TRUE(f.filesystem_write->value.empty());
  EXPECT_EQ(f.filesystem_toolchains->value, "none");
  EXPECT_EQ(f.network->value, "full");
  EXPECT_EQ(f.environment_set->value.at(0).value, "yes");
  EXPECT_EQ(f.limits.at("limits.wall_time").value, 90'000u);
  EXPECT_EQ(f.limits.at("limits.queue").value, 0u);
  EXPECT_EQ(f.git_hooks->value, "skip");
  EXPECT_EQ(f.pipeline_tools->value.at(1).value, "git_add");
  EXPECT_EQ(f.pipeline_tools->value.at(1).at, (SourceLocation{"p.yaml", 12, 26}));
}

TEST(Fragment, TheVersionComesFirstOfAll) {
  std::vector<Diagnostic> diagnostics;
  for (const char* text : {"", "# nothing", "roots: []", "version: 2", "version: \"1\"",
                           "version: [1]", "version:", "- version: 1", "1"}) {
    EXPECT_FALSE(ParsePolicyText(text, "p.yaml", kTools, diagnostics).has_value()) << text;
  }
  EXPECT_EQ(diagnostics.at(0).Format(),
            "p.yaml:1:1: a policy begins with `version: 1`; it is missing here");
  EXPECT_EQ(diagnostics.at(3).Format(), "p.yaml:1:10: 'version' must be the number 1, found '2'");
}

TEST(Fragment, UnknownKeys) {
  EXPECT_EQ(Refused("limts: {}"), "p.yaml:2:1: unknown key 'limts' - did you mean 'limits'?");
  EXPECT_EQ(Refused("limits:\n  wall_tim: 3m"),
            "p.yaml:3:3: unknown key 'limits.wall_tim' - did you mean 'wall_time'?");
  EXPECT_EQ(Refused("memory: 1GiB"),
            "p.yaml:2:1: unknown key 'memory' - did you mean 'limits.memory'?");
  EXPECT_EQ(Refused("limits.memory: 1GiB"),
            "p.yaml:2:1: unknown key 'limits.memory' - write 'limits: {memory: ...}'");
  EXPECT_EQ(Refused("sandbox: off"), "p.yaml:2:1: unknown key 'sandbox'");
  EXPECT_EQ(Refused("<<: {network: full}"), "p.yaml:2:1: unknown key '<<'");
}

TEST(Fragment, WrongTypes) {
  EXPECT_EQ(Refused("limits: 5"), "p.yaml:2:9: 'limits' must be a mapping, found '5'");
  EXPECT_EQ(Refused("limits:"), "p.yaml:2:1: 'limits' must be a mapping, found nothing");
  EXPECT_EQ(Refused("roots: ~/src"), "p.yaml:2:8: 'roots' must be a list, found '~/src'");
  EXPECT_EQ(Refused("roots: [[/a]]"), "p.yaml:2:9: expected a value, found a list");
  EXPECT_EQ(Refused("roots: [\"\"]"), "p.yaml:2:9: a path cannot be empty");
  EXPECT_EQ(Refused("roots: [~]"),
            "p.yaml:2:9: expected a path, found nothing; a lone ~ is YAML's null: write \"~\"");
  EXPECT_EQ(Refused("network: [none]"),
            "p.yaml:2:10: 'network' must be none, loopback or full, found a list");
  EXPECT_EQ(Refused("environment: {set: {A: [1]}}"),
            "p.yaml:2:24: 'A' must be text (\"\" for an empty one), found a list");
}

TEST(Fragment, Choices) {
  EXPECT_EQ(
      Refused("network: ful"),
      "p.yaml:2:10: 'network' must be none, loopback or full, found 'ful' - did you mean 'full'?");
  EXPECT_EQ(Refused("git: {hooks: maybe}"),
            "p.yaml:2:14: 'git.hooks' must be skip or run, found 'maybe'");
}

TEST(Fragment, Limits) {
  EXPECT_EQ(Refused("limits: {wall_time: 600}").find("p.yaml:2:21: 'limits.wall_time': '600' "),
            0u);
  EXPECT_EQ(Refused("limits: {memory: 4GB}"),
            "p.yaml:2:18: 'limits.memory': '4GB': write 4GiB; GB is ambiguous");
  EXPECT_EQ(Refused("limits: {processes: many}"),
            "p.yaml:2:21: 'limits.processes': 'many' is not a whole number");
  EXPECT_EQ(Refused("limits: {processes: \"5\"}"),
            "p.yaml:2:21: 'limits.processes': '5' is not a whole number");
  EXPECT_EQ(Refused("limits: {processes: -1}"),
            "p.yaml:2:21: 'limits.processes': '-1' is not a whole number");
  // 0 would mean "no limit" further down.
  EXPECT_EQ(Refused("limits: {processes: 0}"),
            "p.yaml:2:21: 'limits.processes' must be from 1 to 4194304, found '0'");
  EXPECT_EQ(Refused("limits: {wall_time: 0s}"),
            "p.yaml:2:21: 'limits.wall_time' must be from 1ms to 168h, found '0s'");
  EXPECT_EQ(Refused("limits: {wall_time: 169h}"),
            "p.yaml:2:21: 'limits.wall_time' must be from 1ms to 168h, found '169h'");
  EXPECT_EQ(Refused("limits: {wall_time: off}").find("p.yaml:2:21: 'limits.wall_time': 'off' "),
            0u);
  EXPECT_EQ(
      Accepted("version: 1\njobs: {detach_after: off}\n").limits.at("jobs.detach_after").value, 0u);
  EXPECT_EQ(Accepted("version: 1\njobs: {detach_after: 2s}\n").limits.at("jobs.detach_after").value,
            2'000u);
  EXPECT_EQ(Refused("jobs: {detach_after: 0s}"),
            "p.yaml:2:22: 'jobs.detach_after' must be from 1ms to 168h, or off, found '0s'");
}

TEST(Fragment, Tools) {
  EXPECT_EQ(Refused("tools: {enable: [mak]}"),
            "p.yaml:2:18: unknown tool 'mak' - did you mean 'make'?");
  EXPECT_EQ(Refused("tools: {enable: [al]}"),
            "p.yaml:2:18: unknown tool 'al' - did you mean 'all'?");
  EXPECT_EQ(Refused("tools: {enable: make}"), "p.yaml:2:17: 'enable' must be a list, found 'make'");
}

TEST(Fragment, Rules) {
  const auto rule = [](const std::string& text) {
    return Refused("permissions: [{" + text + "}]");
  };
  EXPECT_EQ(rule("decision: allow"),
            "p.yaml:2:15: a rule needs 'tool': a tool's name, or \"*\" for any");
  EXPECT_EQ(rule("tool: make"), "p.yaml:2:15: a rule needs 'decision': allow, ask or deny");
  EXPECT_EQ(rule("tool: mak, decision: allow"),
            "p.yaml:2:15: unknown tool 'mak' - did you mean 'make'?");
  EXPECT_EQ(rule("tool: all, decision: allow"), "p.yaml:2:15: unknown tool 'all'");
  EXPECT_EQ(
      rule("tool: make, decision: dney, reason: x"),
      "p.yaml:2:15: 'decision' must be allow, ask or deny, found 'dney' - did you mean 'deny'?");
  EXPECT_EQ(rule("tool: make, decision: deny"),
            "p.yaml:2:15: a rule that denies needs 'reason': the model reads it");
  EXPECT_EQ(rule("tool: git_add, target: x, decision: allow"),
            "p.yaml:2:15: 'target' is for make and project_actions; 'git_add' has none");
  EXPECT_EQ(rule("tool: make, path: x, decision: allow"),
            "p.yaml:2:15: 'path' is for read, write, edit, delete, glob and grep; 'make' has none");
  EXPECT_EQ(rule("tool: read, command: x, decision: allow"),
            "p.yaml:2:15: 'command' is for bash; 'read' has none");
  EXPECT_EQ(rule("tool: \"*\", path: x, command: y, decision: allow"),
            "p.yaml:2:15: no call has both 'path' and 'command': write two rules");
  EXPECT_EQ(
      rule("tool: make, examples: [x], decision: allow"),
      "p.yaml:2:15: 'examples' are of 'target', 'path' or 'command', and this rule names none");
  EXPECT_EQ(rule("tool: make, target: x, examples: x, decision: allow"),
            "p.yaml:2:49: 'examples' must be a list of examples, found 'x'");
  EXPECT_EQ(rule("tool: make, target: x, examples: [\"!\"], decision: allow"),
            "p.yaml:2:50: an example cannot be empty");
  EXPECT_EQ(rule("tool: read, path: ./x, decision: allow"),
            "p.yaml:2:15: 'path' must not contain '.' or '..': it is held against where symlinks "
            "lead");
  EXPECT_NE(rule("tool: read, path: \"*.[ch]\", decision: allow").find("only *, ? and **"),
            std::string::npos);
  EXPECT_EQ(rule("tool: bash, command: \" \", decision: allow"),
            "p.yaml:2:15: 'command' cannot be blank");
  EXPECT_EQ(rule("tool: make, taget: x, decision: allow"),
            "p.yaml:2:28: unknown key 'taget' in a rule - did you mean 'target'?");
  EXPECT_EQ(rule("tool: make, target: \"\", decision: allow"),
            "p.yaml:2:36: 'target' cannot be empty");
  EXPECT_EQ(Refused("permissions: [make]"),
            "p.yaml:2:15: expected a rule such as {tool: make, decision: allow}, found 'make'");
}

TEST(Fragment, ProtectedPlacesAreRelative) {
  const auto place = [](const std::string& item) {
    return Refused("filesystem: {protect: [" + item + "]}");
  };
  for (const char* item : {".git/hooks", "ci", "./a//b/", "a b", "..a", "$x"}) {
    const std::string text = "version: 1\nfilesystem: {protect: [" + std::string(item) + "]}";
    EXPECT_EQ(Accepted(text).filesystem_protect->value.at(0).value, item);
  }
  EXPECT_EQ(place("/etc/passwd"),
            "p.yaml:2:24: must be relative to the working directory, found '/etc/passwd'; "
            "other paths are read-only unless filesystem.write names them");
  for (const char* item : {"\"~/x\"", "\"${HOME}/x\""}) {
    EXPECT_NE(place(item).find("must be relative"), std::string::npos) << item;
  }
  for (const char* item : {"..", "a/../b", "a/.."}) {
    EXPECT_EQ(place(item), "p.yaml:2:24: must not contain '..'") << item;
  }
  for (const char* item : {".", "./", "././/"}) {
    EXPECT_EQ(place(item),
              "p.yaml:2:24: cannot be the working directory itself: nothing could be built");
  }
  EXPECT_EQ(place("\"\""), "p.yaml:2:24: a path cannot be empty");
  EXPECT_EQ(place("[a]"), "p.yaml:2:24: expected a value, found a list");
  EXPECT_EQ(Refused("filesystem: {protect: x}"),
            "p.yaml:2:23: 'protect' must be a list, found 'x'");
  EXPECT_EQ(Refused("filesystem: {protcet: [x]}"),
            "p.yaml:2:14: unknown key 'filesystem.protcet' - did you mean 'protect'?");
}

TEST(Fragment, ARuleThatAsksNeedsNoReason) {
  std::vector<Diagnostic> diagnostics;
  const auto fragment = ParsePolicyText("version: 1\npermissions: [{tool: make, decision: ask}]",
                                        "p.yaml", kTools, diagnostics);
  ASSERT_TRUE(fragment);
  EXPECT_EQ(fragment->permissions->value.at(0).verdict, Verdict::kAsk);
}

TEST(Fragment, WhatIsNotBuiltIsRefusedAndSaysSo) {
  for (const char* text : {
           "tenants: {}",
           "git: {signing: on}",
           "git: {signing: inherit}",
       }) {
    const std::string message = Refused(text);
    EXPECT_NE(message.find("not built yet"), std::string::npos) << text << ": " << message;
  }
}

TEST(Fragment, AllFaultsAreToldAtOnceButNotEndlessly) {
  EXPECT_EQ(Refused("a: 1\nb: 2"), "p.yaml:2:1: unknown key 'a'\np.yaml:3:1: unknown key 'b'");
  std::string text;
  for (int i = 0; i < 500; ++i) text += "k" + std::to_string(i) + ": 1\n";
  std::vector<Diagnostic> diagnostics;
  ParsePolicyText("version: 1\n" + text, "p.yaml", kTools, diagnostics);
  EXPECT_EQ(diagnostics.size(), 20u);
}

}  // namespace
}  // namespace pa::policy
