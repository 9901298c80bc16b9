// How the server and its spawner speak: packets of two SOCK_SEQPACKET sockets (base/packet.h), one
// request and one reply at a time on each.
//
//    start    SpawnerRequest kStart, descriptor: the helper's socket → SpawnerReply with its pid
//    look     SpawnerRequest kLoad or kLook, with a directory → SpawnerReply, with what was added
//
// Of a reply with an error `text` is its subject; the pid is that of a child that has ended.
#pragma once

#include <cstdint>

#include "supervisor/loop/spawner.h"

namespace pa {

inline constexpr std::size_t kMaxSpawnerText = 32u << 10;

struct SpawnerRequest {
  static constexpr std::uint32_t kMagic = 0x53534150;  // "PASS"
  enum class Kind : std::uint32_t {
    kStart,
    kLoad,  // read the policy again
    kLook,  // and what work in `directory` needs
  };
  std::uint32_t magic = kMagic;
  Kind kind = Kind::kStart;
  Helper helper = Helper::kWorkers;
  char directory[4096] = {};  // ends with a NUL
};

struct SpawnerReply {
  std::uint32_t magic = SpawnerRequest::kMagic;
  std::int32_t sys_errno = 0;  // 0: it is done
  std::int32_t pid = -1;
  std::uint32_t size = 0;  // of the text
  char text[kMaxSpawnerText] = {};
};

}  // namespace pa
