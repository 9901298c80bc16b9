#include "supervisor/text/unicode_forms.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

std::u32string Decomposed(char32_t point) {
  std::u32string form;
  AppendDecomposed(point, form);
  return form;
}

TEST(UnicodeForms, AreThoseOfUnicodeData) {
  EXPECT_EQ(Decomposed(U'\u00c0'), U"A\u0300") << "the first of the table";
  EXPECT_EQ(Decomposed(U'\u00e9'), U"e\u0301");
  EXPECT_EQ(Decomposed(U'\u1ebf'), U"e\u0302\u0301") << "two marks";
  EXPECT_EQ(Decomposed(U'\u1e2f'), U"i\u0308\u0301");
  EXPECT_EQ(Decomposed(U'\u0451'), U"\u0435\u0308");
  EXPECT_EQ(Decomposed(U'\u1fa7'), U"\u03c9\u0314\u0342\u0345");
  EXPECT_EQ(Decomposed(U'\u2260'), U"=\u0338");
  EXPECT_EQ(Decomposed(U'\u304c'), U"\u304b\u3099");
  EXPECT_EQ(Decomposed(U'\u30fe'), U"\u30fd\u3099") << "the last";
  EXPECT_EQ(Decomposed(U'\uac00'), U"\u1100\u1161");
  EXPECT_EQ(Decomposed(U'\ud7a3'), U"\u1112\u1175\u11c2");
}

TEST(UnicodeForms, LeaveAllElseAsItIs) {
  for (const char32_t point : {U'a', U'\u00bf', U'\u00df', U'\u0301', U'\u20ac', U'\uabff',
                               U'\ud7a4', U'\uffff', U'\U0001f600', U'\U0010ffff'}) {
    EXPECT_EQ(Decomposed(point), std::u32string(1, point)) << std::hex << std::uint32_t{point};
  }
}

}  // namespace
}  // namespace pa
