// The public keys of an issuer of tokens: a JWK Set (RFC 7517).
//
//    const Result<std::vector<Jwk>> keys = ReadJwkSet(text, path);
//    const Jwk* key = FindKey(*keys, jwt.algorithm, jwt.key_id);    // null: there is none, or two
//
// Each key has one algorithm: its `alg`, else RS256 or ES256 (RFC 8725, 3.1). So no token chooses
// how it is verified. Keys of other kinds, for encryption, or too weak are passed over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/public_key.h"

namespace pa {

inline constexpr std::size_t kMaxJwkSet = 1U << 20;
inline constexpr std::size_t kMostJwks = 64;

struct Jwk {
  std::string id;         // `kid`; "": it has none
  std::string algorithm;  // `RS256`
  SignatureScheme scheme;
  PublicKey key;
  Digest digest;  // of the key itself: another one of the same name is another key
};

// An error: this is no set of keys, or there is none in it that could verify a token.
Result<std::vector<Jwk>> ReadJwkSet(std::string_view text, const std::string& path);

// The one key for this algorithm that has the name; `id` "": the one key for the algorithm.
const Jwk* FindKey(const std::vector<Jwk>& keys, std::string_view algorithm, std::string_view id);

}  // namespace pa
