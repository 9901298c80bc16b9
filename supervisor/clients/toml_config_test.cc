#include "supervisor/clients/toml_config.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pa {
namespace {

const ServerEntry kTomlEntry{.section = "mcp_servers",
                             .name = "us",
                             .command = "/opt/\"p\"\\a",
                             .args = {"serve", "--\xC3\xBC"},
                             .tool_timeout_sec = 600};

constexpr std::string_view kTable = R"([mcp_servers.us]
command = "/opt/\"p\"\\a"
args = ["serve", "--ü"]
tool_timeout_sec = 600
)";

std::string MergedToml(std::string_view text) {
  const auto now = MergeIntoToml(text, kTomlEntry);
  if (!now) {
    const LineAndColumn place = PlaceOf(text, now.error().at);
    return std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
           now.error().message;
  }
  EXPECT_EQ(MergeIntoToml(*now, kTomlEntry).value_or("refused"), *now);
  return *now;
}

TEST(TomlConfig, ANewEntryIsATableAtTheEnd) {
  const std::string table(kTable);
  EXPECT_EQ(MergedToml(""), table);
  for (const char* text : {
           "model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n# the end\n",
           "mcp_servers.other.command = \"x\"\n",
           "[mcp_servers]\nother = {command = \"x\"}\n",
           "[mcp_servers]\nother.command = \"x\"\n[a.b]\n[[c]]\nd = 1979-05-27T07:32:00Z\n",
           "[projects.\"/home/\xC3\xBC\"]\ntrust_level = \"trusted\"\n",
       }) {
    EXPECT_EQ(MergedToml(text), text + ("\n" + table)) << text;
  }
}

TEST(TomlConfig, LineEndsAndAMissingLastOneStay) {
  EXPECT_EQ(MergedToml("a = 1"), "a = 1\n\n" + std::string(kTable.substr(0, kTable.size() - 1)));
  const std::string now = MergedToml("a = 1\r\nb = 2\r\n");
  EXPECT_TRUE(now.starts_with("a = 1\r\nb = 2\r\n\r\n[mcp_servers.us]\r\ncommand"));
  EXPECT_EQ(std::ranges::count(now, '\r'), std::ranges::count(now, '\n'));
}

TEST(TomlConfig, OfAnEntryThatIsThereOurKeysAloneChange) {
  EXPECT_EQ(MergedToml("[mcp_servers.us] # us\n"
                       "env = {T = \"\xC3\xBC\"}\n"
                       "  command='old' # was \xC3\xBC\n"
                       "args = [\n  \"serve\",\n  'a#b',\n]\n"
                       "enabled = false\n\n[z]\n"),
            "[mcp_servers.us] # us\n"
            "env = {T = \"\xC3\xBC\"}\n"
            "  command=\"/opt/\\\"p\\\"\\\\a\" # was \xC3\xBC\n"
            "args = [\"serve\", \"--\xC3\xBC\"]\n"
            "enabled = false\n\n[z]\n");
  EXPECT_EQ(MergedToml("[mcp_servers]\nus = { args = [], env = {}, command = \"\xC3\xBC\" } # x\n"),
            "[mcp_servers]\nus = { args = [\"serve\", \"--\xC3\xBC\"], env = {}, command = "
            "\"/opt/\\\"p\\\"\\\\a\" } # x\n");
  EXPECT_EQ(
      MergedToml("mcp_servers.us.args = 1\nmcp_servers.us.command = \"\"\"\nold\"\"\"\na = 1"),
      "mcp_servers.us.args = [\"serve\", \"--\xC3\xBC\"]\n"
      "mcp_servers.us.command = \"/opt/\\\"p\\\"\\\\a\"\na = 1");
  EXPECT_EQ(MergedToml("mcp_servers = {us = {command = \"\", args = []}, b = {}}"),
            "mcp_servers = {us = {command = \"/opt/\\\"p\\\"\\\\a\", args = [\"serve\", "
            "\"--\xC3\xBC\"]}, b = {}}");
}

TEST(TomlConfig, WhatLacksComesBelowTheHeader) {
  EXPECT_EQ(MergedToml("[mcp_servers.us] # us\n\n[mcp_servers.us.env]\nA = \"b\"\n"),
            "[mcp_servers.us] # us\ncommand = \"/opt/\\\"p\\\"\\\\a\"\nargs = [\"serve\", "
            "\"--\xC3\xBC\"]\n\n[mcp_servers.us.env]\nA = \"b\"\n");
  EXPECT_EQ(
      MergedToml("[mcp_servers.us]"),
      "[mcp_servers.us]\ncommand = \"/opt/\\\"p\\\"\\\\a\"\nargs = [\"serve\", \"--\xC3\xBC\"]");
  EXPECT_EQ(MergedToml("[mcp_servers.us]\r\nargs = ['serve']\r\n"),
            "[mcp_servers.us]\r\ncommand = \"/opt/\\\"p\\\"\\\\a\"\r\nargs = [\"serve\", "
            "\"--\xC3\xBC\"]\r\n");
}

TEST(TomlConfig, AnEntryThatSaysTheSameStaysAsItIs) {
  constexpr std::string_view kText =
      "[mcp_servers.'us']\ncommand = '/opt/\"p\"\\a'\nargs = ['serve', # !\n \"--\\u00fc\"]\n"
      "tool_timeout_sec = 30\n";
  EXPECT_EQ(MergedToml(kText), kText);
}

TEST(TomlConfig, WhatCannotBeMergedIsRefusedWithAdvice) {
  const auto begins = [](const char* text, const char* problem) {
    EXPECT_TRUE(MergedToml(text).starts_with(problem)) << text << "\n" << MergedToml(text);
  };
  begins("a = 1\nb = \n", "2:5: expected TOML: ");
  begins("\xC3\xBC = 1\n", "1:1: expected TOML: ");
  begins("a = \"\xFF\"\n", "1:5: expected TOML: ");
  begins("a = 1\na = 2\n", "2:5: expected TOML: ");
  begins("[a]\n[a]\n", "2:1: expected TOML: ");
  begins("a = {b = [}}\n", "1:1: expected TOML");
  begins("a = 1\n[b\xC3\xBC]\n", "2:3: expected TOML: ");
  begins("mcp_servers = 3\n", "1:15: expected a table; write by hand: mcp_servers.us = {command");
  begins("[[mcp_servers]]\n", "1:1: expected a table");
  begins("mcp_servers = {b = {}}\n", "1:15: expected a table that is not inline; write by hand");
  begins("[mcp_servers]\nus = []\n", "2:6: expected a table; write");
  begins("[mcp_servers]\nus = {command = \"a\"}\n", "2:6: expected a table with a header");
  begins("[mcp_servers]\nus.command = \"a\"\n", "2:1: expected a table with a header");
  begins("[mcp_servers.us]\nurl = \"http://us\"\n", "2:7: expected an entry that starts a program");
  begins("[mcp_servers.us]\nargs = [ # why\n'serve']\n",
         "2:8: expected an array without a comment");
  begins("[mcp_servers.us]\nargs = ['a', 'b' # why\n]\n",
         "2:8: expected an array without a comment");
  begins("[mcp_servers.us]\nargs = ['a', [ # why\n]]\n",
         "2:8: expected an array without a comment");
  begins("[mcp_servers.us.env]\nA = \"b\"\n", "1:1: expected a document that stays the same");
}

constexpr TomlSetting kTop{.table = "", .key = "mode", .literal = "\"read-only\""};
constexpr TomlSetting kInTable{.table = "features", .key = "shell", .literal = "false"};

// Set, and unset again; or the problem.
std::string SetToml(std::string_view text, const TomlSetting& setting) {
  const auto now = SetInToml(text, setting);
  if (!now) return now.error().message;
  EXPECT_TRUE(HasInToml(*now, setting)) << *now;
  EXPECT_EQ(SetInToml(*now, setting).value_or("refused"), *now);
  const std::string unset = UnsetInToml(*now, setting).value_or("refused");
  EXPECT_FALSE(HasInToml(unset, setting)) << unset;
  EXPECT_TRUE(unset.starts_with(text.substr(0, text.find('\n')))) << unset;
  return *now;
}

TEST(TomlConfig, ASettingComesAndGoes) {
  EXPECT_EQ(SetToml("", kTop), "mode = \"read-only\"\n");
  EXPECT_EQ(SetToml("# a\r\n[t]\r\n", kTop), "mode = \"read-only\"\r\n# a\r\n[t]\r\n");
  EXPECT_EQ(SetToml("", kInTable), "[features]\nshell = false\n");
  EXPECT_EQ(SetToml("a = 1", kInTable), "a = 1\n\n[features]\nshell = false\n");
  EXPECT_EQ(SetToml("a = 1\n[features] # f\nweb = true\n[z]\n", kInTable),
            "a = 1\n[features] # f\nshell = false\nweb = true\n[z]\n");
  EXPECT_EQ(SetToml("[features]", kInTable), "[features]\nshell = false\n");
}

TEST(TomlConfig, AnotherValueIsTheUsersToChange) {
  for (const char* text : {"features.shell = true\n", "[features]\nshell = 1\n"}) {
    EXPECT_TRUE(SetToml(text, kInTable).contains("write by hand: features.shell = false")) << text;
    EXPECT_FALSE(HasInToml(text, kInTable));
    EXPECT_EQ(UnsetInToml(text, kInTable).value_or("refused"), text);
  }
  EXPECT_TRUE(SetToml("features = {web = true}\n", kInTable).contains("header of its own"));
  EXPECT_TRUE(SetToml("features = 7\n", kInTable).contains("header of its own"));
  EXPECT_FALSE(SetInToml("[", kTop));
  EXPECT_FALSE(UnsetInToml("features = {shell = false, web = true}\n", kInTable));
  EXPECT_EQ(UnsetInToml("features.shell = false\na = 1\n", kInTable).value_or("refused"), "refused")
      << "the table would go with it";
}

TEST(TomlConfig, OurTableIsRemovedAndNothingElse) {
  const auto without = [](std::string_view text) {
    return RemoveTomlTable(text, "mcp_servers", "us").value_or("refused");
  };
  EXPECT_EQ(without("a = 1\n"), "a = 1\n");
  EXPECT_EQ(without(MergedToml("a = 1 # x\n")), "a = 1 # x\n");
  EXPECT_EQ(without(MergedToml("")), "");
  EXPECT_EQ(
      without("[mcp_servers.us] # us\nargs = [\n  \"a\",\n]\n[mcp_servers.\"us\".env]\nA = 'b'\n"
              "\n# them\n[mcp_servers.them]\ncommand = \"[x\"\n"),
      "\n# them\n[mcp_servers.them]\ncommand = \"[x\"\n");
  EXPECT_EQ(without("mcp_servers = {us = {args = []}, b = {}}\n"), "refused");
  EXPECT_EQ(without("["), "refused");
}

}  // namespace
}  // namespace pa
