// main() of unit tests that run commands: their program is the janitor, too, as the server is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>

#include "supervisor/janitor/janitor_wire.h"
#include "supervisor/janitor/serve_janitor.h"
#include "tests/support/janitor_chores.h"
#include "tests/support/syncs.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == pa::kJanitorOption) {
    pa::testing::ShareSyncs(getppid());
    return pa::ServeJanitor(pa::testing::ChoresForTests());
  }
  pa::testing::ShareSyncs(getpid());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
