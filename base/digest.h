// SHA-256 (FIPS 180-4), implemented by nettle. The worker, which has no nettle,
// uses worker/sha256.h.
//
//    Digest digest = Sha256Of(line);
//    Sha256 hash; hash.Update(part); hash.Update(another); Digest whole = hash.Finish();
//    std::string hex = Hex(whole);
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pa {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void Update(std::string_view bytes);
  Digest Finish();  // call it once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest Sha256Of(std::string_view bytes);

// Takes the same time wherever the two differ.
bool SameDigest(const Digest& one, const Digest& other);

std::string Hex(const Digest& digest);  // 64 lower-case digits
// Nothing unless `hex` is 64 hexadecimal digits, in upper or lower case.
std::optional<Digest> FromHex(std::string_view hex);

}  // namespace pa
