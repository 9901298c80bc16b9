// FindWarnings: what a policy may say and whoever wrote it should know the price of.
#pragma once

#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"

namespace pa::policy {

std::vector<Diagnostic> FindWarnings(const Policy& policy);

}  // namespace pa::policy
