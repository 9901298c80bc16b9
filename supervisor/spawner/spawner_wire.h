// How the server and its spawner speak: packets of two SOCK_SEQPACKET sockets (base/packet.h), one
// request and one reply at a time on each.
//
//    start    SpawnerRequest kStart, descriptor: the helper's socket → SpawnerReply with its pid;
//             kLoad → SpawnerReply once the policy was read for the first time, and the
//             directories of the server are there, descriptor: the policy;
//             kOpen, behind it the name of a file → SpawnerReply, descriptor: the file;
//             kRemove, behind it a packed SocketFile → SpawnerReply
//    look     SpawnerRequest kLoad → SpawnerReply, descriptor: the policy; kTake; kLook, behind it
//             the name of a directory; kIdentity; kGit, behind it a packed list of directories
//             → SpawnerReply
//
// A policy is a packed ServerPolicy in a file that nobody can change. Behind a reply follows a
// text: of an error its subject; of kTake and kLook the packed list of paths that are reached
// elsewhere; of kIdentity a packed GitIdentityFound; of kGit what GitAtWork says.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/pack.h"
#include "base/try.h"
#include "supervisor/loop/spawner.h"

namespace pa {

inline constexpr std::size_t kMaxSpawnerText = 32u << 10;
inline constexpr std::size_t kMaxPackedPolicy = 16u << 20;

// What a file of packed values has.
template <typename T>
Result<T> PackedIn(int file, const char* name) {
  PA_TRY(const std::string bytes, ReadFileFrom(file, name, kMaxPackedPolicy));
  T value;
  Unpacker unpacker(bytes);
  if (unpacker(value) && unpacker.AtEnd()) return value;
  return std::unexpected(Error("unpack", name, EBADMSG));
}

struct SpawnerRequest {
  static constexpr std::uint32_t kMagic = 0x53534150;  // "PASS"
  enum class Kind : std::uint32_t {
    kStart,
    kLoad,  // read the policy as it is on disk; nothing changes yet
    kTake,  // the policy that was read last bounds helpers from now on
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
