#include "policy/variable_name.h"

#include <gtest/gtest.h>

#include <regex>

namespace pa::policy {
namespace {

constexpr const char* kAccepted[] = {"CI",          "http_proxy", "_X1",        "NODE_OPTIONS",
                                     "ENVIRONMENT", "MAKE_JOBS",  "GITHUB_SHA", "PYTHONPATH",
                                     "LDFLAGS",     "IFSX"};
constexpr const char* kRefused[] = {"LD_PRELOAD",       "LD_LIBRARY_PATH", "MAKEFLAGS",
                                    "MAKEFILES",        "GNUMAKEFLAGS",    "GIT_DIR",
                                    "GIT_CONFIG_COUNT", "BASH_ENV",        "ENV",
                                    "SHELLOPTS",        "TMPDIR",          "BASH_FUNC_make"};
constexpr const char* kNoNames[] = {"", "1A", "A-B", "A=B", "A B", "\xc3\x84", "BASH_FUNC_x%%"};

TEST(VariableName, RefusesWhatWouldTakeOverTheCommand) {
  for (const char* name : kRefused) {
    EXPECT_NE(CheckVariableName(name).find("may not reach commands: it "), std::string::npos)
        << name;
  }
  EXPECT_EQ(CheckVariableName("BASH_ENV"),
            "'BASH_ENV' may not reach commands: it makes every shell run a file first");
}

TEST(VariableName, AcceptsTheRest) {
  for (const char* name : kAccepted) EXPECT_EQ(CheckVariableName(name), "") << name;
}

TEST(VariableName, RefusesWhatIsNoName) {
  for (const char* name : kNoNames) {
    EXPECT_NE(CheckVariableName(name).find("is not the name of a variable"), std::string::npos)
        << name;
  }
}

TEST(VariableName, TheSchemasPatternsSayTheSame) {
  const std::regex names(VariableNamePattern());
  const std::regex refused(RefusedVariablePattern());
  const auto accepts = [&](const char* name) {
    return std::regex_search(name, names) && !std::regex_search(name, refused);
  };
  for (const char* name : kAccepted) EXPECT_TRUE(accepts(name)) << name;
  for (const char* name : kRefused) EXPECT_FALSE(accepts(name)) << name;
  for (const char* name : kNoNames) EXPECT_FALSE(accepts(name)) << name;
}

}  // namespace
}  // namespace pa::policy
