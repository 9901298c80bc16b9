// What `make -p` prints, and the Makefile's own text: whatever they are, what comes of them is
// bounded, the same in any chunks, and only names that may be offered are offered.
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/tools/make_database.h"
#include "supervisor/tools/makefile_text.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

MakeDatabase Read(std::string_view text, std::size_t chunk) {
  MakeDatabase database;
  for (; text.size() > chunk; text.remove_prefix(chunk)) database.Feed(text.substr(0, chunk));
  database.Feed(text);
  database.Finish();
  return database;
}

void CheckDatabase(std::string_view text, std::size_t chunk) {
  const MakeDatabase whole = Read(text, text.size() + 1);
  const MakeDatabase pieces = Read(text, chunk);
  const MakeDatabase::Targets targets = whole.Phony();
  Check(targets.offered == pieces.Phony().offered);
  Check(targets.refused == pieces.Phony().refused);
  Check(whole.Makefiles() == pieces.Makefiles());
  for (const std::string& name : targets.offered) Check(IsOfferedTargetName(name));
  for (const std::string& name : targets.refused) Check(!IsOfferedTargetName(name));
}

void CheckText(std::string_view text) {
  for (const auto& [name, description] : TargetDescriptions(text)) {
    Check(IsOfferedTargetName(name));
    Check(!description.empty() && IsValidUtf8(description));
    Check(description.find('\n') == description.npos);
  }
  // What makes a Makefile depend on more does not go away when more stands behind it.
  if (!DependsOnTextAlone(text)) Check(!DependsOnTextAlone(std::string(text) + "\n\n"));
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  pa::CheckDatabase(text, size == 0 ? 1 : data[0] % 16 + 1);
  pa::CheckText(text);
  return 0;
}
