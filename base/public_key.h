// PublicKey: checks signatures (RFC 7518, 3.3 to 3.5), by nettle. It signs nothing.
//
//    const std::optional<PublicKey> key = PublicKey::Rsa(modulus, exponent);   // big-endian bytes
//    if (key && key->Verifies(SignatureScheme::kRs256, message, signature)) ...
//
// Which scheme goes with a key is for whoever has the key to say, never for a message.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace pa {

enum class SignatureScheme : std::uint8_t {
  kRs256,  // RSASSA-PKCS1-v1_5 with SHA-256
  kPs256,  // RSASSA-PSS with SHA-256 and a salt of 32 bytes
  kEs256,  // ECDSA on P-256 with SHA-256; a signature is r and s, 32 bytes each
};

class PublicKey {
 public:
  // Nothing unless the modulus has 2048 to 8192 bits, and the exponent is odd, at least 3 and has
  // no more than 64 bits.
  static std::optional<PublicKey> Rsa(std::string_view modulus, std::string_view exponent);
  // Nothing unless these are 32 bytes each, and a point of the curve.
  static std::optional<PublicKey> P256(std::string_view x, std::string_view y);

  bool IsRsa() const;
  // False, too, if the scheme is none of this kind of key.
  bool Verifies(SignatureScheme scheme, std::string_view message, std::string_view signature) const;

 private:
  struct State;
  explicit PublicKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace pa
