#include "sandbox/argument_lists.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace pa::sandbox {
namespace {

bool Has(std::span<const std::uint32_t> numbers, unsigned long number) {
  return std::ranges::find(numbers, static_cast<std::uint32_t>(number)) != numbers.end();
}

TEST(ArgumentLists, EveryLineIsWholeAndInOrder) {
  for (const auto list : {IoctlRequests(), FcntlCommands(), PrctlOptions()}) {
    for (const ListedArgument& line : list) {
      EXPECT_FALSE(std::string_view(line.name).empty()) << line.number;
      EXPECT_FALSE(std::string_view(line.reason).empty()) << line.name;
    }
    EXPECT_EQ(std::ranges::adjacent_find(list, std::greater_equal(), &ListedArgument::number),
              list.end());
  }
  EXPECT_EQ(IoctlNumbers().size(), IoctlRequests().size());
}

// Each was, or would be, a way out or a way to stop others. Their neighbours are listed.
TEST(ArgumentLists, WhatNoLineMayAllow) {
  const std::vector<unsigned long> requests = {TIOCSTI,
                                               TIOCSETD,
                                               TIOCLINUX,
                                               TIOCCONS,
                                               TIOCVHANGUP,
                                               TIOCSSERIAL,
                                               0x8901 /* FIOSETOWN */,
                                               FS_IOC_SETFLAGS,
                                               FS_IOC_FSSETXATTR,
                                               FIFREEZE,
                                               FITHAW,
                                               FITRIM,
                                               FIDEDUPERANGE,
                                               BTRFS_IOC_SNAP_CREATE_V2,
                                               BTRFS_IOC_SUBVOL_CREATE_V2,
                                               BTRFS_IOC_SNAP_DESTROY_V2,
                                               BTRFS_IOC_SUBVOL_SETFLAGS,
                                               0x40806685 /* FS_IOC_ENABLE_VERITY */,
                                               0x800c6613 /* FS_IOC_SET_ENCRYPTION_POLICY */,
                                               0x8914 /* SIOCSIFFLAGS */,
                                               0x8916 /* SIOCSIFADDR */,
                                               0x8946 /* SIOCETHTOOL */,
                                               0xb703 /* NS_GET_NSTYPE */};
  for (const unsigned long request : requests)
    EXPECT_FALSE(Has(IoctlNumbers(), request)) << request;
  for (const int command : {F_SETLEASE, F_GETLEASE, F_NOTIFY, 1024 + 15, 1024 + 16}) {
    EXPECT_FALSE(Has(FcntlNumbers(), static_cast<unsigned long>(command))) << command;
  }
  for (const int option : {PR_SET_MM, PR_SCHED_CORE, PR_SET_SECUREBITS, PR_MCE_KILL,
                           PR_TASK_PERF_EVENTS_DISABLE, PR_SET_IO_FLUSHER, 67, 1000}) {
    EXPECT_FALSE(Has(PrctlNumbers(), static_cast<unsigned long>(option))) << option;
  }
}

}  // namespace
}  // namespace pa::sandbox
