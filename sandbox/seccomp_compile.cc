// From the table of refused calls to a finished BPF program; the only user of libseccomp, which
// knows the names and numbers of this architecture.
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <bitset>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/try.h"
#include "sandbox/bpf_program.h"
#include "sandbox/prepared.h"
#include "sandbox/syscall_sets.h"

namespace pa::sandbox {
namespace {

constexpr std::uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kX32 = 0x40000000;

using RulesByNumber = std::map<int, std::vector<SyscallRule>>;

using Numbers = std::bitset<kLastReviewed + 1>;

// Those of this architecture. Found once: for each of them libseccomp looks through its table.
const Numbers& KnownNumbers() {
  static const Numbers known = [] {
    Numbers numbers;
    for (std::size_t number = 0; number < numbers.size(); ++number) {
      const std::unique_ptr<char, decltype(&std::free)> name(
          seccomp_syscall_resolve_num_arch(seccomp_arch_native(), static_cast<int>(number)),
          &std::free);
      numbers[number] = name != nullptr;
    }
    return numbers;
  }();
  return known;
}

// A name that this libseccomp or this architecture lacks has a negative number and is left out: if
// the kernel has it all the same, its number is unknown here and refused for that.
RulesByNumber GroupByNumber(const std::vector<SyscallRule>& rules) {
  RulesByNumber grouped;
  for (const SyscallRule& rule : rules) {
    const int number = seccomp_syscall_resolve_name(rule.name);
    if (number >= 0) grouped[number].push_back(rule);
  }
  return grouped;
}

NumberRange Decide(int number, const RulesByNumber& rules) {
  const auto first = static_cast<std::uint32_t>(number);
  const auto found = rules.find(number);
  if (found == rules.end()) return {first, SECCOMP_RET_ALLOW, {}};
  const SyscallRule& rule = found->second.front();
  if (rule.first.op == ArgTest::Op::kNone) {  // whatever the arguments are
    return {first, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(rule.error), {}};
  }
  return {first, SECCOMP_RET_ALLOW, found->second};
}

void AppendMerged(NumberRange range, std::vector<NumberRange>& ranges) {
  const bool same = !ranges.empty() && range.rules.empty() && ranges.back().rules.empty() &&
                    ranges.back().action == range.action;
  if (!same) ranges.push_back(std::move(range));
}

std::vector<NumberRange> OnlyTheAllowed(SeccompProfile profile, Network network) {
  const bool tries_newer = profile == SeccompProfile::kFrontDoor ||
                           profile == SeccompProfile::kJanitor ||
                           profile == SeccompProfile::kServer;
  const RulesByNumber rules = GroupByNumber(RulesOfListed(profile, network));
  const std::uint32_t otherwise = tries_newer ? kNoSuchCall : SECCOMP_RET_KILL_PROCESS;
  std::set<std::uint32_t> allowed;
  for (const AllowedSyscall& call : OnlySyscalls(profile)) {
    const int number = seccomp_syscall_resolve_name(call.name);
    if (number >= 0) allowed.insert(static_cast<std::uint32_t>(number));
  }
  std::vector<NumberRange> ranges;
  AppendMerged({0, otherwise, {}}, ranges);
  for (const std::uint32_t number : allowed) {
    if (ranges.back().first == number) ranges.pop_back();
    AppendMerged(Decide(static_cast<int>(number), rules), ranges);
    AppendMerged({number + 1, otherwise, {}}, ranges);
  }
  return ranges;
}

std::vector<NumberRange> AllButTheRefused(const RulesByNumber& rules) {
  std::vector<NumberRange> ranges;
  const Numbers& known = KnownNumbers();
  for (int number = 0; number <= kLastReviewed; ++number) {
    const auto first = static_cast<std::uint32_t>(number);
    const bool is_known = known[static_cast<std::size_t>(number)];
    AppendMerged(is_known ? Decide(number, rules) : NumberRange{first, kNoSuchCall, {}}, ranges);
  }
  AppendMerged({kLastReviewed + 1, kNoSuchCall, {}}, ranges);
  if (seccomp_arch_native() ==
      SCMP_ARCH_X86_64) {  // x32 is a second table behind the same architecture
    AppendMerged({kX32, SECCOMP_RET_KILL_PROCESS, {}}, ranges);
    AppendMerged({0xffffffff, kNoSuchCall, {}}, ranges);  // syscall(-1), the usual test for seccomp
  }
  return ranges;
}

}  // namespace

Result<SeccompProgram> CompileSeccomp(SeccompProfile profile, Network network, int landlock_abi,
                                      Sight sight) {
  const bool listed = !OnlySyscalls(profile).empty();
  const std::vector<NumberRange> ranges =
      listed
          ? OnlyTheAllowed(profile, network)
          : AllButTheRefused(GroupByNumber(RefusedSyscalls(profile, network, landlock_abi, sight)));
  PA_TRY(std::string program, AssembleBpf(seccomp_arch_native(), ranges));
  return std::make_shared<const std::string>(std::move(program));
}

}  // namespace pa::sandbox
