// What a command left of an operation of git's. Input: a byte that picks the judgement, what stood
// there, NUL, what stands there now.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "policy/git_state.h"
#include "tests/fuzz/check.h"

namespace {

using pa::policy::ExecutesNothingNew;
using enum pa::policy::GitJudgement;

// What a shell would do more with than take it apart.
bool HasUnquoted(std::string_view text) {
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (!quoted && std::string_view("$`;&|<>(){}\"*?~#").contains(c)) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  constexpr pa::policy::GitJudgement kAll[] = {kSteps,        kWords,        kAuthor,  kStrategy,
                                               kMergeOptions, kApplyOptions, kSigning, kRerere,
                                               kObject,       kSheet};
  const auto judgement = kAll[static_cast<unsigned char>(input.front()) % std::size(kAll)];
  const std::size_t end = std::min(input.find('\0', 1), input.size());
  const std::string before = input.substr(1, end - 1);
  const std::string after = input.substr(std::min(end + 1, input.size()));
  pa::Check(ExecutesNothingNew(judgement, after, after));
  pa::Check(!ExecutesNothingNew(kSteps, "", after + "\nexec x\n"));
  if (!ExecutesNothingNew(judgement, before, after)) return 0;
  if (judgement == kSteps) pa::Check(ExecutesNothingNew(kSteps, before, after + "\npick x\n"));
  // A quote behind a backslash opens none.
  const bool plain = !after.contains('\\') && before != after;
  if ((judgement == kWords || judgement == kAuthor) && plain) pa::Check(!HasUnquoted(after));
  if (judgement == kStrategy && before != after) pa::Check(!after.contains('/'));
  if (judgement == kMergeOptions && before != after) pa::Check(!after.contains("index-output"));
  return 0;
}
