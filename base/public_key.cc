#include "base/public_key.h"

#include <nettle/bignum.h>
#include <nettle/dsa.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecc.h>
#include <nettle/ecdsa.h>
#include <nettle/rsa.h>

#include <utility>

#include "base/digest.h"

namespace pa {
namespace {

constexpr std::size_t kLeastBits = 2048;
constexpr std::size_t kMostBits = 8192;  // more would keep the loop's thread busy
constexpr std::size_t kMostExponentBits = 64;
constexpr std::size_t kCoordinate = 32;
constexpr std::size_t kSalt = 32;

// A number of GMP.
class BigNumber {
 public:
  explicit BigNumber(std::string_view big_endian) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(big_endian.data());
    nettle_mpz_init_set_str_256_u(value_, big_endian.size(), bytes);
  }
  ~BigNumber() { mpz_clear(value_); }
  BigNumber(const BigNumber&) = delete;
  BigNumber& operator=(const BigNumber&) = delete;

  mpz_srcptr get() const { return value_; }
  std::size_t Bits() const { return mpz_sizeinbase(value_, 2); }
  bool IsOdd() const { return mpz_odd_p(value_) != 0; }

 private:
  mpz_t value_;
};

}  // namespace

struct PublicKey::State {
  explicit State(bool is_rsa) : rsa(is_rsa) {
    rsa_public_key_init(&rsa_key);
    ecc_point_init(&point, nettle_get_secp_256r1());
  }
  ~State() {
    rsa_public_key_clear(&rsa_key);
    ecc_point_clear(&point);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool rsa;
  rsa_public_key rsa_key{};
  ecc_point point{};
};

std::optional<PublicKey> PublicKey::Rsa(std::string_view modulus, std::string_view exponent) {
  const BigNumber n(modulus);
  const BigNumber e(exponent);
  if (n.Bits() < kLeastBits || n.Bits() > kMostBits || !n.IsOdd()) return std::nullopt;
  if (e.Bits() < 2 || e.Bits() > kMostExponentBits || !e.IsOdd()) return std::nullopt;
  const auto state = std::make_shared<State>(true);
  mpz_set(state->rsa_key.n, n.get());
  mpz_set(state->rsa_key.e, e.get());
  if (rsa_public_key_prepare(&state->rsa_key) == 0) return std::nullopt;
  return PublicKey(state);
}

std::optional<PublicKey> PublicKey::P256(std::string_view x, std::string_view y) {
  if (x.size() != kCoordinate || y.size() != kCoordinate) return std::nullopt;
  const auto state = std::make_shared<State>(false);
  if (ecc_point_set(&state->point, BigNumber(x).get(), BigNumber(y).get()) == 0) {
    return std::nullopt;
  }
  return PublicKey(state);
}

bool PublicKey::IsRsa() const { return state_->rsa; }

bool PublicKey::Verifies(SignatureScheme scheme, std::string_view message,
                         std::string_view signature) const {
  if ((scheme != SignatureScheme::kEs256) != state_->rsa) return false;
  const Digest digest = Sha256Of(message);
  if (state_->rsa) {
    // RFC 8017, 8.1.2 and 8.2.2: as long as the modulus. nettle compares it with the modulus.
    if (signature.size() != state_->rsa_key.size) return false;
    const BigNumber number(signature);
    if (scheme == SignatureScheme::kRs256) {
      return rsa_sha256_verify_digest(&state_->rsa_key, digest.data(), number.get()) == 1;
    }
    return rsa_pss_sha256_verify_digest(&state_->rsa_key, kSalt, digest.data(), number.get()) == 1;
  }
  // RFC 7518, 3.4. nettle refuses r and s out of 1 to the order of the curve.
  if (signature.size() != 2 * kCoordinate) return false;
  const BigNumber r(signature.substr(0, kCoordinate));
  const BigNumber s(signature.substr(kCoordinate));
  dsa_signature both;
  dsa_signature_init(&both);
  mpz_set(both.r, r.get());
  mpz_set(both.s, s.get());
  const bool valid = ecdsa_verify(&state_->point, digest.size(), digest.data(), &both) == 1;
  dsa_signature_clear(&both);
  return valid;
}

}  // namespace pa
