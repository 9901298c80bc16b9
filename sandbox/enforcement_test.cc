#include "sandbox/enforcement.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <set>

namespace pa::sandbox {
namespace {

constexpr ResourceLimits kLimits{60, 1 << 30, 100, 1024, 1 << 30, 60'000, 2'000};

KernelFeatures Kernel(int abi) {
  KernelFeatures kernel;
  kernel.landlock_abi = abi;
  kernel.landlock_errno = abi == 0 ? EOPNOTSUPP : 0;
  kernel.seccomp_filter = true;
  return kernel;
}

Enforcement Report(int abi, Network network = Network::kNone) {
  Confinement confinement;
  confinement.network = network;
  return Assess(confinement, kLimits, Kernel(abi));
}

Level LevelOf(const Enforcement& report, const char* name) {
  const Protection* protection = report.Find(name);
  if (protection == nullptr) ADD_FAILURE() << name;
  return protection == nullptr ? Level::kNot : protection->level;
}

TEST(Enforcement, TheSameNamesInTheSameOrderAlways) {
  std::vector<std::string> names;
  for (const Protection& protection : Report(7).protections) names.push_back(protection.name);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (int abi = 0; abi <= 10; ++abi) {
    for (const Network network : {Network::kNone, Network::kFull}) {
      Confinement confinement;
      confinement.network = network;
      for (const ResourceLimits& limits : {kLimits, ResourceLimits{}}) {
        const Enforcement report = Assess(confinement, limits, Kernel(abi));
        ASSERT_EQ(report.protections.size(), names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
          EXPECT_EQ(report.protections[i].name, names[i]);
        }
      }
    }
  }
}

TEST(Enforcement, ByAndWhySayWhatTheLevelNeeds) {
  for (int abi = 0; abi <= 10; ++abi) {
    for (const Protection& protection : Report(abi, Network::kFull).protections) {
      EXPECT_EQ(protection.by.empty(), protection.level == Level::kNot) << protection.name;
      // The tree's says by whom it is ended.
      const bool needs_none =
          protection.level == Level::kEnforced && protection.name != "process_tree";
      EXPECT_EQ(protection.why.empty(), needs_none) << protection.name;
    }
  }
}

TEST(Enforcement, WhatTier0CannotGive) {
  for (const char* name : {"file_metadata", "disk_space", "process_list"}) {
    EXPECT_EQ(LevelOf(Report(10), name), Level::kNot) << name;
  }
  EXPECT_EQ(LevelOf(Report(10), "scheduling"), Level::kEnforced);
  EXPECT_EQ(LevelOf(Report(10), "protected_paths"), Level::kPartly);
  constexpr char kRestores[] = "a process that undoes changes is confined by seccomp";
  EXPECT_FALSE(Report(2).Find("protected_paths")->why.contains(kRestores));
  EXPECT_TRUE(Report(1).Find("protected_paths")->why.contains(kRestores));
  EXPECT_TRUE(Report(10).Complete());
}

TEST(Enforcement, SeccompFillsInForOlderLandlock) {
  for (const int abi : {1, 2}) {
    const Enforcement report = Report(abi);
    EXPECT_TRUE(report.Complete());
    for (const char* name : {"file_read", "truncate", "network_tcp", "network_udp", "unix_sockets",
                             "abstract_sockets"}) {
      EXPECT_EQ(LevelOf(report, name), Level::kEnforced) << name;
    }
    EXPECT_EQ(report.Find("truncate")->by, "seccomp");
  }
  EXPECT_EQ(Report(3).Find("truncate")->by, "landlock ABI 3");
  EXPECT_EQ(Report(9).Find("unix_sockets")->by, "landlock ABI 9, seccomp");
}

TEST(Enforcement, SeccompKeepsASearchFromTruncating) {
  Confinement confinement;
  confinement.seccomp = SeccompProfile::kSearch;
  const Enforcement report = Assess(confinement, kLimits, Kernel(10));
  EXPECT_EQ(LevelOf(report, "truncate"), Level::kEnforced);
  EXPECT_EQ(report.Find("truncate")->by, "seccomp");
}

TEST(Enforcement, WithoutAPidNamespaceTheTreeEndsAsLongAsSomebodyOfUsLives) {
  EXPECT_NE(Report(7).Find("process_tree")->why.find("without a deadline"), std::string::npos);
  Confinement confinement;
  confinement.namespaces = Namespaces::kAuto;
  KernelFeatures kernel = Kernel(7);
  kernel.namespaces = KernelFeatures::Granted::kYes;
  EXPECT_EQ(Assess(confinement, kLimits, kernel).Find("process_tree")->why, "");
}

TEST(Enforcement, SignalsAndTheTreeInPartBeforeAbi6) {
  for (const char* name : {"signals", "process_tree"}) {
    EXPECT_EQ(LevelOf(Report(5), name), Level::kPartly) << name;
    EXPECT_EQ(LevelOf(Report(6), name), Level::kEnforced) << name;
  }
  EXPECT_TRUE(Report(5).Complete());
  EXPECT_FALSE(Report(5).Full());
  EXPECT_TRUE(Report(6).Full());
}

Enforcement WithNamespaces(int abi, Network network, Namespaces wanted = Namespaces::kAuto,
                           KernelFeatures::Granted granted = KernelFeatures::Granted::kYes) {
  Confinement confinement;
  confinement.network = network;
  confinement.namespaces = wanted;
  KernelFeatures kernel = Kernel(abi);
  kernel.namespaces = granted;
  kernel.no_namespaces = "unshare: EPERM";
  return Assess(confinement, kLimits, kernel);
}

TEST(Enforcement, WhatNamespacesAdd) {
  const Enforcement report = WithNamespaces(5, Network::kNone);
  for (const char* name :
       {"file_metadata", "process_list", "scheduling", "shared_memory", "signals", "process_tree",
        "unix_sockets", "abstract_sockets", "namespaces", "processes"}) {
    EXPECT_EQ(LevelOf(report, name), Level::kEnforced) << name;
  }
  EXPECT_EQ(report.Find("file_metadata")->by, "mount namespace");
  EXPECT_EQ(report.Find("unix_sockets")->by, "mount namespace");
  EXPECT_EQ(LevelOf(report, "protected_paths"), Level::kPartly);
  EXPECT_EQ(report.Find("protected_paths")->by, "mount namespace, verification after the run");
  EXPECT_TRUE(report.Full());
  // The network is everybody's, and so are its abstract sockets.
  const Enforcement full = WithNamespaces(5, Network::kFull);
  EXPECT_EQ(full.Find("abstract_sockets")->by, "seccomp");
  EXPECT_EQ(full.Find("namespaces")->by, "user, mount, pid, ipc, uts");
}

// What holds while the command runs is less than what holds afterwards, and nobody shall take one
// for the other.
TEST(Enforcement, ProtectedPathsSayWhen) {
  for (const Enforcement& report : {Report(7), WithNamespaces(7, Network::kNone)}) {
    const std::string& why = report.Find("protected_paths")->why;
    EXPECT_TRUE(why.starts_with("during the call ")) << why;
    for (const char* said :
         {"; after the call ", "is killed first", "lists the paths that are not checked"}) {
      EXPECT_NE(why.find(said), std::string::npos) << said << " in: " << why;
    }
    const bool prevented = report.Find("namespaces")->level == Level::kEnforced;
    EXPECT_EQ(why.find("cannot be changed") != std::string::npos, prevented) << why;
    EXPECT_EQ(why.find("replaces them by rename") != std::string::npos, prevented) << why;
  }
}

TEST(Enforcement, RootsProcessesAreNotCountedByTheKernel) {
  Confinement confinement;
  confinement.namespaces = Namespaces::kAuto;
  KernelFeatures kernel = Kernel(7);
  kernel.namespaces = KernelFeatures::Granted::kYes;
  kernel.root = true;
  EXPECT_EQ(LevelOf(Assess(confinement, kLimits, kernel), "processes"), Level::kPartly);
}

// Landlock knows ioctl on devices since ABI 5; a view has terminals of its own with any.
TEST(Enforcement, IoctlOnDevices) {
  for (const int abi : {1, 4, 5, 10}) {
    const Level old = abi < 5 ? Level::kNot : Level::kEnforced;
    EXPECT_EQ(LevelOf(Report(abi), "device_ioctl"), old) << abi;
    EXPECT_EQ(LevelOf(WithNamespaces(abi, Network::kNone), "device_ioctl"),
              abi < 5 ? Level::kPartly : Level::kEnforced)
        << abi;
  }
}

TEST(Enforcement, NamespacesThatAreNotThere) {
  using Granted = KernelFeatures::Granted;
  const Enforcement off = WithNamespaces(7, Network::kNone, Namespaces::kOff);
  EXPECT_NE(off.Find("namespaces")->why.find("namespaces: off"), std::string::npos);
  EXPECT_EQ(LevelOf(off, "file_metadata"), Level::kNot);
  const Enforcement refused = WithNamespaces(7, Network::kNone, Namespaces::kAuto, Granted::kNo);
  EXPECT_NE(refused.Find("namespaces")->why.find("unshare: EPERM"), std::string::npos);
  EXPECT_TRUE(refused.Full());
  for (const Granted granted : {Granted::kNo, Granted::kUnknown}) {
    EXPECT_FALSE(WithNamespaces(7, Network::kNone, Namespaces::kRequire, granted).Complete());
  }
}

TEST(Enforcement, LoopbackIsNeverFaked) {
  EXPECT_TRUE(WithNamespaces(7, Network::kLoopback).Full());
  const Enforcement report =
      WithNamespaces(7, Network::kLoopback, Namespaces::kAuto, KernelFeatures::Granted::kNo);
  EXPECT_FALSE(report.Complete());
  EXPECT_EQ(LevelOf(report, "network_tcp"), Level::kNot);
}

TEST(Enforcement, WithoutLandlockNothingIsComplete) {
  const Enforcement report = Report(0);
  EXPECT_FALSE(report.Complete());
  EXPECT_EQ(LevelOf(report, "file_read"), Level::kNot);
  EXPECT_NE(report.Find("file_read")->why.find("lsm="), std::string::npos);
}

TEST(Enforcement, WithoutSeccompNothingIsComplete) {
  KernelFeatures kernel = Kernel(10);
  kernel.seccomp_filter = false;
  const Enforcement report = Assess({}, kLimits, kernel);
  EXPECT_FALSE(report.Complete());
  EXPECT_EQ(LevelOf(report, "mounts"), Level::kNot);
  EXPECT_EQ(LevelOf(report, "file_read"), Level::kEnforced);
}

TEST(Enforcement, WhatThePolicyGrantsIsListedAndNotMissing) {
  const Enforcement report = Report(7, Network::kFull);
  EXPECT_EQ(LevelOf(report, "network_tcp"), Level::kNot);
  EXPECT_NE(report.Find("network_tcp")->why.find("network: full"), std::string::npos);
  EXPECT_EQ(LevelOf(report, "network_other"), Level::kEnforced);
  EXPECT_TRUE(report.Complete());
  EXPECT_TRUE(report.Full());
}

TEST(Enforcement, NoLimitNoProtection) {
  const Enforcement report = Assess({}, {}, Kernel(7));
  EXPECT_EQ(LevelOf(report, "memory"), Level::kNot);
  EXPECT_EQ(LevelOf(Report(7), "memory"), Level::kPartly);
  EXPECT_EQ(LevelOf(report, "open_files"), Level::kNot);
  EXPECT_EQ(LevelOf(Report(7), "open_files"), Level::kEnforced);
  EXPECT_TRUE(report.Complete());
}

TEST(Enforcement, ACgroupBoundsTheWholeTree) {
  KernelFeatures kernel = Kernel(7);
  kernel.cgroup = KernelFeatures::Granted::kYes;
  const Enforcement report = Assess({}, kLimits, kernel);
  const Enforcement without = Assess({}, kLimits, Kernel(7));
  for (const char* name : {"memory", "processes", "cpu_time"}) {
    EXPECT_EQ(LevelOf(report, name), Level::kEnforced) << name;
    EXPECT_NE(report.Find(name)->by.find("cgroup"), std::string::npos) << name;
    EXPECT_NE(LevelOf(without, name), Level::kEnforced) << name;
  }
  EXPECT_EQ(LevelOf(report, "disk_space"), Level::kNot);
  EXPECT_EQ(LevelOf(report, "cpus"), Level::kNot) << "the policy sets no limit";
  ResourceLimits limits = kLimits;
  limits.cpus = 2;
  EXPECT_EQ(LevelOf(Assess({}, limits, kernel), "cpus"), Level::kNot) << "no controller";
  EXPECT_FALSE(Assess({}, limits, kernel).Complete()) << "what is asked for is promised";
  kernel.cgroup_cpu = true;
  EXPECT_EQ(LevelOf(Assess({}, limits, kernel), "cpus"), Level::kEnforced);
  EXPECT_TRUE(Assess({}, limits, kernel).Complete());
  EXPECT_EQ(LevelOf(Assess({}, {}, kernel), "memory"), Level::kNot) << "no limit";
}

TEST(Enforcement, ThisKernel) {
  const KernelFeatures kernel = DetectKernel();
  EXPECT_TRUE(kernel.seccomp_filter);
  EXPECT_FALSE(kernel.release.empty());
  EXPECT_EQ(kernel.landlock_abi == 0, kernel.landlock_errno != 0);
}

TEST(Enforcement, LevelNames) {
  EXPECT_STREQ(LevelName(Level::kEnforced), "enforced");
  EXPECT_STREQ(LevelName(Level::kPartly), "partly");
  EXPECT_STREQ(LevelName(Level::kNot), "not");
}

}  // namespace
}  // namespace pa::sandbox
