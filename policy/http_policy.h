// CompileHttp, LoadHttpPolicy: the part of a policy that is about clients of HTTP.
//
//    auto http = LoadHttpPolicy(kAdministratorPolicy);    // a front door, which runs nothing
//    if (!http) for (const Diagnostic& error : http.error()) Show(error.Format());
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "policy/diagnostic.h"
#include "policy/fragment.h"
#include "policy/policy.h"

namespace pa::policy {

// `merged`: with a value of every key. Appends what is wrong to `diagnostics`.
HttpPolicy CompileHttp(const PolicyFragment& merged, std::vector<Diagnostic>& diagnostics);

// Of the administrator's file alone; the defaults if there is none. The whole file must be valid,
// but for what only this machine's users and tools can tell: whose roots exist, which tools there
// are.
std::expected<HttpPolicy, std::vector<Diagnostic>> LoadHttpPolicy(const std::string& file);

}  // namespace pa::policy
