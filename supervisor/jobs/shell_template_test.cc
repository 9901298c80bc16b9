// What bash makes of the programs: real bash, hostile values, every place.
#include "supervisor/jobs/shell_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

const std::vector<std::string> kBefore = {"a", "b"};

std::string RefusalOf(const std::string& command) {
  const auto shell = ParseShellTemplate(command, kBefore, kBefore);
  return shell ? "" : shell.error().message;
}

class ShellTemplateTest : public ::testing::Test {
 protected:
  // What `command` prints if each template stands for `value`.
  std::string Print(const std::string& command, const std::string& value) {
    const auto shell = ParseShellTemplate(command, kBefore, kBefore);
    if (!shell) return "refused: " + shell.error().message;
    std::vector<std::string> words = {"/bin/bash", "-c", "--", shell->program, "bash"};
    words.resize(words.size() + shell->references.size(), value);
    const testing::ProgramResult run = testing::RunProgram(
        {.command = std::move(words), .directory = directory_.path()}, "from stdin\n");
    EXPECT_EQ(run.errors, "") << command << " as " << shell->program;
    return run.output;
  }

  testing::TempDir directory_;
};

const std::string kValues[] = {
    "",
    "plain",
    "two words",
    " * ",
    "-n",
    "a'b",
    "a\"b",
    "a\\b",
    "'\"'\"'",
    "$HOME ${HOME} $(touch pwned) `touch pwned`",
    "; touch pwned;",
    "\ntouch pwned\n",
    "EOF\ntouch pwned\nEOF",
    "' ; touch pwned ; '",
    "\" ; touch pwned ; \"",
    "') ; touch pwned ; ('",
    "a[$(touch pwned)]",
    "}}; touch pwned; {{",
    "{{a}}",
    "!!",
    "~",
    "\u00fc\t\r",
    "&& touch pwned ||",
    "#",
    "$1 $@ ${__v0}",
};

struct Place {
  const char* command;
  const char* before;  // of the value in what is printed
  const char* after;
};

// printf and not echo, which takes -n for itself.
constexpr Place kPlaces[] = {
    {"printf '%s' {{a}}", "", ""},
    {"printf '%s' \"{{a}}\"", "", ""},
    {"printf '%s' '{{a}}'", "", ""},
    {"printf '%s' $'{{a}}'", "", ""},
    {"printf '%s' x{{a}}y", "x", "y"},
    {"printf '%s' \"x {{a}} y\"", "x ", " y"},
    {"printf '%s' 'x {{a}} y'", "x ", " y"},
    {"printf '%s' $'x\\t{{a}}\\ty'", "x\t", "\ty"},
    {"printf '%s' a\"b\"'c'{{a}}\\d", "abc", "d"},
    {"X={{a}}; printf '%s' \"$X\"", "", ""},
    {"X={{a}} bash -c 'printf %s \"$X\"'", "", ""},
    {"X=(x {{a}}); printf '%s' \"${X[1]}\"", "", ""},
    {"export X='{{a}}'; printf '%s' \"$X\"", "", ""},
    {"printf '%s' \"$(printf '%s.' {{a}})\"", "", "."},
    {"printf '%s' \"$(printf '%s.' \"{{a}}\")\"", "", "."},
    {"(printf '%s' {{a}})", "", ""},
    {"{ printf '%s' {{a}}; }", "", ""},
    {"f() { printf '%s' \"$1\"; }; f {{a}}", "", ""},
    {"f () { printf '%s' {{a}}; }; f", "", ""},
    {"if true; then printf '%s' {{a}}; fi", "", ""},
    {"for x in {{a}}; do printf '%s' \"$x\"; done", "", ""},
    {"case {{a}} in *) printf '%s' {{a}};; esac", "", ""},
    {"printf '%s' {{a}} | cat", "", ""},
    {"true && printf '%s' {{a}} # {{b}}", "", ""},
    {"printf '%s' {{a}} # ' \" ` (", "", ""},
    {"bash -c 'printf %s \"$1\"' bash {{a}}", "", ""},
    {"awk 'BEGIN { printf \"x\" }' {{a}} && printf '%s' {{a}}", "x", ""},
    {"[[ {{a}} = {{a}} ]] && printf '%s' {{a}}", "", ""},
    {"[ {{a}}x != y ] && printf '%s' {{a}}", "", ""},
    {"cat <<< {{a}}", "", "\n"},
    {"cat <<EOF\nx {{a}} \"y\"\nEOF\n", "x ", " \"y\"\n"},
    {"cat <<-EOF\n\tx {{a}}\n\tEOF\nprintf .", "x ", "\n."},
    {"cat <<A <<'B'\n{{a}}\nA\nx\nB\nprintf '%s' {{a}}", "x\n", ""},
    {"x=$((1 + 16#f)); printf '%s' {{a}}", "", ""},
    {"(( 1 < 2 )) && printf '%s' {{a}}", "", ""},
    {"X=${HOME:-\"}\"}; printf '%s' {{a}}", "", ""},
    {"cat <(printf '%s' {{a}})", "", ""},
    {"printf '%s' {{a}} > out; cat out", "", ""},
    {"set -- q; printf '%s' \"$1\" {{a}}", "q", ""},
    {"printf '%s' \"$#\" {{a}}", "0", ""},
    {"cat > out <<EOF && cat out\n{{a}}\nEOF", "", "\n"},
};

TEST_F(ShellTemplateTest, AValueIsWhatItIsInEveryPlace) {
  for (const Place& place : kPlaces) {
    for (const std::string& value : kValues) {
      EXPECT_EQ(Print(place.command, value), place.before + value + place.after)
          << place.command << " with " << value;
      ASSERT_FALSE(std::filesystem::exists(directory_.path() / "pwned"))
          << place.command << " with " << value;
    }
  }
}

TEST_F(ShellTemplateTest, ALongValue) {
  const std::string value(100U << 10, '\'');
  EXPECT_TRUE(Print("printf '%s' '{{a}}'", value) == value);
}

// Not only is it refused where it would be evaluated again: without that it really is.
TEST_F(ShellTemplateTest, WhatIsRefusedWouldExecuteTheValue) {
  for (const char* command : {
           "V",
           "eval V",
           "eval \"x=V\"",
           "bash -c V",
           "sh -c \"echo V\"",
           "bash -ec V",
           "X=1; echo $((V))",
           "((X = V))",
           "[[ V -eq 1 ]]",
           "[[ 1 -lt V ]]",
           "let V",
           "declare \"V=1\"",
           "a[V]=1",
           "awk V",
           "awk -v x=1 V",
           "echo 1 | xargs sh -c V",
           "trap V EXIT",
           "env V",
           "nohup V",
           "python3 -c V",
           "perl -e V",
           "printf -v V x",
           "test -v V",
           "[ -v V ]",
           "echo ${X:-$((V))}",
           "echo `V`",
           "FOO=1 V",
           "if V; then :; fi",
           "true; V",
           "true | V",
           "! V",
           "timeout 5 V",
           "f() { V; }; f",
           "(V)",
           "echo $(V)",
           "command V",
           "source V",
           ". V",
           "ssh host V",
           "X=1 env Y=2 V",
       }) {
    std::string with = command;
    with.replace(with.find('V'), 1, "{{a.x}}");
    const std::string refusal = RefusalOf(with);
    EXPECT_TRUE(refusal.starts_with("{{a.x}} cannot stand here: ")) << with << ": " << refusal;
  }
  // The first of them, to see that it is no idle fear.
  const testing::ProgramResult run =
      testing::RunProgram({.command = {"/bin/bash", "-c", "--", "v=$1; set --; [[ \"$v\" -eq 1 ]]",
                                       "bash", "a[$(touch pwned)]"},
                           .directory = directory_.path()});
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "pwned")) << run.errors;
}

TEST_F(ShellTemplateTest, OtherRefusals) {
  EXPECT_TRUE(RefusalOf("cat <<'EOF'\n{{a}}\nEOF").contains("quoted delimiter"));
  EXPECT_TRUE(RefusalOf("cat <<\\EOF\n{{a}}\nEOF").contains("quoted delimiter"));
  EXPECT_TRUE(RefusalOf("cat <<{{a}}\nx\n").contains("delimiter"));
  EXPECT_TRUE(RefusalOf("echo ${X:-{{a}}}").contains("${...}"));
  EXPECT_TRUE(RefusalOf("echo {{zzz}}").contains("there is no step 'zzz'"));
  EXPECT_TRUE(RefusalOf("echo \\\\\\\\{{a}}").empty()) << "two backslashes of the shell";
}

TEST_F(ShellTemplateTest, WithoutATemplateTheCommandStays) {
  const std::string command = "echo '{{.Values}}' \"$x\" # {{1}}\ncat <<'E'\n$(x)\nE\n";
  const auto shell = ParseShellTemplate(command, kBefore, kBefore);
  EXPECT_EQ(shell->program, command);
  EXPECT_TRUE(shell->references.empty());
}

TEST_F(ShellTemplateTest, TheVariableIsNoneOfTheCommands) {
  EXPECT_EQ(Print("__v0=mine; printf '%s' \"$__v0\" {{a}}", " theirs"), "mine theirs");
}

TEST_F(ShellTemplateTest, SeveralValuesKeepTheirOrder) {
  std::string command = "printf '%s '";
  for (int i = 0; i < 12; ++i) command += i % 2 == 0 ? " {{a}}" : " '{{b.x}}'";
  const auto shell = ParseShellTemplate(command, kBefore, kBefore);
  ASSERT_EQ(shell->references.size(), 12u);
  std::vector<std::string> words = {"/bin/bash", "-c", "--", shell->program, "bash"};
  for (int i = 0; i < 12; ++i) words.push_back(std::to_string(i));
  EXPECT_EQ(testing::RunProgram({.command = std::move(words)}).output,
            "0 1 2 3 4 5 6 7 8 9 10 11 ");
  EXPECT_EQ(shell->references[1].Print(), "{{b.x}}");
}

TEST(ShellTemplate, ShowsTheCommandWithItsValues) {
  const auto shown = [](const std::string& command, const std::string& value) {
    const auto shell = ParseShellTemplate(command, kBefore, kBefore);
    EXPECT_TRUE(shell) << command;
    const std::vector<std::string> values(shell->references.size(), value);
    return shell->Shown(values);
  };
  EXPECT_EQ(shown("echo x", ""), "echo x");
  EXPECT_EQ(shown("git {{a.b}} origin", "push"), "git push origin") << "as a rule names it";
  EXPECT_EQ(shown("cat {{a.b}} \"d/{{b}}\" 'x{{a}}'; :", "a b"), "cat 'a b' \"d/a b\" 'xa b'; :");
  EXPECT_EQ(shown("echo {{a}}", "'; rm x"), "echo ''\\''; rm x'");
  const std::string longest = shown("echo {{a}} end", "head" + std::string(100'000, 'x') + "tail");
  EXPECT_LT(longest.size(), 5000u);
  EXPECT_TRUE(longest.starts_with("echo 'headx")) << longest;
  EXPECT_TRUE(longest.ends_with("xtail' end")) << longest;
  EXPECT_NE(longest.find("bytes"), std::string::npos);
}

TEST(ShellTemplate, ItsVariableIsTheCommandsOwnHoweverLongThat) {
  std::string command = "echo __v" + std::string(100'000, '_') + "; echo {{a}}";
  const auto shell = ParseShellTemplate(command, kBefore, kBefore);
  ASSERT_TRUE(shell);
  EXPECT_TRUE(shell->program.starts_with("__v" + std::string(100'001, '_') + "0=${1};"))
      << shell->program.substr(0, 20);
  command.clear();
  while (command.size() < (100U << 10)) command += "__v_ ";
  EXPECT_TRUE(ParseShellTemplate(command + "{{a}}", kBefore, kBefore)
                  ->program.starts_with("__v__0=${1}; set --; "));
}

}  // namespace
}  // namespace pa
