// Vouch: the word of a front door for the caller of a request (docs/daemon.md). The front door has
// judged the caller's token; the tenant's server behind it gets no token, but can judge all the
// rest of it again.
//
//    fields.emplace_back(kVouchField, FormatVouch(peer, access_token));   // the front door
//    if (!ReadVouch(*head.Find(kVouchField), peer)) Refuse();             // the tenant's server
//
// Of a token of ours it is the hash, which only the front door and the tenant know; of an access
// token the claims, as they were signed, and the hash of the key that has signed them.
#pragma once

#include <string>
#include <string_view>

#include "supervisor/transport/http_server.h"

namespace pa {

inline constexpr std::string_view kVouchField = "project-actions-caller";

// For a peer that HttpCallers has identified by `token`, its own text.
std::string FormatVouch(const HttpPeer& peer, std::string_view token);

// Fills in `peer`: its token_hash, or its claims, key and token, which is the subject. False: it is
// no word of a front door, and `peer` is as it was.
bool ReadVouch(std::string_view text, HttpPeer& peer);

}  // namespace pa
