// How the server and its spawner speak: packets of two SOCK_SEQPACKET sockets (base/packet.h), one
// request and one reply at a time on each.
//
//    start    SpawnerRequest kStart, descriptor: the helper's socket → SpawnerReply with its pid;
//             kLoad → SpawnerReply once the policy was read for the first time, and the
//             directories of the server are there;
//             kOpen, behind it the name of a file → SpawnerReply, descriptor: the file;
//             kRemove, behind it a packed SocketFile → SpawnerReply
//    look     SpawnerRequest kLoad; kLook, behind it the name of a directory; kIdentity; kGit,
//             behind it a packed list of directories → SpawnerReply
//
// Behind a reply follows a text: of an error its subject; of kLoad and kLook the packed list of
// paths that are reached elsewhere; of kIdentity a packed GitIdentityFound; of kGit what GitAtWork
// says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "supervisor/loop/spawner.h"

namespace pa {

inline constexpr std::size_t kMaxSpawnerText = 32u << 10;

struct SpawnerRequest {
  static constexpr std::uint32_t kMagic = 0x53534150;  // "PASS"
  enum class Kind : std::uint32_t {
    kStart,
    kLoad,  // read the policy again
    kLook,  // and what work in a directory needs
    kOpen,
    kRemove,
    kIdentity,
    kGit,
  };
  std::uint32_t magic = kMagic;
  Kind kind = Kind::kStart;
  Helper helper = Helper::kWorkers;
  std::uint8_t unused[3] = {};
};

struct SpawnerReply {
  std::uint32_t magic = SpawnerRequest::kMagic;
  std::int32_t sys_errno = 0;  // 0: it is done
  // Of the helper; with an error that of a child that has ended, or -1.
  std::int32_t pid = -1;
};

}  // namespace pa
