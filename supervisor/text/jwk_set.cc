#include "supervisor/text/jwk_set.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/json.h"

namespace pa {
namespace {

struct JwkAlgorithm {
  std::string_view name;
  SignatureScheme scheme;
  bool rsa;
};
// The first of each kind is that of a key that names none.
constexpr JwkAlgorithm kJwkAlgorithms[] = {
    {"RS256", SignatureScheme::kRs256, true},
    {"PS256", SignatureScheme::kPs256, true},
    {"ES256", SignatureScheme::kEs256, false},
};

std::unexpected<Error> NoKeys(const std::string& path, const char* why) {
  return std::unexpected(
      Error(std::string("the keys of the issuer cannot be read (") + why + "):", path, EINVAL));
}

std::string_view MemberText(const JsonValue& key, std::string_view name) {
  const JsonValue* const value = key.Find(name);
  return value != nullptr && value->IsString() ? std::string_view(value->AsString()) : "";
}

// RFC 7517, 4.2 and 4.3: for signatures, as far as it says.
bool IsForSignatures(const JsonValue& key) {
  if (key.Find("use") != nullptr && MemberText(key, "use") != "sig") return false;
  const JsonValue* const operations = key.Find("key_ops");
  if (operations == nullptr) return true;
  return operations->IsArray() && std::ranges::any_of(operations->Items(), [](const auto& item) {
           return item.IsString() && item.AsString() == "verify";
         });
}

std::optional<PublicKey> PublicKeyIn(const JsonValue& key) {
  const auto number = [&](const char* name) {
    return FromBase64Url(MemberText(key, name)).value_or("");
  };
  const std::string_view kind = MemberText(key, "kty");
  if (kind == "RSA") return PublicKey::Rsa(number("n"), number("e"));
  if (kind == "EC" && MemberText(key, "crv") == "P-256") {
    return PublicKey::P256(number("x"), number("y"));
  }
  return std::nullopt;
}

std::optional<Jwk> JwkIn(const JsonValue& value) {
  if (!IsForSignatures(value)) return std::nullopt;
  std::optional<PublicKey> key = PublicKeyIn(value);
  if (!key) return std::nullopt;
  const bool names = value.Find("alg") != nullptr;
  const auto* const algorithm =
      std::ranges::find_if(kJwkAlgorithms, [&](const JwkAlgorithm& known) {
        return known.rsa == key->IsRsa() && (!names || MemberText(value, "alg") == known.name);
      });
  if (algorithm == std::end(kJwkAlgorithms)) return std::nullopt;
  std::string whole;
  for (const char* const name : {"kty", "n", "e", "x", "y"}) {
    whole.append(MemberText(value, name)).push_back(' ');
  }
  return Jwk{.id = std::string(MemberText(value, "kid")),
             .algorithm = std::string(algorithm->name),
             .scheme = algorithm->scheme,
             .key = *std::move(key),
             .digest = Sha256Of(whole)};
}

}  // namespace

Result<std::vector<Jwk>> ReadJwkSet(std::string_view text, const std::string& path) {
  const Result<JsonValue> json = ParseJson(text, {.max_bytes = kMaxJwkSet, .max_depth = 16});
  if (!json || !json->IsObject()) return NoKeys(path, "it is no JSON object");
  const JsonValue* const list = json->Find("keys");
  if (list == nullptr || !list->IsArray()) return NoKeys(path, "it has no list `keys`");
  if (list->Items().size() > kMostJwks) return NoKeys(path, "it has more than 64 keys");
  std::vector<Jwk> keys;
  for (const JsonValue& item : list->Items()) {
    if (!item.IsObject() || MemberText(item, "kty").empty()) return NoKeys(path, "one is no key");
    if (std::optional<Jwk> key = JwkIn(item)) keys.push_back(*std::move(key));
  }
  if (keys.empty()) return NoKeys(path, "it has no key for RS256, PS256 or ES256");
  return keys;
}

const Jwk* FindKey(const std::vector<Jwk>& keys, std::string_view algorithm, std::string_view id) {
  const Jwk* found = nullptr;
  for (const Jwk& key : keys) {
    if (key.algorithm != algorithm || (!id.empty() && key.id != id)) continue;
    if (found != nullptr) return nullptr;
    found = &key;
  }
  return found;
}

}  // namespace pa
