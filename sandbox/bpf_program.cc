#include "sandbox/bpf_program.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <bit>
#include <cassert>
#include <cstddef>
#include <span>

namespace pa::sandbox {
namespace {

static_assert(std::endian::native == std::endian::little,
              "halves of an argument are in this order");

using Code = std::vector<sock_filter>;

constexpr std::size_t kMaxJump = 255;  // a conditional jump has 8 bits

sock_filter Statement(unsigned code, std::uint32_t value) {
  return {static_cast<std::uint16_t>(code), 0, 0, value};
}
sock_filter Return(std::uint32_t action) { return Statement(BPF_RET | BPF_K, action); }
sock_filter Load(std::size_t offset) {
  return Statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter LowerHalf(unsigned arg) {
  return Load(offsetof(seccomp_data, args) + std::size_t{8} * arg);
}
sock_filter UpperHalf(unsigned arg) {
  return Load(offsetof(seccomp_data, args) + std::size_t{8} * arg + 4);
}

// Jumps over `if_true` or `if_false` instructions.
sock_filter Branch(unsigned test, std::uint32_t value, std::size_t if_true, std::size_t if_false) {
  assert(if_true <= kMaxJump && if_false <= kMaxJump);
  return {static_cast<std::uint16_t>(BPF_JMP | BPF_K | test), static_cast<std::uint8_t>(if_true),
          static_cast<std::uint8_t>(if_false), value};
}

Code LoadMasked(const ArgTest& test) {
  Code code = {LowerHalf(test.arg)};
  if (test.mask != 0xffffffff) code.push_back(Statement(BPF_ALU | BPF_AND | BPF_K, test.mask));
  return code;
}

void Append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

// Falls through if the test holds, else jumps over the `rest` instructions that follow.
Code TestCode(const ArgTest& test, std::size_t rest) {
  Code code;
  switch (test.op) {
    case ArgTest::Op::kNone:
      break;
    case ArgTest::Op::kAnyBit:
      code = {LowerHalf(test.arg), Branch(BPF_JSET, test.mask, 0, rest)};
      break;
    case ArgTest::Op::kMaskedEqual:
      code = LoadMasked(test);
      code.push_back(Branch(BPF_JEQ, test.value, 0, rest));
      break;
    case ArgTest::Op::kNotIn:  // A = 1 << A, tested against the set; from 32 on it is in no set
      code = LoadMasked(test);
      Append(code, {Branch(BPF_JGE, 32, 4, 0), Statement(BPF_MISC | BPF_TAX, 0),
                    Statement(BPF_LD | BPF_IMM, 1), Statement(BPF_ALU | BPF_LSH | BPF_X, 0),
                    Branch(BPF_JSET, test.value, rest, 0)});
      break;
    case ArgTest::Op::kNotNull:
      code = {UpperHalf(test.arg), Branch(BPF_JEQ, 0, 0, 2), LowerHalf(test.arg),
              Branch(BPF_JEQ, 0, rest, 0)};
      break;
  }
  return code;
}

// The rules of one number, one after the other, then its action.
Code RulesCode(const NumberRange& range) {
  Code code;
  for (const SyscallRule& rule : range.rules) {
    const auto error = static_cast<std::uint32_t>(rule.error);
    Code tail = TestCode(rule.second, 1);
    tail.push_back(Return(SECCOMP_RET_ERRNO | error));
    Append(code, TestCode(rule.first, tail.size()));
    Append(code, tail);
  }
  code.push_back(Return(range.action));
  return code;
}

// A balanced tree of comparisons. Each leaf is one instruction, so a subtree of n leaves has 2n
// - 1. Leaves with rules jump to `blocks`, which come after the whole tree: an unconditional jump
// has 32 bits.
void Tree(std::span<const NumberRange> ranges, std::size_t size_of_tree, Code& tree, Code& blocks) {
  if (ranges.size() == 1) {
    if (ranges[0].rules.empty()) return tree.push_back(Return(ranges[0].action));
    const std::size_t over = size_of_tree - tree.size() - 1 + blocks.size();
    tree.push_back(Statement(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(over)));
    return Append(blocks, RulesCode(ranges[0]));
  }
  const std::size_t half = ranges.size() / 2;
  tree.push_back(Branch(BPF_JGE, ranges[half].first, 2 * half - 1, 0));
  Tree(ranges.first(half), size_of_tree, tree, blocks);
  Tree(ranges.subspan(half), size_of_tree, tree, blocks);
}

}  // namespace

Result<std::string> AssembleBpf(std::uint32_t architecture,
                                const std::vector<NumberRange>& ranges) {
  assert(!ranges.empty() && ranges[0].first == 0);
  if (ranges.size() > kMaxJump)
    return std::unexpected(Error("assemble BPF", "too many ranges", E2BIG));
  Code code = {Load(offsetof(seccomp_data, arch)), Branch(BPF_JEQ, architecture, 1, 0),
               Return(SECCOMP_RET_KILL_PROCESS), Load(offsetof(seccomp_data, nr))};
  Code tree, blocks;
  Tree(ranges, 2 * ranges.size() - 1, tree, blocks);
  Append(code, tree);
  Append(code, blocks);
  if (code.size() > BPF_MAXINSNS) return std::unexpected(Error("assemble BPF", "too long", E2BIG));
  return std::string(reinterpret_cast<const char*>(code.data()), code.size() * sizeof(sock_filter));
}

}  // namespace pa::sandbox
