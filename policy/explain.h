// ExplainPath, ExplainHost, ExplainTool: why commands can or cannot use a path, a host or a tool,
// and the line of policy that would change that.
//
//    Explanation e = ExplainPath(policy, "/home/ann/.ssh/id_ed25519");
//    std::cout << e.text;   // or e.json, on one line
//
// The answers come from GrantsFor and from the rules themselves, which Decide uses too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/policy.h"
#include "sandbox/view_plan.h"

namespace pa::policy {

struct Explanation {
  std::string text;  // lines, for a terminal
  std::string json;
};

// A relative `path` starts from the first root. `view`: what commands see if they have namespaces,
// null if they have none.
Explanation ExplainPath(const Policy& policy, const std::string& path,
                        const sandbox::View* view = nullptr);

struct HostAndPort {
  std::string host;
  std::string port;
};
// `example.org:443`, `127.0.0.1:5432`, `[::1]:80`, `https://example.org/x`; nothing for what is
// none.
std::optional<HostAndPort> ReadHost(std::string_view subject);
// `namespaces`: commands have them, and with them perhaps a loopback of their own.
Explanation ExplainHost(const Policy& policy, const HostAndPort& peer, bool namespaces);

// `read_only`: the tool's annotation.
Explanation ExplainTool(const Policy& policy, const std::string& tool, bool read_only);

}  // namespace pa::policy
