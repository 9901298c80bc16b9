// A Makefile that anybody may have written: what is told of its targets can be shown, and what
// looks beyond its text is seen wherever it stands.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/tools/make_database.h"
#include "supervisor/tools/makefile_text.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

void CheckDescriptions(std::string_view text) {
  for (const auto& [target, description] : TargetDescriptions(text)) {
    Check(IsOfferedTargetName(target));
    Check(!description.empty() && Utf8Prefix(description, 200) == description);
    Check(description.find_first_of("\r\n") == std::string::npos);
    Check(RepairUtf8(description) == description);
  }
}

void CheckTextAlone(std::string_view text) {
  // The first newline ends a line that goes on.
  const std::string whole = std::string(text) + "\n\n";
  const bool alone = DependsOnTextAlone(whole);
  Check(DependsOnTextAlone(whole + "# a comment\nX = 1\n") == alone);
  for (const std::string_view line :
       {"X := $(shell id)", "X = ${shell id}", "include other.mk", "-include other.mk", "X != id",
        "$(eval x: y)", "x: $(wildcard *.c)", "x: *.c", "x: ~/y", "MAKEFLAGS += -n", "define X",
        "load x.so", "X := $(file <x)"}) {
    Check(!DependsOnTextAlone(whole + std::string(line) + "\n"));
  }
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  pa::CheckDescriptions(text);
  pa::CheckTextAlone(text);
  return 0;
}
