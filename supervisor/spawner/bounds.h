// Bounds: what the spawner keeps helpers within, as it is found anew for each policy.
#pragma once

#include <string>
#include <vector>

#include "base/pack.h"
#include "policy/ceiling.h"
#include "sandbox/confinement.h"
#include "supervisor/loop/spawner.h"

namespace pa {

// What git needs of what lies elsewhere.
struct Elsewhere {
  // The repository of a linked worktree, or of a directory above, which names this one in turn.
  std::vector<sandbox::PathGrant> repositories;
  // What is only read to find protected paths: configuration, and the repository that a `.git` file
  // names whether or not that repository knows of it. For chores alone.
  std::vector<sandbox::PathGrant> read;
};

struct Bounds {
  policy::Ceiling ceiling;
  std::string worker;    // absolute path of project-actions-worker
  std::string tmp_base;  // in which the instance directories of the user's servers are
  // Beyond the policy's own, of the directories that were looked at.
  Elsewhere elsewhere;
  // The files that the server itself reads, as the spawner opens them for it: those of tokens, and
  // of an issuer's keys.
  std::vector<std::string> own;
  // The sockets on which it listens, of which it removes the files at its end.
  std::vector<std::string> sockets;
  // In which the server writes: made before it confines itself. Most are beneath `state`.
  std::vector<std::string> directories;
  std::string state;
  bool identity = false;  // the policy lets commands know who commits
};

// What each kind of helper can reach; nothing that is not there now, so it is asked anew for each
// start.
std::vector<sandbox::PathGrant> GrantsOfCommands(const Bounds& bounds);
std::vector<sandbox::PathGrant> GrantsOfChores(const Bounds& bounds);

template <>
inline constexpr sandbox::Network kLastOf<sandbox::Network> = sandbox::Network::kLoopback;
template <>
inline constexpr sandbox::Access kLastOf<sandbox::Access> = static_cast<sandbox::Access>(127);
template <>
inline constexpr sandbox::Symlinks kLastOf<sandbox::Symlinks> = sandbox::Symlinks::kRefuse;
template <>
inline constexpr sandbox::Replaced kLastOf<sandbox::Replaced> = sandbox::Replaced::kRarely;
template <>
struct PackedFields<sandbox::PathGrant> : PackedMembers<5> {};
template <>
struct PackedFields<sandbox::ResourceLimits> : PackedMembers<8> {};
template <>
struct PackedFields<policy::Ceiling> : PackedMembers<8> {};
template <>
struct PackedFields<SocketFile> : PackedMembers<3> {};
template <>
struct PackedFields<Elsewhere> : PackedMembers<2> {};
template <>
struct PackedFields<Bounds> : PackedMembers<9> {};

}  // namespace pa
