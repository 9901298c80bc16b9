#include "supervisor/tools/makefile_generate.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

bool Holds(std::string_view language, const std::string& target, const std::string& command) {
  const std::string text = MakefileFor(language);
  const std::size_t rule = text.find("\n.PHONY: " + target + "\n" + target + ": ## ");
  if (rule == std::string::npos) return false;
  const std::size_t recipe = text.find("\n\t", rule);
  return text.compare(recipe, command.size() + 3, "\n\t" + command + "\n") == 0;
}

TEST(MakefileGenerateTest, Python) {
  EXPECT_TRUE(Holds("python", "fix", "ruff check --fix ."));
  EXPECT_TRUE(Holds("python", "format", "black ."));
  EXPECT_TRUE(Holds("python", "lint", "ruff check ."));
  EXPECT_TRUE(Holds("python", "test", "python -m pytest"));
  EXPECT_EQ(MakefileFor("python").find("build"), std::string::npos);
}

TEST(MakefileGenerateTest, Rust) {
  EXPECT_TRUE(Holds("rust", "fix", "cargo clippy --fix"));
  EXPECT_TRUE(Holds("rust", "format", "cargo fmt"));
  EXPECT_TRUE(Holds("rust", "lint", "cargo clippy"));
  EXPECT_TRUE(Holds("rust", "test", "cargo test"));
  EXPECT_TRUE(Holds("rust", "build", "cargo build"));
}

TEST(MakefileGenerateTest, Go) {
  EXPECT_TRUE(Holds("go", "fix", "go fmt ./..."));
  EXPECT_TRUE(Holds("go", "format", "go fmt ./..."));
  EXPECT_TRUE(Holds("go", "lint", "golangci-lint run"));
  EXPECT_TRUE(Holds("go", "test", "go test ./..."));
  EXPECT_TRUE(Holds("go", "build", "go build ./..."));
}

TEST(MakefileGenerateTest, Nodejs) {
  EXPECT_TRUE(Holds("nodejs", "fix", "npm run lint:fix"));
  EXPECT_TRUE(Holds("nodejs", "format", "npm run format"));
  EXPECT_TRUE(Holds("nodejs", "lint", "npm run lint"));
  EXPECT_TRUE(Holds("nodejs", "test", "npm test"));
}

TEST(MakefileGenerateTest, DefaultComesFirst) {
  for (const char* language : {"python", "rust", "go", "nodejs"}) {
    const std::string text = MakefileFor(language);
    EXPECT_TRUE(text.starts_with(".PHONY: default\ndefault: ")) << language;
    EXPECT_NE(text.find("\n\t@echo \"No default action\"\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace pa
