#include "worker/outcome.h"

#include <algorithm>
#include <string_view>

namespace pa::worker {
namespace {

// Appends what fits; the last byte stays NUL.
std::size_t Append(std::span<char> buffer, std::size_t used, std::string_view text) {
  const std::size_t room = buffer.size() - 1 - used;
  return used + text.copy(buffer.data() + used, std::min(room, text.size()));
}

}  // namespace

void NoteFailure(Outcome& outcome, const SysError& error) {
  outcome.failed = true;
  outcome.sys_errno = error.sys_errno;
  const std::span<char> subject = outcome.subject;
  std::size_t used = Append(subject, 0, error.op);
  if (!error.subject.empty()) {
    used = Append(subject, used, " \"");
    used = Append(subject, used, error.subject);
    used = Append(subject, used, "\"");
  }
  subject[used] = '\0';
}

}  // namespace pa::worker
