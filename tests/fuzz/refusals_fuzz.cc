// What a command prints, read for refusals: whatever it is, few names come of it, each can be shown
// and stands in the text, and reading the same lines twice says nothing new.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "supervisor/denials/refusals.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

bool IsControl(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

// What of the text can stand in a name: colours are taken out before, a lock lies beside what it
// locks, and shared memory in /dev/shm.
bool StandsIn(std::string_view text, std::string_view name) {
  constexpr std::string_view kShm = "/dev/shm";
  const bool memory = text.contains("_posixshmem.shm_") || text.contains("shared memory segment");
  if (memory && name.starts_with(kShm) && !text.contains(name)) name.remove_prefix(kShm.size());
  if (name.ends_with(".lock")) name.remove_suffix(5);
  return text.contains('\x1b') || text.contains(name);
}

void CheckRefusal(std::string_view text, const Refusal& refusal) {
  Check(refusal.names.size() <= kMaxRefusalNames);
  constexpr Reason kNameless[] = {Reason::kNoNetwork, Reason::kLocalSocket, Reason::kSomeSocket,
                                  Reason::kNoTerminal, Reason::kClosedCall};
  const bool nameless = std::ranges::find(kNameless, refusal.reason) != std::end(kNameless);
  const bool size =
      refusal.reason == Reason::kFileSignal || refusal.reason == Reason::kFileTooLarge;
  Check(size || nameless == refusal.names.empty());
  Check((nameless || size) == (refusal.uses == 0));
  for (const std::string& name : refusal.names) {
    Check(!name.empty() && name.size() < 5000 && IsValidUtf8(name));
    Check(std::ranges::none_of(name, IsControl));
    Check(StandsIn(text, name));
  }
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<pa::Refusal> refusals = pa::ReadRefusals(text);
  pa::Check(refusals.size() <= pa::kMaxRefusals);
  for (const pa::Refusal& refusal : refusals) pa::CheckRefusal(text, refusal);
  if (2 * size + 1 <= pa::kMaxRefusalText) {
    pa::Check(pa::ReadRefusals(text + "\n" + text).size() >= refusals.size());
  }
  return 0;
}
