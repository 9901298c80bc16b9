// An interpreter for the part of classic BPF that seccomp allows: it tells what the kernel would
// answer.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace pa::sandbox {

// The action (SECCOMP_RET_*) of `program` for `data`; nothing if the program is malformed.
inline std::optional<std::uint32_t> RunBpf(std::string_view program, const seccomp_data& data) {
  const std::size_t size = program.size() / sizeof(sock_filter);
  std::uint32_t a = 0, x = 0;
  for (std::size_t pc = 0; pc < size; ++pc) {
    sock_filter i;
    std::memcpy(&i, program.data() + pc * sizeof(i), sizeof(i));
    switch (i.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (i.k + 4 > sizeof(data) || i.k % 4 != 0) return std::nullopt;
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + i.k, 4);
        break;
      case BPF_LD | BPF_IMM:
        a = i.k;
        break;
      case BPF_MISC | BPF_TAX:
        x = a;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= i.k;
        break;
      case BPF_ALU | BPF_LSH | BPF_X:
        a = x < 32 ? a << x : 0;
        break;
      case BPF_JMP | BPF_JA:
        pc += i.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        pc += a == i.k ? i.jt : i.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        pc += a >= i.k ? i.jt : i.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        pc += (a & i.k) != 0 ? i.jt : i.jf;
        break;
      case BPF_RET | BPF_K:
        return i.k;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;  // ran off the end
}

}  // namespace pa::sandbox
