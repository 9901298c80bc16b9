// What one system call number hides: requests of file systems that take no more than the right to
// read, and the programs that need the ordinary ones.
#include <gtest/gtest.h>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

constexpr std::string_view kSnapshot =
    ".PHONY: escape twin\n"
    "escape:\n\tbtrfs subvolume snapshot . ../elsewhere/snapshot\n"
    "twin:\n\tcp --reflink=always ours copy\n";

// On btrfs, with a directory beside the project that commands may read and no more. `namespaces` of
// the policy is the argument. Its output: what stands there after each step.
constexpr char kScript[] = R"sh(
mkdir disk
(truncate -s 128M image && mkfs.btrfs -q image && mount -o loop image disk) >&2 || exit 77
btrfs -q subvolume create disk/project >&2 || exit 77
mkdir disk/elsewhere
cp Makefile disk/project
echo ours >disk/project/ours
printf 'version: 1\nnamespaces: %s\nfilesystem: {read: [%s]}\n' \
  "$1" "$PWD/disk/elsewhere" >policy.yaml
cd disk/project
call() {
  "$SERVER" call --policy ../../policy.yaml --root "$PWD" --enable all \
    --json make "{\"target\":\"$1\"}" >&2
}
call escape
ls ../elsewhere
call twin && cat copy
make -s escape >&2
ls ../elsewhere
)sh";

class Snapshot : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Tiers, Snapshot, ::testing::Values("off", "require"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Snapshot, LandsNowhereThatMayOnlyBeRead) {
  const Project project(kSnapshot);
  const ProgramResult result = RunProgram(
      {.command = {"unshare", "-m", "sh", "-c", kScript, "sh", GetParam()},
       .environment = {"SERVER=" + BuiltProgram("PA_SERVER"), "HOME=" + project.home().string(),
                       "PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"},
       .directory = project.root()});
  if (result.exit_code == 77 || (result.output.empty() && result.exit_code == 1)) {
    GTEST_SKIP() << "btrfs takes root, loop devices and its tools (btrfs-progs)";
  }
  // Not by the server's command; by the same one outside.
  EXPECT_EQ(result.output, "ours\nsnapshot\n") << result.errors;
}

}  // namespace
}  // namespace pa::testing
