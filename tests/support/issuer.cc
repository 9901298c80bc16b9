#include "tests/support/issuer.h"

#include <nettle/base64.h>
#include <nettle/bignum.h>
#include <nettle/dsa.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecc.h>
#include <nettle/ecdsa.h>
#include <nettle/sha2.h>
#include <sys/random.h>

#include <array>
#include <cstdint>

namespace pa::testing {
namespace {

using Hash = std::array<std::uint8_t, 32>;

const std::uint8_t* Data(std::string_view bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

Hash HashOf(std::string_view bytes) {
  Hash hash;
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), Data(bytes));
  sha256_digest(&context, hash.size(), hash.data());
  return hash;
}

void Random(void*, std::size_t length, std::uint8_t* to) {
  if (getrandom(to, length, 0) != static_cast<ssize_t>(length)) std::abort();
}

std::string Bytes(const mpz_t number) {
  std::array<std::uint8_t, 32> bytes;
  nettle_mpz_get_str_256(bytes.size(), bytes.data(), number);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Scalar {
  explicit Scalar(const std::string& name) {
    mpz_t number;
    const Hash hash = HashOf(name);
    nettle_mpz_init_set_str_256_u(number, hash.size(), hash.data());
    ecc_scalar_init(&value, nettle_get_secp_256r1());
    if (ecc_scalar_set(&value, number) == 0) std::abort();
    mpz_clear(number);
  }
  ~Scalar() { ecc_scalar_clear(&value); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  ecc_scalar value;
};

std::string Sign(const std::string& name, std::string_view text) {
  const Scalar scalar(name);
  const Hash hash = HashOf(text);
  dsa_signature signature;
  dsa_signature_init(&signature);
  ecdsa_sign(&scalar.value, nullptr, Random, hash.size(), hash.data(), &signature);
  const std::string both = Bytes(signature.r) + Bytes(signature.s);
  dsa_signature_clear(&signature);
  return both;
}

}  // namespace

std::string ToBase64Url(std::string_view bytes) {
  std::string text(BASE64_ENCODE_LENGTH(bytes.size()) + BASE64_ENCODE_FINAL_LENGTH, '\0');
  base64_encode_ctx context;
  base64url_encode_init(&context);
  std::size_t size = base64_encode_update(&context, text.data(), bytes.size(), Data(bytes));
  size += base64_encode_final(&context, text.data() + size);
  text.resize(size);
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::string IssuerKey::Jwk(const std::string& more) const {
  const Scalar scalar(id_);
  ecc_point point;
  ecc_point_init(&point, nettle_get_secp_256r1());
  ecc_point_mul_g(&point, &scalar.value);
  mpz_t x;
  mpz_t y;
  mpz_init(x);
  mpz_init(y);
  ecc_point_get(&point, x, y);
  std::string jwk = R"({"kty": "EC", "crv": "P-256", "kid": ")" + id_ + R"(", "x": ")" +
                    ToBase64Url(Bytes(x)) + R"(", "y": ")" + ToBase64Url(Bytes(y)) + "\"" + more +
                    "}";
  mpz_clear(x);
  mpz_clear(y);
  ecc_point_clear(&point);
  return jwk;
}

std::string IssuerKey::Token(std::string_view claims, std::string_view header) const {
  const std::string usual = R"({"alg": "ES256", "typ": "at+jwt", "kid": ")" + id_ + "\"}";
  const std::string text = ToBase64Url(header.empty() ? usual : header) + "." + ToBase64Url(claims);
  return text + "." + ToBase64Url(Sign(id_, text));
}

std::string JwkSet(std::initializer_list<std::string> keys) {
  std::string all;
  for (const std::string& key : keys) all += (all.empty() ? "" : ", ") + key;
  return R"({"keys": [)" + all + "]}";
}

}  // namespace pa::testing
