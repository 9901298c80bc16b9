// An issuer of access tokens, as tests have it: keys of P-256, sets of keys, and tokens.
//
//    const IssuerKey key("one");
//    WriteText(path, JwkSet({key.Jwk()}));
//    const std::string token = key.Token(R"({"iss": "https://issuer.example", ...})");
//
// A key is made from its name, so that each test program has the same.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace pa::testing {

std::string ToBase64Url(std::string_view bytes);

class IssuerKey {
 public:
  explicit IssuerKey(std::string id) : id_(std::move(id)) {}

  // `more`: members, with a comma before them.
  std::string Jwk(const std::string& more = "") const;
  // Texts of JSON; without a header that of ES256 with the key's name.
  std::string Token(std::string_view claims, std::string_view header = {}) const;

 private:
  std::string id_;
};

std::string JwkSet(std::initializer_list<std::string> keys);

}  // namespace pa::testing
