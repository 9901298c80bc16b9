#include "supervisor/jobs/template_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/sanitizers.h"

namespace pa {
namespace {

const std::vector<std::string> kEarlier = {"a", "list", "build-1"};
const std::vector<std::string> kAll = {"a", "list", "build-1", "later"};

// Text as it stands, references in <>.
std::string Parsed(std::string_view text) {
  const auto parsed = ParseTemplateText(text, kEarlier, kAll);
  if (!parsed) return "error: " + parsed.error().message;
  std::string shown;
  for (const TemplatePart& part : parsed->parts) {
    shown += part.reference ? "<" + part.reference->Print() + ">" : part.text;
  }
  return shown;
}

TEST(TemplateText, ReferencesAreFound) {
  EXPECT_EQ(Parsed("{{a}}"), "<{{a}}>");
  EXPECT_EQ(Parsed("x {{ a.b.c }} y {{list[0].name}}"), "x <{{a.b.c}}> y <{{list[0].name}}>");
  EXPECT_EQ(Parsed("{{a}}{{a}}"), "<{{a}}><{{a}}>");
  EXPECT_EQ(Parsed("{{list[*].x}}"), "<{{list[*].x}}>");
  EXPECT_EQ(Parsed(R"({{a["x}}y"].z}})"), R"(<{{a["x}}y"].z}}>)");
  EXPECT_EQ(Parsed("{{build-1.stdout}}"), "<{{build-1.stdout}}>");
  EXPECT_EQ(Parsed("{{\ta.b\t}}"), "<{{a.b}}>");
  EXPECT_EQ(Parsed("{{{a}}}"), "{{{a}}}") << "the first {{ begins {a, which is no id";
}

// JSX, Helm, C++, shells, printf: whoever writes them does not know that there are templates.
TEST(TemplateText, WhatIsNoTemplateStays) {
  for (const char* text : {
           "",
           "plain",
           "{a}",
           "$a %a% ${a}",
           "{{",
           "{{}}",
           "{{ }}",
           "}}",
           "{{.Values.a}}",
           "style={{color: 'red'}}",
           "std::array<int, 2> x{{1, 2}};",
           "{{\"a\": 1}}",
           "{{ q b }",
           "{{#if x}}",
           "{{'a'}}",
           "{{1}}",
           "{{-a}}",
           "\\{{color: 1}}",
           "\\\\{{.x}}",
           "a\\b",
           "{{color",
           "{{q.{{1}}",
           "{{$a}}",
       }) {
    EXPECT_EQ(Parsed(text), text);
  }
}

TEST(TemplateText, BackslashesBefore) {
  EXPECT_EQ(Parsed(R"(\{{a}})"), "{{a}}");
  EXPECT_EQ(Parsed(R"(\\{{a}})"), R"(\<{{a}}>)");
  EXPECT_EQ(Parsed(R"(\\\{{a}})"), R"(\{{a}})");
  EXPECT_EQ(Parsed(R"(\\\\{{a}}\)"), R"(\\<{{a}}>\)");
  EXPECT_EQ(Parsed(R"(\{{a.b} }})"), "{{a.b} }}") << "it was meant as one, and escaped";
  EXPECT_EQ(Parsed(R"(\{{later}} {{a}})"), "{{later}} <{{a}}>");
}

TEST(TemplateText, WhatWasMeantAsOneIsAnError) {
  EXPECT_EQ(Parsed("{{bild-1}}"), "error: there is no step 'bild-1' - did you mean 'build-1'?");
  EXPECT_EQ(Parsed("{{zzz.x}}"), "error: there is no step 'zzz'");
  EXPECT_EQ(Parsed("{{later.x}}"), "error: step 'later' does not come before this one");
  EXPECT_EQ(Parsed("x {{a b}}"),
            "error: {{a b: . or [ expected after the id; to write it as text put \\ before it");
  EXPECT_EQ(Parsed("{{a.b"),
            "error: {{a.b: there is no }} after it; to write it as text put \\ "
            "before it");
  EXPECT_TRUE(Parsed("{{a[-1]}}").starts_with("error: {{a[-1]: [0], [*] or "));
  EXPECT_TRUE(Parsed("{{a.}}").starts_with("error: "));
  const auto parsed = ParseTemplateText("123{{zzz}}", kEarlier, kAll);
  EXPECT_EQ(parsed.error().at, 3u);
}

TEST(TemplateText, AllOfATextOrNot) {
  EXPECT_NE(ParseTemplateText("{{a.b}}", kEarlier, kAll)->Whole(), nullptr);
  EXPECT_EQ(ParseTemplateText("{{a.b}} ", kEarlier, kAll)->Whole(), nullptr);
  EXPECT_EQ(ParseTemplateText("", kEarlier, kAll)->Whole(), nullptr);
  EXPECT_FALSE(ParseTemplateText("{{a.b}}", kEarlier, kAll)->Whole()->OfItems());
  EXPECT_FALSE(ParseTemplateText("{{a[\"b\"]}}", kEarlier, kAll)->Whole()->OfItems());
  EXPECT_TRUE(ParseTemplateText("{{a[0]}}", kEarlier, kAll)->Whole()->OfItems());
}

TEST(TemplateText, Ids) {
  for (const char* id : {"a", "_x", "Build-2", "a_b"}) EXPECT_TRUE(IsStepId(id)) << id;
  for (const char* id : {"", "1a", "-a", "a.b", "a b", "\u00e9"}) EXPECT_FALSE(IsStepId(id)) << id;
  EXPECT_TRUE(IsStepId(std::string(64, 'a')));
  EXPECT_FALSE(IsStepId(std::string(65, 'a')));
}

// What was parsed can be put together again, as long as no backslash stands before a template.
TEST(TemplateText, NothingIsLost) {
  std::mt19937 random(7);
  constexpr std::string_view kPieces[] = {"{{a", "{{list", "{{",      "}}", "a", "list",
                                          "[0]", ".x",     "[*]",     "{",  "}", " ",
                                          "zzz", "\"",     "[\"q\"]", "-",  "1", "\u00e9"};
  int references = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (std::size_t n = random() % 9; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
    const auto parsed = ParseTemplateText(text, kEarlier, kAll);
    if (!parsed) {
      ASSERT_LT(parsed.error().at, text.size());
      continue;
    }
    std::string again;
    for (const TemplatePart& part : parsed->parts) {
      ASSERT_NE(part.reference.has_value(), !part.text.empty());
      again += part.reference ? part.reference->Print() : part.text;
      references += part.reference ? 1 : 0;
    }
    const auto second = ParseTemplateText(again, kEarlier, kAll);
    ASSERT_TRUE(second.has_value()) << text << " as " << again;
    ASSERT_EQ(*second, *parsed) << text << " as " << again;
  }
  EXPECT_GT(references, 1000);
}

TEST(TemplateText, IsPrintedAsItIsReadBack) {
  for (const char* text : {R"({{a["d{{e"]}})", R"({{a.c["}"].d}})", R"({{list[0]["{"]}})"}) {
    const auto parsed = ParseTemplateText(text, kEarlier, kAll);
    ASSERT_TRUE(parsed && parsed->Whole() != nullptr) << text;
    EXPECT_EQ(parsed->Whole()->Print(), text);
  }
}

// Were a part of them looked at again for each `{{`, this would take hours.
TEST(TemplateText, IsReadOnceHoweverItIsMade) {
  constexpr std::size_t kBlanks = testing::Volume(1U << 20);
  for (const std::string& piece :
       {std::string("{{x."), std::string("{{ "), std::string("{{x[\""), std::string("{{x['{{x[\""),
        std::string("\\\\{{"), std::string("{{x.b}} "), std::string("{{{")}) {
    std::string text;
    while (text.size() < testing::Volume(4U << 20)) text += piece;
    text.append(kBlanks, ' ');
    const std::string parsed = Parsed(text);
    EXPECT_TRUE(parsed.starts_with("error: ") || parsed.size() >= kBlanks) << piece;
  }
}

}  // namespace
}  // namespace pa
