#include "policy/yaml_problem.h"

#include <gtest/gtest.h>

#include "policy/yaml.h"

namespace pa::policy {
namespace {

std::string ProblemIn(std::string_view text) {
  const std::expected<YamlNode, Diagnostic> root = ParseYaml(text, "p.yaml");
  EXPECT_FALSE(root.has_value()) << text;
  return root ? "" : root.error().Format();
}
std::size_t MembersOf(std::string_view text) {
  const std::expected<YamlNode, Diagnostic> root = ParseYaml(text, "p.yaml");
  EXPECT_TRUE(root.has_value()) << text;
  return root ? root->children.size() : 0;
}

TEST(YamlProblem, BytesThatAreNoTextHaveTheirPlace) {
  EXPECT_EQ(ProblemIn("# \xc3\xbc\na: \xc3\xbc\xe9\n"),
            "p.yaml:2:5: the byte 0xE9 is not UTF-8; a policy is UTF-8: save the file as that");
  for (const char* text : {"a: 1\n\xff: 2\n", "a: 1\n\xed\xa0\x80: 2\n"}) {
    EXPECT_EQ(ProblemIn(text).substr(0, 11), "p.yaml:2:1:") << "a key";
  }
  EXPECT_EQ(ProblemIn("a: 1\n#\xff\n").substr(0, 11), "p.yaml:2:2:") << "a comment";
  EXPECT_EQ(ProblemIn(std::string_view("a: \0\n", 5)),
            "p.yaml:1:4: a NUL byte is no text; remove it, or, if the file is UTF-16, save it as "
            "UTF-8");
  using namespace std::literals;
  for (const std::string_view text : {"\xff\xfe\x61\0"sv, "\xfe\xff\0\x61"sv}) {
    EXPECT_EQ(ProblemIn(text),
              "p.yaml:1:1: this file is UTF-16; a policy is UTF-8: save it as that");
  }
  EXPECT_EQ(ProblemIn("\xff\xfe\0\0\x61\0\0\0"sv),
            "p.yaml:1:1: this file is UTF-32; a policy is UTF-8: save it as that");
  EXPECT_EQ(ProblemIn("a: 1\rb: 2\r"),
            "p.yaml:1:5: a carriage return alone does not end a line; save the file with LF or "
            "CRLF at the ends of lines");
  EXPECT_EQ(MembersOf("a: 1\r\nb: 2\r\n"), 2u);
}

// Each with the place at which people look, which is seldom where the parser gives up.
TEST(YamlProblem, SyntaxErrorsNameThePlaceTheCauseAndWhatToDo) {
  const struct {
    std::string_view text;
    std::string_view error;
  } kCases[] = {
      // Brackets.
      {"v: 1\na: [1\nb: 2\n",
       "2:4: this [ is not closed before line 3, column 2, where ':' cannot "
       "stand; write ] at the end of the list"},
      {"v: 1\na: [1,\n", "2:4: this [ is not closed; write ] at the end of the list"},
      {"a: {b: 1", "1:4: this { is not closed; write } at the end of the mapping"},
      {"a: [[1]\nb: 2\n",
       "1:4: this [ is not closed before line 2, column 1, where 'b' cannot "
       "stand; write ] at the end of the list"},
      {"a: [1]]\n", "1:7: ']' closes nothing; remove it, or put the value in quotes"},
      {"a: 1\n}\n", "2:1: '}' closes nothing; remove it, or put the value in quotes"},
      {"a: [1}\n", "1:6: expected ] here, because of the [ at line 1, column 4, found '}'"},
      {"a: ['1' '2']\n",
       "1:9: expected ',' or ] here, because of the [ at line 1, column 4, found "
       "'''; put a value that holds ': ', ',' or a bracket in quotes"},
      // Quotes.
      {"v: 1\na: \"open\nb: [1]\n",
       "2:4: the value that this \" begins is not closed; write \" at its end"},
      {"a: ['1]\nb: 2\n", "1:5: the value that this ' begins is not closed; write ' at its end"},
      {"a: 'it''s\n", "1:4: the value that this ' begins is not closed; write ' at its end"},
      {"a: \"x\n---\ny\"\n",
       "1:4: the value that this \" begins is not closed before line 2, "
       "column 1; write \" at its end"},
      {"a: \"none\nb: [\"c\"]\n",
       "2:6: found 'c' after the value in quotes that began at line 1, column 4; end the line "
       "there, or look for a quote that is missing before"},
      // No quote begins there, whatever it looks like.
      {"a: don't\n# isn't [\nb: |\n  \"[\n  'x\nc: x\"y\nd: [1\n",
       "7:4: this [ is not closed; write ] at the end of the list"},
      {"a: \"C:\\Users\"\n",
       "1:7: this is no escape that YAML has; in \"...\" write \\\\ for a "
       "backslash, or put the value in '...'"},
      {"a: \"x\\\\y\\qz\"\n",
       "1:9: this is no escape that YAML has; in \"...\" write \\\\ for a "
       "backslash, or put the value in '...'"},
      // Tabs.
      {"v: 1\na:\n\tb: 1\n", "3:1: expected spaces before the first word of the line, found a tab"},
      {"a:\n\t- 1\n", "2:1: expected spaces before the first word of the line, found a tab"},
      {"a:\n  b: 1\n  \tc: 1\n",
       "3:3: expected spaces before the first word of the line, found a tab"},
      {"\ta: 1\n", "1:1: expected spaces before the first word of the line, found a tab"},
      {"a:\n  -\tb: 1\n", "2:4: expected spaces before the first word of the line, found a tab"},
      // Lines.
      {"a: b: c\n", "1:5: a second ': ' in one value; put the value in quotes"},
      {"a: 1\n b: 2\n",
       "2:2: this key is not in the column of the keys above it, or the line above has no ': ' "
       "after its key; indent the keys of one mapping alike, and write ': ' after each"},
      {"a:\n   b: 1\n  c: 2\n",
       "3:3: expected the next key or '- ' in the column of those above, found 'c'"},
      {"x:\n - a\n b: 1\n",
       "3:2: expected the next key or '- ' in the column of those above, found 'b'"},
      {"a: [1] 2\n",
       "1:8: expected the end of the line after the value, found '2'; put the whole "
       "value in quotes"},
      {"a: - 1\n",
       "1:4: a list cannot begin here; write each '- ' at the beginning of a line, in "
       "one column"},
      // What begins a value.
      {"a: @x\n", "1:4: a value cannot begin with '@'; put it in quotes"},
      {"a: *x\n",
       "1:4: aliases (*name) are not allowed in a policy; put a value that begins with "
       "* in quotes"},
      {"a: {b: *, c: 1}\n",
       "1:8: aliases (*name) are not allowed in a policy; put a value that "
       "begins with * in quotes"},
      {"a: & x\n",
       "1:4: anchors (&name) are not allowed in a policy; put a value that begins with "
       "& in quotes"},
      {"a: !<x 1\n",
       "1:4: tags (!name) are not allowed in a policy; put a value that begins with "
       "! in quotes"},
      {"a: |x\n  1\n",
       "1:5: after | or > a line holds at most + or -, a digit from 1 to 9 and a "
       "comment; write the value on the next line"},
      {"%YAML 3.0\n---\na: 1\n",
       "1:1: a line that begins with % is a directive of YAML, which a "
       "policy does not need; remove it"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ProblemIn(c.text), "p.yaml:" + std::string(c.error)) << c.text;
  }
  EXPECT_EQ(MembersOf("a:\t1\nb:\t\n  c:\t2\n"), 2u) << "a tab after a key";
}

}  // namespace
}  // namespace pa::policy
