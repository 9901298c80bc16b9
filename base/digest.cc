#include "base/digest.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>

#include <charconv>
#include <string>
#include <system_error>

namespace pa {
namespace {

const std::uint8_t* BytesOf(std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace

struct Sha256::State {
  sha256_ctx context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(std::string_view bytes) {
  sha256_update(&state_->context, bytes.size(), BytesOf(bytes));
}

Digest Sha256::Finish() {
  Digest digest{};
  sha256_digest(&state_->context, digest.size(), digest.data());
  return digest;
}

Digest Sha256Of(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

bool SameDigest(const Digest& one, const Digest& other) {
  return nettle_memeql_sec(one.data(), other.data(), one.size()) != 0;
}

std::string Hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<Digest> FromHex(std::string_view hex) {
  Digest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* end = hex.data() + 2 * i + 2;
    const auto [last, error] = std::from_chars(end - 2, end, digest[i], 16);
    if (error != std::errc() || last != end) return std::nullopt;
  }
  return digest;
}

}  // namespace pa
