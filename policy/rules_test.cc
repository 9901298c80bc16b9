#include "policy/rules.h"

#include <gtest/gtest.h>

namespace pa::policy {
namespace {

bool Path(std::string_view pattern, const std::string& path) {
  return PathRuleMatches(pattern, path);
}

TEST(Rules, PathsAsInGitignore) {
  for (const char* path : {".env", "a/.env", "a/b/.env", ".env/x"}) EXPECT_TRUE(Path(".env", path));
  for (const char* path : {"x.env", ".envs", "a/env", "."}) EXPECT_FALSE(Path(".env", path));
  EXPECT_TRUE(Path("*.pem", "keys/server.pem"));
  EXPECT_FALSE(Path("*.pem", "keys/server.pem.txt"));
  EXPECT_TRUE(Path("secrets/", "secrets/a"));
  EXPECT_TRUE(Path("secrets/", "deep/secrets/a")) << "a slash at the end anchors nothing";
  EXPECT_TRUE(Path("/secrets", "secrets/a"));
  EXPECT_FALSE(Path("/secrets", "deep/secrets/a"));
  EXPECT_TRUE(Path("src/gen", "src/gen/x/y"));
  EXPECT_FALSE(Path("src/gen", "lib/src/gen"));
  EXPECT_FALSE(Path("src/gen", "src")) << "what holds it is not it";
  EXPECT_FALSE(Path("src/*.c", "src/a/b.c")) << "a star stays within a component";
  EXPECT_TRUE(Path("src/**/*.c", "src/a/b/c.c"));
  EXPECT_TRUE(Path("src/**/*.c", "src/c.c"));
  EXPECT_TRUE(Path("**/b/**/d", "a/b/c/b/d"));
  EXPECT_FALSE(Path("**/b/**/d", "a/c/d"));
  EXPECT_TRUE(Path("**", "anything/at/all"));
  EXPECT_TRUE(Path("*", "a"));
}

TEST(Rules, AWholePathIsOneToo) {
  const auto matches = [](const std::string& whole, const std::string& path) {
    const std::vector<Rule> rules = {{.tool = "*", .path = "~/x", .whole_path = whole}};
    const std::string absolute = path == "." ? "/root/p" : "/root/p/" + path;
    return FirstRule(rules, {.tool = "read", .path = path, .absolute = absolute}, false) != nullptr;
  };
  EXPECT_TRUE(matches("/root/p/secrets", "secrets/a"));
  EXPECT_TRUE(matches("/root/p", "."));
  EXPECT_FALSE(matches("/root/q", "a"));
}

TEST(Rules, WhatCouldNeverMatchIsNoPattern) {
  for (const char* pattern : {"a", "/a/**/b?", "*.pem", "a b", "...", "~/x"}) {
    EXPECT_EQ(WhyNoPathRule(pattern), "") << pattern;
  }
  for (const char* pattern : {"*.[ch]", "!a", "a\\*", "{a,b}", "./a", "a/../b", "..", "a/."}) {
    EXPECT_NE(WhyNoPathRule(pattern), "") << pattern;
  }
}

TEST(Rules, ManyStarsTakeNoTime) {
  std::string pattern;
  std::string path;
  for (int i = 0; i < 200; ++i) pattern += "**/a*a*a*b/";
  for (int i = 0; i < 2000; ++i) path += "aaaaaaaaaaaaaaaa/";
  EXPECT_FALSE(Path(pattern, path));
}

TEST(Rules, CommandsThatAreAllowedAreOneCommand) {
  const auto allowed = [](const char* command) {
    return CommandRuleMatches("npm test", command, true);
  };
  for (const char* command : {"npm test", "  npm   test", "npm test -- --watch=no 'a b'"}) {
    EXPECT_TRUE(allowed(command)) << command;
  }
  for (const char* command :
       {"npm", "npm testing", "npm run test", "npm test; rm -r .", "npm test && make",
        "npm test | sh", "npm test > Makefile", "npm test $(rm x)", "npm test `rm x`",
        "npm test\nrm x", "npm test & rm x", "A=b npm test", "cd x; npm test", "\"npm\" test",
        "npm test <(rm x)"}) {
    EXPECT_FALSE(allowed(command)) << command;
  }
}

TEST(Rules, CommandsThatAreRefusedAreLookedForEverywhere) {
  const auto refused = [](const char* command) {
    return CommandRuleMatches("git push", command, false);
  };
  for (const char* command :
       {"git push", "git  push -f", "true; git push", "true&&git push", "(git push)",
        "echo $(git push)", "echo `git push`", "x | git push", "GIT_DIR=a git push",
        "'git' \"push\"", "g\\it push", "if true\ngit push"}) {
    EXPECT_TRUE(refused(command)) << command;
  }
  for (const char* command : {"git", "git pull", "git pushy", "echo git push", "push git"}) {
    EXPECT_FALSE(refused(command)) << command;
  }
}

TEST(Rules, WhatTheCallDoesNotHaveDoesNotMatch) {
  std::vector<Rule> rules(3);
  rules[0] = {.tool = "*", .path = "*", .verdict = Verdict::kDeny};
  rules[1] = {.tool = "*", .command = "x", .verdict = Verdict::kDeny};
  rules[2] = {.tool = "*", .target = "t", .verdict = Verdict::kDeny};
  EXPECT_EQ(FirstRule(rules, {.tool = "make", .target = "u"}, false), nullptr);
  EXPECT_EQ(FirstRule(rules, {.tool = "make", .target = "t"}, false), &rules[2]);
  EXPECT_EQ(FirstRule(rules, {.tool = "bash", .command = "x y"}, false), &rules[1]);
  EXPECT_EQ(FirstRule(rules, {.tool = "read", .path = "a", .absolute = "/p/a"}, false), &rules[0]);
  EXPECT_EQ(FirstRule(rules, {.tool = "read", .path = "a", .absolute = "/p/a"}, true), nullptr)
      << "none is the administrator's";
}

TEST(Rules, BothMustAllow) {
  std::vector<Rule> rules(2);
  rules[0] = {.tool = "make", .target = "a", .verdict = Verdict::kDeny, .administrator = true};
  rules[1] = {.tool = "make", .verdict = Verdict::kAllow};
  const Ruling refused = Judge(rules, {.tool = "make", .target = "a"});
  EXPECT_EQ(refused.rule, &rules[0]);
  EXPECT_EQ(refused.verdict, Verdict::kDeny);
  const Ruling allowed = Judge(rules, {.tool = "make", .target = "b"});
  EXPECT_EQ(allowed.rule, &rules[1]);
  EXPECT_EQ(allowed.verdict, Verdict::kAllow);
  const Ruling none = Judge(rules, {.tool = "bash"});
  EXPECT_EQ(none.rule, nullptr);
  EXPECT_EQ(none.verdict, Verdict::kAllow);
}

TEST(Rules, TheStricterWordCounts) {
  constexpr Verdict kAll[] = {Verdict::kDeny, Verdict::kAsk, Verdict::kAllow};
  for (const Verdict his : kAll) {
    for (const Verdict theirs : kAll) {
      std::vector<Rule> rules(2);
      rules[0] = {.tool = "make", .verdict = theirs};
      rules[1] = {.tool = "make", .verdict = his, .administrator = true};
      EXPECT_EQ(Judge(rules, {.tool = "make"}).verdict, std::min(his, theirs))
          << VerdictName(his) << ' ' << VerdictName(theirs);
    }
  }
}

// A rule that asks must not be passed by a second command behind a harmless one.
TEST(Rules, CommandsThatAreAskedAboutAreLookedForEverywhere) {
  std::vector<Rule> rules(1);
  rules[0] = {.tool = "bash", .command = "git push", .verdict = Verdict::kAsk};
  EXPECT_EQ(Judge(rules, {.tool = "bash", .command = "true; git push"}).verdict, Verdict::kAsk);
  EXPECT_EQ(Judge(rules, {.tool = "bash", .command = "git pull"}).verdict, Verdict::kAllow);
  EXPECT_TRUE(EverAsk(rules));
  rules[0].verdict = Verdict::kDeny;
  EXPECT_FALSE(EverAsk(rules));
  EXPECT_FALSE(EverAsk({}));
}

}  // namespace
}  // namespace pa::policy
