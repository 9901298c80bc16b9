#include "tests/support/json.h"

template class nlohmann::basic_json<>;
