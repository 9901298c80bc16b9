// How the supervisor and the janitor's process speak: packets of a SOCK_SEQPACKET socket
// (base/packet.h), and two memfds for each chore.
//
//    order    JanitorPacket, descriptors: input, answer, done; then `more` descriptors in further
//             packets
//    reply    JanitorReply, with a descriptor of the chore's process (pidfd_open(2)) if it runs
//    input    size:u64 of what is packed, { chore, read, write } packed, JanitorOrder::input
//    answer   JanitorAnswer at the start, written last; the answer behind it
//
//    done     a pipe: one byte if there is an answer; hang-up if the process ended without
#pragma once

#include <cstdint>

namespace pa {

inline constexpr int kJanitorFd = 3;
inline constexpr const char* kJanitorOption = "--janitor";  // argv[1] of that process

struct JanitorPacket {
  static constexpr std::uint32_t kMagic = 0x4a574150;  // "PAWJ"
  std::uint32_t magic = kMagic;
  std::uint32_t more = 0;    // descriptors in the packets that follow
  std::uint64_t number = 0;  // of the order
};

struct JanitorReply {
  std::uint64_t number = 0;
  std::int32_t sys_errno = 0;  // 0: it runs
};

struct JanitorAnswer {
  enum class State : std::uint32_t {
    kNone,         // the process did not get that far
    kDone,         // `size` bytes of answer follow
    kNotConfined,  // `size` bytes of error message follow, for `sys_errno`; nothing was done
    kOutOfMemory,
  };
  State state = State::kNone;
  std::int32_t sys_errno = 0;
  std::uint64_t size = 0;
};

}  // namespace pa
