#include "supervisor/text/quote_command.h"

#include <gtest/gtest.h>

#include <vector>

namespace pa {
namespace {

TEST(QuoteCommand, QuotesWhatAShellWouldSplitOrReplace) {
  const std::vector<std::string> argv = {"git", "a b", "it's", "", "--file=-", "$x"};
  EXPECT_EQ(QuoteCommand(argv), R"(git 'a b' 'it'\''s' '' --file=- '$x')");
}

}  // namespace
}  // namespace pa
