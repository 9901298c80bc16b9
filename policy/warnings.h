// FindWarnings: lines of a policy that are allowed, but have a price that its author should know.
#pragma once

#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"

namespace pa::policy {

std::vector<Diagnostic> FindWarnings(const Policy& policy);

}  // namespace pa::policy
