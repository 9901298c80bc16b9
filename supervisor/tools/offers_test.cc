// No text recommends a tool that is off. Each text that recommends one is here, beside the case in
// which it does; the instructions for models: supervisor/mcp/server_state_test.cc.
#include <gtest/gtest.h>

#include <set>

#include "tests/support/tool_fixture.h"

namespace pa {
namespace {

// All others only read and are always on.
std::set<std::string> ToolsThatMayBeOff() {
  std::set<std::string> names;
  for (const Tool* tool : AllTools()) {
    if (!tool->annotations.read_only) names.emplace(tool->name);
  }
  return names;
}

class OffersTest : public ToolFixture {
 protected:
  void EnableAllBut(const std::string& tool) {
    policy_->enable_all = false;
    policy_->enabled_tools = ToolsThatMayBeOff();
    policy_->enabled_tools.erase(tool);
  }
};

TEST_F(OffersTest, RefusalsOfferOnlyWhatIsOn) {
  Write("a", "x\n");
  const struct {
    const char* tool;
    const char* called;
    const char* arguments;
    const char* offer;
  } cases[] = {
      {"makefile_generate", "make_targets", "{}", "Call makefile_generate to write a starter one"},
      {"write", "edit", R"({"edits":[{"path":"a","old":"","new":"y"}]})", "the tool write writes"},
      {"write", "edit", R"({"edits":[{"path":"none","old":"x","new":"y"}]})", "write makes new"},
      {"write", "edit", R"({"edits":[{"path":"no/b","old":"x","new":"y"}]})", "write makes new"},
      {"edit", "write", R"({"path":"a","content":"y"})", "the tool edit changes a part"}};
  for (const auto& [tool, called, arguments, offer] : cases) {
    EnableAllBut("");
    const ToolResult on = Call(called, arguments);
    ASSERT_TRUE(on.error) << called;
    EXPECT_TRUE(on.text.contains(offer)) << on.text;
    EnableAllBut(tool);
    const ToolResult off = Call(called, arguments);
    EXPECT_EQ(Code(off), Code(on));
    EXPECT_FALSE(off.text.contains(offer)) << off.text;
    EXPECT_FALSE(off.text.contains("makefile_generate") && tool == std::string("makefile_generate"))
        << off.text;
  }
}

TEST_F(OffersTest, DescriptionsNameOnlyToolsThatAreAlwaysOn) {
  for (const Tool* tool : AllTools()) {
    const std::string text = std::string(tool->description) + InputSchema(tool->params);
    for (const std::string& other : ToolsThatMayBeOff()) {
      if (other == tool->name) continue;
      if (other.contains('_')) {
        EXPECT_FALSE(text.contains(other)) << tool->name << ": " << other;
      }
      for (const char* way : {"the tool ", "prefer ", "Call ", "call ", "use "}) {
        EXPECT_FALSE(text.contains(way + other + " ") || text.contains(way + other + "."))
            << tool->name << ": " << other;
      }
    }
  }
}

}  // namespace
}  // namespace pa
