// FindWarnings: lines of a policy that are allowed, but have a price that its author should know.
//
//    for (const Diagnostic& warning : FindWarnings(policy)) Show(warning.Format());
//
// What is forbidden is an error of LoadPolicy, not a warning.
#pragma once

#include <string>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/policy.h"

namespace pa::policy {

std::vector<Diagnostic> FindWarnings(const Policy& policy);
// Of a file that FindSharedFile (policy/shared_files.h) found in a root.
Diagnostic SharedFileWarning(const std::string& file);

}  // namespace pa::policy
