// SHA-256 (FIPS 180-4) for the worker, which has no nettle. Freestanding. Other code uses
// base/digest.h.
//
//    Sha256 hash; hash.Update(bytes, size); std::uint8_t digest[kDigestBytes]; hash.Finish(digest);
#pragma once

#include <cstddef>
#include <cstdint>

namespace pa::worker {

inline constexpr std::size_t kDigestBytes = 32;

class Sha256 {
 public:
  void Update(const char* bytes, std::size_t size);
  void Finish(std::uint8_t (&digest)[kDigestBytes]);  // call it once

 private:
  static constexpr std::size_t kBlock = 64;

  void Mix(const std::uint8_t* block);

  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::uint8_t block_[kBlock] = {};
  std::uint64_t bytes_ = 0;
};

}  // namespace pa::worker
