// FindWarnings: what a policy may say and whoever wrote it should know the price of.
#pragma once

#include <string>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"

namespace pa::policy {

std::vector<Diagnostic> FindWarnings(const Policy& policy, const std::vector<std::string>& files);

}  // namespace pa::policy
