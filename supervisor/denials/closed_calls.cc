#include "supervisor/denials/closed_calls.h"

#include <algorithm>

#include "base/words.h"
#include "supervisor/denials/refusal_words.h"

namespace pa {
namespace {

// Both in lower case, and both in the line.
struct ClosedSign {
  std::string_view words;
  std::string_view more;
  ClosedCall call;
  bool by_privilege = false;
};

constexpr std::string_view kNotPermitted = "operation not permitted";

constexpr ClosedSign kClosedSigns[] = {
    {"no permission to enable", " event", ClosedCall::kPerformanceEvents},
    {"perf_event_open", kNotPermitted, ClosedCall::kPerformanceEvents},
    // sudo, where it is set-user-ID, and where that has no effect.
    {"\"no new privileges\" flag is set", "", ClosedCall::kIdentity},
    {"effective uid is not 0", "sudo", ClosedCall::kIdentity},
    // Its own files; with them it would get no further.
    {"sudo: unable to open ", "", ClosedCall::kIdentity},
    // PAM, whose configuration and helper are closed: su, runuser, chsh, passwd.
    {"critical error - immediate abort", "", ClosedCall::kIdentity},
    {"pam_start() failed, error 26", "", ClosedCall::kIdentity},
    {"unshare failed", kNotPermitted, ClosedCall::kNamespaces},
    {"bwrap: creating new namespace failed", kNotPermitted, ClosedCall::kNamespaces},
    {"bwrap: no permissions to create new namespace", "", ClosedCall::kNamespaces},
    {"ping: socket", "address family not supported", ClosedCall::kRawSocket},
    // Who is not root is refused these outside as well.
    {"setuid", kNotPermitted, ClosedCall::kIdentity, true},
    {"setgid", kNotPermitted, ClosedCall::kIdentity, true},
    {"setreuid", kNotPermitted, ClosedCall::kIdentity, true},
    {"setregid", kNotPermitted, ClosedCall::kIdentity, true},
    {"setresuid", kNotPermitted, ClosedCall::kIdentity, true},
    {"setresgid", kNotPermitted, ClosedCall::kIdentity, true},
    {"setgroups", kNotPermitted, ClosedCall::kIdentity, true},
    {"initgroups", kNotPermitted, ClosedCall::kIdentity, true},
    {"cannot change root directory", kNotPermitted, ClosedCall::kRoot, true},
    {"mount:", ": permission denied.", ClosedCall::kMount, true},
    {"umount failed", "permission denied", ClosedCall::kMount, true},
};

// What python calls in the frame above an errno that stands alone.
constexpr ClosedSign kClosedFrames[] = {
    {"os.unshare(", "", ClosedCall::kNamespaces},
    {"os.setuid(", "", ClosedCall::kIdentity, true},
    {"os.setgid(", "", ClosedCall::kIdentity, true},
    {"os.setgroups(", "", ClosedCall::kIdentity, true},
    {"os.initgroups(", "", ClosedCall::kIdentity, true},
    {"os.chroot(", "", ClosedCall::kRoot, true},
};

std::optional<Refusal> RefusalOf(std::span<const ClosedSign> signs, std::string_view lower) {
  for (const ClosedSign& sign : signs) {
    if (!HasWords(lower, sign.words) || !lower.contains(sign.more)) continue;
    return Refusal{
        .reason = Reason::kClosedCall, .call = sign.call, .by_privilege = sign.by_privilege};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> ReadClosedCall(std::string_view line, std::span<const std::string> before) {
  const std::string lower = Lowered(line);
  if (auto refusal = RefusalOf(kClosedSigns, lower)) return refusal;
  if (!lower.ends_with("permissionerror: [errno 1] operation not permitted")) return std::nullopt;
  for (const ClosedSign& frame : kClosedFrames) {
    if (IsCalledAbove(before, frame.words)) return RefusalOf({&frame, 1}, frame.words);
  }
  return std::nullopt;
}

ClosedCallDescription DescriptionOf(ClosedCall call) {
  switch (call) {
    case ClosedCall::kNone:
      break;
    case ClosedCall::kPerformanceEvents:
      return {"perf_event_open", "seccomp: performance events are closed to commands"};
    case ClosedCall::kIdentity:
      return {"setuid",
              "no_new_privs: no command becomes another user, and set-user-ID programs (su, sudo) "
              "get no rights"};
    case ClosedCall::kNamespaces:
      return {"unshare", "seccomp: commands make no namespaces"};
    case ClosedCall::kMount:
      return {"mount", "seccomp: commands mount nothing"};
    case ClosedCall::kRoot:
      return {"chroot", "seccomp: commands do not change their root"};
    case ClosedCall::kRawSocket:
      return {"socket", "seccomp: raw and ICMP sockets are closed to commands"};
  }
  return {};
}

}  // namespace pa
