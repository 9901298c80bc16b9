#include "base/public_key.h"

#include <gtest/gtest.h>

#include <string>

#include "base/base64.h"

namespace pa {
namespace {

using enum SignatureScheme;

std::string Bytes(std::string_view text) { return FromBase64Url(text).value(); }

constexpr std::string_view kExponent = "AQAB";
constexpr std::string_view kModulus =
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4"
    "d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re"
    "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX"
    "FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
constexpr std::string_view kPayload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ";
constexpr std::string_view kX = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
constexpr std::string_view kY = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";

struct Signed {
  SignatureScheme scheme;
  std::string message;
  std::string signature;
};

// RFC 7515, A.2.
Signed Rs256() {
  return {
      kRs256, "eyJhbGciOiJSUzI1NiJ9." + std::string(kPayload),
      Bytes("cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt"
            "_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArL"
            "IARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7no"
            "OPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ"
            "Ge77Rw")};
}

// By the same key, made with Python's cryptography.
Signed Ps256() {
  return {
      kPs256, "eyJhbGciOiJQUzI1NiJ9." + std::string(kPayload),
      Bytes("mnRrEcd2_Ai2nGhzSCRzMrwZojrg1zArSfoUIYCYwqEjl1DyuZDqb9KLeI5LeJ_dq8dEZBNa_d-Xw__X-oRb"
            "57WKFf7JQfffliLsBoLBipCxpeFb0ojHnc6xVTOApqWT-wXElQ5e9Z3BeXmLS6Xw-fuYsyPLiQum0373Y8eB"
            "Dw-aO25y7kcmaFFj8Zzeii1lhOn6vCBhf6YUFX6FmyQtWJE2n4QVwiTVFr96kqJA4EQrkl2IJldBM9c9vP4G"
            "qHwLkjy_dfRkLyMbwIVnVLhtyzdBv6mc-aQOlOFxQ9H9Hc79e6WGCiC8YPLnF3TaLNI4Z-Tl2uKmOYSPRFPV"
            "W5hBnQ")};
}

// RFC 7515, A.3.
Signed Es256() {
  return {
      kEs256, "eyJhbGciOiJFUzI1NiJ9." + std::string(kPayload),
      Bytes("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU"
            "1Q")};
}

PublicKey RsaKey() { return *PublicKey::Rsa(Bytes(kModulus), Bytes(kExponent)); }
PublicKey CurveKey() { return *PublicKey::P256(Bytes(kX), Bytes(kY)); }

TEST(PublicKey, VerifiesWhatItsPrivateKeySigned) {
  for (const auto& [key, good] : {std::pair{RsaKey(), Rs256()}, std::pair{RsaKey(), Ps256()},
                                  std::pair{CurveKey(), Es256()}}) {
    EXPECT_TRUE(key.Verifies(good.scheme, good.message, good.signature));
    EXPECT_FALSE(key.Verifies(good.scheme, good.message + "x", good.signature));
    EXPECT_FALSE(key.Verifies(good.scheme, "", good.signature));
    for (std::size_t at = 0; at < good.signature.size(); at += 7) {
      std::string other = good.signature;
      other[at] = static_cast<char>(other[at] ^ 1);
      EXPECT_FALSE(key.Verifies(good.scheme, good.message, other)) << at;
    }
    // Of the right length alone: the same number with a zero before it is another signature.
    for (const std::string& other :
         {std::string(), good.signature.substr(1), '\0' + good.signature, good.signature + '\0',
          std::string(good.signature.size(), '\0'), std::string(good.signature.size(), '\xff')}) {
      EXPECT_FALSE(key.Verifies(good.scheme, good.message, other)) << other.size();
    }
    for (const SignatureScheme scheme : {kRs256, kPs256, kEs256}) {
      const bool same = scheme == good.scheme;
      EXPECT_EQ(key.Verifies(scheme, good.message, good.signature), same);
    }
  }
}

// FIPS 186-5: r and s are 1 to the order of the curve less 1. The order added to r is the same
// point, and 0 would fit every message of a naive verifier (CVE-2022-21449).
TEST(PublicKey, NumbersOutOfRangeAreNoSignature) {
  const Signed good = Es256();
  const std::string order = Bytes("_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE");
  const std::string zero(32, '\0');
  const std::string r = good.signature.substr(0, 32);
  const std::string s = good.signature.substr(32);
  for (const std::string& other : {zero + s, r + zero, zero + zero, order + s, r + order}) {
    EXPECT_FALSE(CurveKey().Verifies(kEs256, good.message, other));
  }
}

TEST(PublicKey, WeakKeysAreNone) {
  const std::string modulus = Bytes(kModulus);
  const std::string exponent = Bytes(kExponent);
  const std::string even = modulus.substr(0, modulus.size() - 1) + '\0';
  EXPECT_TRUE(PublicKey::Rsa('\0' + modulus, exponent)) << "a zero before it changes nothing";
  EXPECT_TRUE(PublicKey::Rsa(modulus, "\x03"));
  EXPECT_TRUE(PublicKey::Rsa(modulus + std::string(768, '\1'), exponent)) << "8192 bits";
  for (const std::string& n : {std::string(), modulus.substr(1), modulus.substr(128), even,
                               modulus + std::string(769, '\1')}) {
    EXPECT_FALSE(PublicKey::Rsa(n, exponent)) << n.size();
  }
  for (const std::string& e :
       {std::string(), std::string(1, '\0'), std::string("\x01"), std::string("\x02"),
        std::string("\1\0\2", 3), std::string("\1\1\1\1\1\1\1\1\1"), modulus}) {
    EXPECT_FALSE(PublicKey::Rsa(modulus, e)) << e.size();
  }
}

TEST(PublicKey, APointThatIsNotOnTheCurveIsNoKey) {
  const std::string x = Bytes(kX);
  const std::string y = Bytes(kY);
  EXPECT_TRUE(PublicKey::P256(x, y));
  const std::string zero(32, '\0');
  for (const auto& [one, other] :
       {std::pair{y, x}, std::pair{x, x}, std::pair{zero, zero}, std::pair{x, zero},
        std::pair{std::string(32, '\xff'), y}, std::pair{x.substr(1), y}, std::pair{'\0' + x, y},
        std::pair{x, std::string()}}) {
    EXPECT_FALSE(PublicKey::P256(one, other));
  }
}

}  // namespace
}  // namespace pa
