#include "sandbox/bpf_program.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <map>
#include <ranges>
#include <span>
#include <utility>

namespace pa::sandbox {
namespace {

static_assert(std::endian::native == std::endian::little,
              "halves of an argument are in this order");

constexpr std::size_t kMaxJump = 255;  // a conditional jump has 8 bits

// About as many as kernels have. Those beyond count for nothing.
constexpr std::uint32_t kNumbers = 512;

// A program, written from its end to its beginning: jumps lead forward only, so whatever one leads
// to is there already, and the same return can serve many.
class Assembler {
 public:
  // Where execution goes on: an instruction, counted from the end.
  using Position = std::size_t;

  Position Statement(unsigned code, std::uint32_t value) {
    reversed_.push_back({static_cast<std::uint16_t>(code), 0, 0, value});
    return reversed_.size() - 1;
  }
  Position Load(std::size_t offset) {
    return Statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  Position LowerHalf(unsigned arg) {
    return Load(offsetof(seccomp_data, args) + std::size_t{8} * arg);
  }
  Position UpperHalf(unsigned arg) {
    return Load(offsetof(seccomp_data, args) + std::size_t{8} * arg + 4);
  }
  // One that is in reach of the next branch, or a new one.
  Position Return(std::uint32_t action) {
    const auto known = returns_.find(action);
    if (known != returns_.end() && InReach(known->second)) return known->second;
    return returns_[action] = Statement(BPF_RET | BPF_K, action);
  }
  Position Branch(unsigned test, std::uint32_t value, Position if_true, Position if_false) {
    // Bringing one of them nearer moves the other away by one, which InReach allows for.
    if (!InReach(if_true)) if_true = Nearer(if_true);
    if (!InReach(if_false)) if_false = Nearer(if_false);
    reversed_.push_back({static_cast<std::uint16_t>(BPF_JMP | BPF_K | test), Distance(if_true),
                         Distance(if_false), value});
    return reversed_.size() - 1;
  }

  // What is written next goes on there.
  void FallThroughTo(Position place) {
    if (place + 1 != reversed_.size()) Nearer(place);
  }

  std::size_t size() const { return reversed_.size(); }
  std::string Bytes() const {
    const std::vector<sock_filter> code(reversed_.rbegin(), reversed_.rend());
    return {reinterpret_cast<const char*>(code.data()), code.size() * sizeof(sock_filter)};
  }

 private:
  // Of a branch that comes next, or next but two.
  bool InReach(Position place) const { return reversed_.size() - place + 1 < kMaxJump; }
  std::uint8_t Distance(Position place) const {
    assert(reversed_.size() - place - 1 <= kMaxJump);
    return static_cast<std::uint8_t>(reversed_.size() - place - 1);
  }
  // An unconditional jump has 32 bits.
  Position Nearer(Position place) {
    return Statement(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(reversed_.size() - place - 1));
  }

  std::vector<sock_filter> reversed_;
  std::map<std::uint32_t, Position> returns_;  // the nearest of each action
};

using Position = Assembler::Position;

Position LoadMasked(Assembler& code, const ArgTest& test) {
  if (test.mask != 0xffffffff) code.Statement(BPF_ALU | BPF_AND | BPF_K, test.mask);
  return code.LowerHalf(test.arg);
}

// The first of each run of numbers without a gap, and the last.
struct Run {
  std::uint32_t first;
  std::uint32_t last;
};

std::vector<Run> RunsOf(std::span<const std::uint32_t> list) {
  std::vector<Run> runs;
  for (const std::uint32_t number : list) {
    if (!runs.empty() && runs.back().last + 1 == number) {
      runs.back().last = number;
    } else {
      runs.push_back({number, number});
    }
  }
  return runs;
}

// A balanced tree of comparisons: whether A is in one of the runs.
Position AmongRuns(Assembler& code, std::span<const Run> runs, Position listed, Position unlisted) {
  if (runs.size() > 1) {
    const std::size_t half = runs.size() / 2;
    const Position upper = AmongRuns(code, runs.subspan(half), listed, unlisted);
    const Position lower = AmongRuns(code, runs.first(half), listed, unlisted);
    return code.Branch(BPF_JGE, runs[half].first, upper, lower);
  }
  const auto [first, last] = runs[0];
  if (first == last) return code.Branch(BPF_JEQ, first, listed, unlisted);
  const Position within = code.Branch(BPF_JGE, last + 1, unlisted, listed);
  return code.Branch(BPF_JGE, first, within, unlisted);
}

// Where the test begins that leads to `holds` or to `fails`.
Position TestCode(Assembler& code, const ArgTest& test, Position holds, Position fails) {
  switch (test.op) {
    case ArgTest::Op::kNone:
      return holds;
    case ArgTest::Op::kAnyBit:
      code.Branch(BPF_JSET, test.mask, holds, fails);
      return code.LowerHalf(test.arg);
    case ArgTest::Op::kMaskedEqual:
      code.Branch(BPF_JEQ, test.value, holds, fails);
      return LoadMasked(code, test);
    case ArgTest::Op::kNotIn: {  // A = 1 << A, tested against the set; from 32 on it is in no set
      code.Branch(BPF_JSET, test.value, fails, holds);
      code.Statement(BPF_ALU | BPF_LSH | BPF_X, 0);
      code.Statement(BPF_LD | BPF_IMM, 1);
      const Position within = code.Statement(BPF_MISC | BPF_TAX, 0);
      code.Branch(BPF_JGE, 32, holds, within);
      return LoadMasked(code, test);
    }
    case ArgTest::Op::kNotNull: {
      code.Branch(BPF_JEQ, 0, fails, holds);
      const Position lower = code.LowerHalf(test.arg);
      code.Branch(BPF_JEQ, 0, lower, holds);
      return code.UpperHalf(test.arg);
    }
    case ArgTest::Op::kNotListed:
      assert(!test.list.empty() && test.list.back() != UINT32_MAX);
      AmongRuns(code, RunsOf(test.list), fails, holds);
      return code.LowerHalf(test.arg);
  }
  return holds;
}

// Whether two ranges are answered by the same code: chmod and fchmod are.
bool SameAnswer(const NumberRange& one, const NumberRange& other) {
  return one.action == other.action &&
         std::ranges::equal(one.rules, other.rules, [](const SyscallRule& a, const SyscallRule& b) {
           return a.error == b.error && a.first == b.first && a.second == b.second;
         });
}

// The rules of one range, one after the other, then its action.
Position RulesCode(Assembler& code, const NumberRange& range) {
  Position next = code.Return(range.action);
  for (const SyscallRule& rule : std::views::reverse(range.rules)) {
    const Position refused =
        code.Return(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(rule.error));
    const Position second = TestCode(code, rule.second, refused, next);
    next = TestCode(code, rule.first, second, next);
  }
  return next;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(Assembler& code) : code_(code) {}

  // A tree of comparisons, balanced by how many numbers are on either side: the kernel runs a
  // program once for each number when it is loaded, to remember which are always allowed
  // (Linux 5.11, kernel/seccomp.c, seccomp_cache_prepare), and that is most of what loading costs.
  // `end`: of the last range.
  Position Build(std::span<const NumberRange> ranges, std::uint32_t end) {
    if (ranges.size() == 1) return Leaf(ranges[0]);
    const std::size_t half = Middle(ranges, end);
    const Position upper = Build(ranges.subspan(half), end);
    const Position lower = Build(ranges.first(half), ranges[half].first);
    return code_.Branch(BPF_JGE, ranges[half].first, upper, lower);
  }

 private:
  // The range, not the first, that begins nearest to the middle of the numbers.
  static std::size_t Middle(std::span<const NumberRange> ranges, std::uint32_t end) {
    const std::uint32_t first = ranges[0].first;
    const std::uint32_t middle = first + (std::max(end, first) - first) / 2;
    const auto distance = [middle](const NumberRange& range) {
      return range.first > middle ? range.first - middle : middle - range.first;
    };
    const auto found = std::ranges::min_element(ranges.subspan(1), {}, distance);
    return static_cast<std::size_t>(found - ranges.subspan(1).begin()) + 1;
  }

  Position Leaf(const NumberRange& range) {
    if (range.rules.empty()) return code_.Return(range.action);
    for (const auto& [written, place] : written_) {
      if (SameAnswer(*written, range)) return place;
    }
    const Position place = RulesCode(code_, range);
    written_.emplace_back(&range, place);
    return place;
  }

  Assembler& code_;
  std::vector<std::pair<const NumberRange*, Position>> written_;
};

}  // namespace

Result<std::string> AssembleBpf(std::uint32_t architecture,
                                const std::vector<NumberRange>& ranges) {
  assert(!ranges.empty() && ranges[0].first == 0);
  Assembler code;
  code.FallThroughTo(TreeBuilder(code).Build(ranges, kNumbers));
  const Position by_number = code.Load(offsetof(seccomp_data, nr));
  const Position foreign = code.Return(SECCOMP_RET_KILL_PROCESS);
  code.Branch(BPF_JEQ, architecture, by_number, foreign);
  code.Load(offsetof(seccomp_data, arch));
  if (code.size() > BPF_MAXINSNS) return std::unexpected(Error("assemble BPF", "too long", E2BIG));
  return code.Bytes();
}

}  // namespace pa::sandbox
