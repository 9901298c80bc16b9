// For programs that do not count syncs.
#include "tests/support/syncs.h"

namespace pa::testing {

void ShareSyncs(pid_t) {}

}  // namespace pa::testing
