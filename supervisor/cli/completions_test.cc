#include "supervisor/cli/completions.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

const CommandHelp kProgram{
    .name = "project-actions",
    .text = "",
    .options = {{.names = {"-h", "--help"}, .value = "", .text = "Help"}},
    .subcommands = {{.name = "go",
                     .text = "It's a [test]",
                     .options = {{.names = {"--to"}, .value = "PLACE", .text = "Where: 'x'"}},
                     .arguments = {{.value = "FILE", .text = "", .repeats = true}}}}};

CompletedValues Values() {
  return {{"FILE", {ValueKind::kFile}}, {"PLACE", {ValueKind::kWord, {"here", "there"}}}};
}

// What the scripts do in their shells, tests/support/check-completions.py tries.
TEST(Completions, EachShellHasWhatIsInTheTable) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Result<std::string> script = CompletionScript(shell, kProgram, Values());
    ASSERT_TRUE(script) << script.error().Message();
    EXPECT_TRUE(script->contains("here there")) << *script;
    EXPECT_TRUE(script->contains("go")) << *script;
  }
}

TEST(Completions, TextIsNeverCode) {
  EXPECT_TRUE(CompletionScript("zsh", kProgram, Values())
                  ->contains(R"('[Where: '\''x'\'']:PLACE:(here there)')"));
  EXPECT_TRUE(CompletionScript("fish", kProgram, Values())->contains(R"(-d 'It\'s a [test]')"));
}

TEST(Completions, AValueThatNobodyCompletesIsAnError) {
  CompletedValues values = Values();
  values.erase("PLACE");
  const Result<std::string> script = CompletionScript("bash", kProgram, values);
  ASSERT_FALSE(script);
  EXPECT_TRUE(script.error().Message().contains("PLACE"));
}

TEST(Completions, AnotherShellIsAnError) {
  EXPECT_FALSE(CompletionScript("tcsh", kProgram, Values()));
}

}  // namespace
}  // namespace pa
