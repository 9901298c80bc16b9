// URLs and origins of the policy: of http and https, with an ASCII host.
//
//    if (std::string problem = CheckUrl("https://agents.example.org/mcp"); !problem.empty()) ...
//    HostOfUrl("https://agents.example.org:8443/mcp")    // "agents.example.org:8443"
#pragma once

#include <string>
#include <string_view>

namespace pa::policy {

// The error in it, or "". A URL has a scheme, a host, perhaps a port and a path; no user, query or
// fragment.
std::string CheckUrl(std::string_view url);
// The same of an origin (RFC 6454), which ends with the port, if it has one.
std::string CheckOrigin(std::string_view origin);

// The same rules as regular expressions, for the schema.
std::string UrlPattern();  // takes "", too
std::string OriginPattern();

// Of a URL that was checked: its host in lower case, with the port if there is one.
std::string HostOfUrl(std::string_view url);
// The same: `https://host:port`, and the path behind it. Both borrow from `url`.
std::string_view OriginOfUrl(std::string_view url);
std::string_view PathOfUrl(std::string_view url);
// Whether nobody on the way can change what is exchanged with this URL: it is https, or of this
// machine (RFC 8252, 8.3).
bool IsSafeUrl(std::string_view url);

}  // namespace pa::policy
