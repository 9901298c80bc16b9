#include "tests/escapes/protections.h"

#include <algorithm>

namespace pa::testing {

const std::vector<Proof>& Proofs() {
  // In doctor's order.
  static const std::vector<Proof> kProofs = {
      {"file_read",
       {"ReadSshKey", "ReadOtherProject", "ListOutside", "ReadThroughSymlink", "ReadThroughDotDot",
        "ReadThroughOwnCwd", "LinkSecretIn", "MoveSecretIn", "ArchiveHome", "OpenByHandle",
        "ReadShadow", "DiscoveryReadsSecret", "GitHookReadsSecret"}},
      {"file_write",
       {"CreateOutside",
        "AppendToBashrc",
        "RenameOut",
        "RenameOver",
        "RenameIn",
        "Exchange",
        "LinkAndWrite",
        "LinkOut",
        "SymlinkAndWrite",
        "SymlinkRace",
        "Unlink",
        "MakeDirectory",
        "RemoveDirectory",
        "MakeFifo",
        "MakeSymlink",
        "CreateInTmp",
        "CreateInVarTmp",
        "CreateInDevShm",
        "DiscoveryWritesProject",
        "DiscoveryRemakesInclude",
        "DryRunWritesProject",
        "GitHookWritesOutside",
        "GitFilterWritesOutside"}},
      {"truncate", {"TruncateOutside", "OpenTruncating"}},
      {"file_metadata",
       {"ChangeMode", "ChangeTimes", "ChangeOwner", "ChangeModeOfDevice", "WatchWithInotify",
        "SetAttribute", "DryRunChangesMode"}},
      {"device_ioctl", {"DeviceIoctl"}},
      {"protected_paths",
       {"GitHookWritten",          "GitHookLinked",         "GitHookBySymlink",
        "GitHookRenamed",          "GitHooksReplaced",      "GitConfigChanged",
        "GitMovedAside",           "GitReplacedBySymlink",  "GitReplacedByLinkFile",
        "GitCommonDirectoryNamed", "GitWorktreeRedirected", "GitHooksPathWritten",
        "GitIncludeWritten",       "GitRepositoryMade",     "GitSubmoduleMade",
        "GitConfigChangedByHook",  "HostServersNamed",      "HostServersOfGemini",
        "HostHooksChanged",        "HostHooksReplaced",     "HostDirectoryReplaced",
        "HostDirectoryLinked",     "HostTasksWritten",      "HostShellEntered",
        "HostWorktreeEntered",     "HostServersNamedByHook"}},
      {"disk_space", {"FillDisk"}},
      {"network_tcp",
       {"Tcp", "Tcp6", "TcpFastOpen", "TcpWithGnuTools", "Listen", "DiscoveryConnects"}},
      {"network_udp", {"Udp"}},
      {"network_other",
       {"MultipathTcp", "MultipathTcpThoughTcpIsGranted", "RawSocket", "PacketSocket",
        "VirtualMachineSocket", "CryptoSocket", "NetlinkUevent", "NetlinkGeneric"}},
      {"unix_sockets", {"UnixPathSocket", "UnixDatagramPair"}},
      {"abstract_sockets", {"UnixAbstractSocket"}},
      {"signals",
       {"SignalBystander", "SignalEverybody", "SignalByQueue", "SignalThread", "SignalByPidfd",
        "SignalAsOwner", "SignalServer", "SignalGuardian", "SignalLauncher"}},
      {"process_tree",
       {"DiscoveryLeavesDaemon", "GitHookLeavesDaemon", "Setsid", "DoubleFork", "IgnoreSignals",
        "HoldOutput", "Stopped", "Relay", "Nohup"}},
      {"process_memory",
       {"Trace", "ReadMemory", "ReadMemoryFile", "BystanderEnvironment", "ServerEnvironment",
        "BystanderDescriptors", "BystanderRoot", "BystanderDirectory", "LimitBystander"}},
      {"process_list", {"CommandLineOfBystander", "PageCounts"}},
      {"scheduling",
       {"ReniceBystander", "ReniceServer", "PinBystander", "PinServer", "IdleBystander",
        "IdleInputBystander"}},
      {"shared_memory", {"SharedMemory", "MessageQueue"}},
      {"mounts", {"Mount", "NewMountApi", "OpenTree", "Chroot"}},
      {"new_namespaces",
       {"MountNamespace", "JoinNamespace", "UserNamespace", "CloneNamespace", "Clone3Namespace"}},
      {"kernel_interfaces",
       {"Bpf", "Keyring", "IoUring", "AsynchronousIo", "LeaseFile", "WatchWithDnotify", "Perf",
        "UserFault", "ModifyLdt", "Int80", "X32"}},
      {"privileges", {"GainByExecution", "SetHostName"}},
      {"set_id_files", {"SetUserIdBit", "SetGroupIdBit"}},
      {"terminal_injection", {"WriteTerminal", "StuffTerminal", "LineDiscipline"}},
      {"inherited_descriptors", {"InheritedDescriptor"}},
      {"namespaces", {"SeeOutside"}},
      {"wall_time", {"WallTime"}},
      {"cpu_time", {"CpuTime", "CpuTimeOfMany"}},
      {"memory", {"Memory", "MemoryWithoutMapping"}},
      {"processes", {"ForkBomb"}},
      {"cpus", {"TwoProcessors"}},
      {"open_files", {"OpenFiles"}},
      {"file_size", {"FileSize"}},
      {"",
       {"GitHookRunsThoughSkipped", "GitFilterRunsThoughSkipped", "SecretInEnvironment",
        "MakeFlagsFromServer", "GitVariablesFromServer", "PreloadFromServer"}},
  };
  return kProofs;
}

const Proof* ProofOf(std::string_view attempt) {
  const auto found = std::ranges::find_if(Proofs(), [&](const Proof& proof) {
    return std::ranges::find(proof.attempts, attempt) != proof.attempts.end();
  });
  return found == Proofs().end() ? nullptr : &*found;
}

}  // namespace pa::testing
