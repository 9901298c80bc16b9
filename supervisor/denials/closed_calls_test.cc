#include "supervisor/denials/closed_calls.h"

#include <gtest/gtest.h>

#include <vector>

namespace pa {
namespace {

struct ClosedMessage {
  const char* text;
  ClosedCall call;
  bool by_privilege = false;
};

// As programs of Debian 12 print them in the sandbox.
TEST(ClosedCallsTest, WhatProgramsSay) {
  using enum ClosedCall;
  for (const ClosedMessage& message : {
           ClosedMessage{"No permission to enable task-clock event.", kPerformanceEvents},
           {"perf_event_open(..., 0) failed unexpectedly with error 1 (Operation not permitted)",
            kPerformanceEvents},
           {"sudo: The \"no new privileges\" flag is set, which prevents sudo from running as "
            "root.",
            kIdentity},
           {"sudo: unable to open /etc/sudo.conf: Permission denied", kIdentity},
           {"sudo: effective uid is not 0, is /usr/bin/sudo on a file system with the 'nosuid' "
            "option set or an NFS file system without root privileges?",
            kIdentity},
           {"sudo: PERM_SUDOERS: setresuid(-1, 1, -1): Operation not permitted", kIdentity, true},
           {"su: Critical error - immediate abort", kIdentity},
           {"chsh: PAM: Critical error - immediate abort", kIdentity},
           {"passwd: pam_start() failed, error 26", kIdentity},
           {"setgroups: Operation not permitted", kIdentity, true},  // newgrp
           {"setpriv: setresuid failed: Operation not permitted", kIdentity, true},
           {"unshare: unshare failed: Operation not permitted", kNamespaces},
           {"bwrap: Creating new namespace failed: Operation not permitted", kNamespaces},
           {"bwrap: No permissions to create new namespace, likely because the kernel does not "
            "allow non-privileged user namespaces.",
            kNamespaces},
           {"chroot: cannot change root directory to '/': Operation not permitted", kRoot, true},
           {"mount: /mnt: permission denied.", kMount, true},
           {"umount: /proc: umount failed: Permission denied.", kMount, true},
           {"/usr/bin/ping: socket: Address family not supported by protocol", kRawSocket},
       }) {
    const Refusal expected{
        .reason = Reason::kClosedCall, .call = message.call, .by_privilege = message.by_privilege};
    EXPECT_EQ(ReadClosedCall(message.text, {}), expected) << message.text;
    EXPECT_EQ(ReadRefusals(message.text), std::vector{expected}) << "before all else";
    EXPECT_NE(DescriptionOf(message.call).syscall, "") << message.text;
    EXPECT_TRUE(DescriptionOf(message.call).blocked_by.contains(": ")) << message.text;
  }
}

TEST(ClosedCallsTest, WhatIsSaidOfSomethingElse) {
  for (const char* text : {
           "bash: line 1: kill: (1) - Operation not permitted",
           "checking for unshare... no",
           "main.c:3: error: implicit declaration of function 'setuid'",
           "mount: /mnt: must be superuser to use mount.",  // outside as well
           "mount: /mnt: mount point is not a directory.",
           "perf: 'statt' is not a perf-command.",
           "shipping: socket: Address family not supported by protocol",
           "",
       }) {
    EXPECT_EQ(ReadClosedCall(text, {}), std::nullopt) << text;
  }
}

TEST(ClosedCallsTest, PythonNamesTheCallAbove) {
  const std::string error = "PermissionError: [Errno 1] Operation not permitted";
  const auto call = [&](const std::string& statement) {
    const std::vector<std::string> before = {
        "Traceback (most recent call last):", "  File \"x.py\", line 1, in <module>",
        "    " + statement};
    const auto refusal = ReadClosedCall(error, before);
    return refusal ? refusal->call : ClosedCall::kNone;
  };
  EXPECT_EQ(call("os.unshare(os.CLONE_NEWNET)"), ClosedCall::kNamespaces);
  EXPECT_EQ(call("os.setuid(1001)"), ClosedCall::kIdentity);
  EXPECT_EQ(call("os.chroot('/')"), ClosedCall::kRoot);
  EXPECT_EQ(call("os.kill(1, 0)"), ClosedCall::kNone);
  EXPECT_EQ(ReadClosedCall(error, {}), std::nullopt);
}

}  // namespace
}  // namespace pa
