#include "base/digest.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

// FIPS 180-4's own examples (NIST, "SHA256.pdf", and the empty message of the CAVP vectors).
TEST(Digest, KnownAnswers) {
  EXPECT_EQ(Hex(Sha256Of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Sha256Of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Digest, PartsMakeTheWhole) {
  const std::string million(1'000'000, 'a');
  Sha256 hash;
  for (std::size_t at = 0; at < million.size(); at += 999) {
    hash.Update(std::string_view(million).substr(at, 999));
  }
  EXPECT_EQ(Hex(hash.Finish()), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, AStateCanBeMoved) {
  Sha256 first;
  first.Update("ab");
  Sha256 second = std::move(first);
  second.Update("c");
  EXPECT_EQ(second.Finish(), Sha256Of("abc"));
}

TEST(DigestTest, ReadsWhatItWrites) {
  const Digest digest = Sha256Of("abc");
  EXPECT_EQ(FromHex(Hex(digest)), digest);
  std::string upper = Hex(digest);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(FromHex(upper), digest);
  const std::string hex = Hex(digest);
  for (const std::string& bad :
       {std::string(), hex.substr(1), hex + "0", "x" + hex.substr(1), hex.substr(0, 63) + " ",
        "-" + hex.substr(1), "0x" + hex.substr(2)}) {
    EXPECT_FALSE(FromHex(bad)) << bad;
  }
}

TEST(Digest, TheSameInEveryByte) {
  const Digest digest = Sha256Of("abc");
  EXPECT_TRUE(SameDigest(digest, Sha256Of("abc")));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    Digest other = digest;
    other[i] ^= 1;
    EXPECT_FALSE(SameDigest(digest, other)) << i;
  }
}

}  // namespace
}  // namespace pa
