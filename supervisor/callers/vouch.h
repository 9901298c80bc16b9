// Vouch: the word of a front door for the caller of a request (docs/daemon.md). The front door has
// judged the caller's token; the tenant's server behind it gets no token, but can judge all the
// rest of it again.
//
//    fields.emplace_back(kVouchField, FormatVouch(peer, access_token));   // the front door
//    if (ReadVouch(*head.Find(kVouchField), peer) != VouchKind::kKnown) Refuse();   // the tenant's
//
// It begins with its version, `v1`: a front door can be newer than a server behind it that runs
// since before an upgrade, or older.
//
// Of a token of ours it is the hash, which only the front door and the tenant know; of an access
// token the claims, as they were signed, and the hash of the key that has signed them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/transport/http_server.h"

namespace pa {

inline constexpr std::string_view kVouchField = "project-actions-caller";

// For a peer that HttpCallers has identified by `token`, its own text.
std::string FormatVouch(const HttpPeer& peer, std::string_view token);

enum class VouchKind : std::uint8_t {
  kKnown,
  kOtherVersion,  // of a front door that another release has written
  kNone,          // it is no word of a front door
};

// kKnown: fills in `peer`: its token_hash, or its claims, key and token, which is the subject. Else
// `peer` is as it was.
VouchKind ReadVouch(std::string_view text, HttpPeer& peer);

}  // namespace pa
