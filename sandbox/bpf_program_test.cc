#include "sandbox/bpf_program.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/audit.h>

#include "sandbox/bpf_interpreter_for_test.h"

namespace pa::sandbox {
namespace {

constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;

std::uint32_t Answer(const std::string& program, int number, std::uint64_t arg0 = 0,
                     std::uint64_t arg1 = 0, std::uint32_t arch = AUDIT_ARCH_X86_64) {
  return RunBpf(program, {number, arch, 0, {arg0, arg1}}).value_or(0xdeadbeef);
}

std::string WithRule(ArgTest first, ArgTest second = {}) {
  const SyscallRule rule{"x", EPERM, "", first, second};
  Result<std::string> program =
      AssembleBpf(AUDIT_ARCH_X86_64,
                  {{0, SECCOMP_RET_ALLOW, {}}, {5, SECCOMP_RET_ALLOW, {rule}}, {6, kRefused, {}}});
  return program ? *program : "";
}

TEST(BpfProgram, EachRangeHasItsAction) {
  for (std::uint32_t count = 1; count <= 200; ++count) {
    std::vector<NumberRange> ranges;
    for (std::uint32_t i = 0; i < count; ++i) ranges.push_back({3 * i, SECCOMP_RET_ERRNO | i, {}});
    const Result<std::string> program = AssembleBpf(AUDIT_ARCH_X86_64, ranges);
    ASSERT_TRUE(program);
    for (std::uint32_t number = 0; number < 3 * count + 5; ++number) {
      const std::uint32_t range = std::min(number / 3, count - 1);
      ASSERT_EQ(Answer(*program, static_cast<int>(number)), SECCOMP_RET_ERRNO | range) << number;
    }
  }
}

TEST(BpfProgram, AnotherArchitectureDies) {
  const std::string program = WithRule({});
  EXPECT_EQ(Answer(program, 0, 0, 0, AUDIT_ARCH_I386), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(Answer(program, 0), SECCOMP_RET_ALLOW);
}

TEST(BpfProgram, AnyBit) {
  const std::string program = WithRule({ArgTest::Op::kAnyBit, 1, 0x6000, 0});
  EXPECT_EQ(Answer(program, 5, 0xffffffff, 0x9fff), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(program, 5, 0, 0x2000), kRefused);
  EXPECT_EQ(Answer(program, 5, 0, 0x4000), kRefused);
  EXPECT_EQ(Answer(program, 5, 0, 0x600000000000),
            SECCOMP_RET_ALLOW);  // the upper half does not count
}

TEST(BpfProgram, MaskedEqual) {
  const std::string program = WithRule({ArgTest::Op::kMaskedEqual, 0, 0x203, 0x200});
  EXPECT_EQ(Answer(program, 5, 0x200), kRefused);
  EXPECT_EQ(Answer(program, 5, 0xff00000000000140), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(program, 5, 0xdeadbeef00000a40), kRefused);
  EXPECT_EQ(Answer(program, 5, 0x201), SECCOMP_RET_ALLOW);
}

TEST(BpfProgram, NotIn) {
  const std::string program = WithRule({ArgTest::Op::kNotIn, 0, 0xffffffff, 1u << 1 | 1u << 31});
  for (std::uint64_t value = 0; value < 70; ++value) {
    EXPECT_EQ(Answer(program, 5, value), value == 1 || value == 31 ? SECCOMP_RET_ALLOW : kRefused);
  }
  EXPECT_EQ(Answer(program, 5, 0xffffffff), kRefused);
  EXPECT_EQ(Answer(program, 5, 0x100000001), SECCOMP_RET_ALLOW);  // the kernel takes it for 1
  const std::string masked = WithRule({ArgTest::Op::kNotIn, 0, 0xf, 1u << 1});
  EXPECT_EQ(Answer(masked, 5, 0x80801), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(masked, 5, 0x80802), kRefused);
}

TEST(BpfProgram, NotNullLooksAtBothHalves) {
  const std::string program = WithRule({ArgTest::Op::kNotNull, 0});
  EXPECT_EQ(Answer(program, 5, 0), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(program, 5, 1), kRefused);
  EXPECT_EQ(Answer(program, 5, 0x100000000), kRefused);
}

TEST(BpfProgram, NotListed) {
  static constexpr std::uint32_t kList[] = {0, 1, 2, 7, 9, 10, 0x5413, 0x80045430, 0xfffffffe};
  for (std::size_t size = 1; size <= std::size(kList); ++size) {
    const auto list = std::span(kList).first(size);
    const std::string program = WithRule({ArgTest::Op::kNotListed, 1, 0xffffffff, 0, list});
    std::vector<std::uint64_t> values = {0x5412, 0x5414, 0x8004542f, 0x80045431, 0xffffffff};
    for (std::uint64_t value = 0; value < 40; ++value) values.push_back(value);
    values.insert(values.end(), list.begin(), list.end());
    for (const std::uint64_t value : values) {
      const bool listed = std::ranges::find(list, value) != list.end();
      EXPECT_EQ(Answer(program, 5, 77, value), listed ? SECCOMP_RET_ALLOW : kRefused) << value;
      EXPECT_EQ(Answer(program, 5, 77, value | 1ull << 40), listed ? SECCOMP_RET_ALLOW : kRefused);
    }
  }
}

TEST(BpfProgram, BothTestsMustHold) {
  const std::string program =
      WithRule({ArgTest::Op::kMaskedEqual, 0, 0xff, 7}, {ArgTest::Op::kNotIn, 1, 0xff, 1u << 2});
  EXPECT_EQ(Answer(program, 5, 7, 3), kRefused);
  EXPECT_EQ(Answer(program, 5, 7, 2), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(program, 5, 6, 3), SECCOMP_RET_ALLOW);
}

// Far jumps: more code than a conditional jump reaches over, between what leads to the same end.
TEST(BpfProgram, ManyRangesWithRules) {
  const SyscallRule rule{
      "x", EPERM, "", {ArgTest::Op::kNotIn, 0, 0xff, 1u << 2}, {ArgTest::Op::kNotNull, 1}};
  std::vector<NumberRange> ranges;
  for (std::uint32_t i = 0; i < 120; ++i) {
    ranges.push_back({2 * i, SECCOMP_RET_ALLOW, {rule}});
    ranges.push_back({2 * i + 1, i % 2 == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | i, {}});
  }
  const Result<std::string> program = AssembleBpf(AUDIT_ARCH_X86_64, ranges);
  ASSERT_TRUE(program);
  for (int i = 0; i < 120; ++i) {
    const auto other = static_cast<std::uint32_t>(
        i % 2 == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | static_cast<unsigned>(i));
    ASSERT_EQ(Answer(*program, 2 * i, 3, 1), kRefused) << i;
    ASSERT_EQ(Answer(*program, 2 * i, 3, 0), SECCOMP_RET_ALLOW) << i;
    ASSERT_EQ(Answer(*program, 2 * i, 2, 1), SECCOMP_RET_ALLOW) << i;
    ASSERT_EQ(Answer(*program, 2 * i + 1), other) << i;
  }
}

TEST(BpfProgram, LongerThanTheKernelTakesIsAnError) {
  std::vector<NumberRange> ranges;
  for (std::uint32_t i = 0; i < 3000; ++i) ranges.push_back({i, SECCOMP_RET_ERRNO | i, {}});
  EXPECT_FALSE(AssembleBpf(AUDIT_ARCH_X86_64, ranges));
}

}  // namespace
}  // namespace pa::sandbox
