#include "worker/sha256.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/digest.h"

namespace pa::worker {
namespace {

Digest Ours(const std::string& bytes, std::size_t piece) {
  Sha256 hash;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    hash.Update(bytes.data() + at, std::min(piece, bytes.size() - at));
  }
  std::uint8_t digest[kDigestBytes];
  hash.Finish(digest);
  return std::to_array(digest);
}

TEST(WorkerSha256Test, TheOneOfTheStandard) {
  EXPECT_EQ(Hex(Ours("abc", 1)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Around each border of a block and of its padding, and however it is fed.
TEST(WorkerSha256Test, IsWhatNettleSays) {
  std::string bytes;
  for (std::size_t size = 0; size < 300; ++size) {
    for (const std::size_t piece : {1u, 7u, 64u, 300u}) {
      ASSERT_EQ(Ours(bytes, piece), Sha256Of(bytes)) << size << " in pieces of " << piece;
    }
    bytes += static_cast<char>(size * 37);
  }
  const std::string large(1'000'003, 'a');
  EXPECT_EQ(Ours(large, 65'536), Sha256Of(large));
}

}  // namespace
}  // namespace pa::worker
