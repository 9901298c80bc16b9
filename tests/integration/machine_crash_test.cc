// What was acknowledged is there after a crash of the machine: of the image of a disk, copied right
// after the reply, as the disk would have it if the power went then.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

struct FileSystem {
  const char* name;
  const char* make;
  const char* options;  // nothing is written by itself while the test runs
};

void PrintTo(const FileSystem& one, std::ostream* out) { *out << one.name; }

class MachineCrash : public ::testing::TestWithParam<FileSystem> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "loop devices take root";
  }
  // `steps` in a directory with project and state on a disk of its own; `crash` in it is one.
  ProgramResult Run(const std::string& steps) const {
    return RunProgram(
        {.command = {"unshare", "-m", "sh", "-c", kBegin + steps},
         .environment = {"SERVER=" + BuiltProgram("PA_SERVER"),
                         "MKFS=" + std::string(GetParam().make),
                         "OPTIONS=" + std::string(GetParam().options),
                         "XDG_STATE_HOME=" + (project_.root() / "disk/state").string(),
                         "HOME=" + project_.home().string(),
                         "PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"},
         .directory = project_.root()});
  }
  // What they say; nothing: they could not begin.
  static std::optional<std::string> Output(const ProgramResult& result) {
    constexpr std::string_view kBegun = "begun\n";
    if (!result.output.starts_with(kBegun)) return std::nullopt;
    return result.output.substr(kBegun.size());
  }

  static constexpr const char* kBegin = R"sh(
call() { "$SERVER" call --root disk/project --enable all --json "$@" 2>> log; }
crash() { cp --sparse=always ../image ../copy && umount disk && mount -o loop ../copy disk; }
mkdir disk && truncate -s 128M ../image && $MKFS ../image >&2 &&
  mount -o "loop,$OPTIONS" ../image disk || exit
echo begun
mkdir disk/project disk/state
cd disk/project && printf a1 > a && printf b1 > b && cd ../.. && sync
)sh";

  const Project project_{""};
};

INSTANTIATE_TEST_SUITE_P(On, MachineCrash,
                         ::testing::Values(FileSystem{"Ext4", "mkfs.ext4 -q", "commit=300"},
                                           FileSystem{"Btrfs", "mkfs.btrfs -q", "commit=300"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

constexpr const char* kMissing = "loop devices, or this file system, are not to be had here";

TEST_P(MachineCrash, AnEditOfSeveralFilesStays) {
  const ProgramResult result = Run(R"sh(
call edit '{"edits":[{"path":"a","old":"1","new":"2"},{"path":"b","old":"1","new":"2"}]}' \
  | grep -o '"success":[a-z]*'
crash
call read '{"path":"a"}' > /dev/null
cat disk/project/a disk/project/b && echo
ls disk/state/project-actions/edits
)sh");
  const std::optional<std::string> output = Output(result);
  if (!output) GTEST_SKIP() << kMissing;
  EXPECT_EQ(*output, "\"success\":true\na2b2\n") << result.errors;
}

TEST_P(MachineCrash, WhatWasWrittenStays) {
  const ProgramResult result = Run(R"sh(
call write '{"path":"new/c","content":"c1","create_parents":true}' | grep -o '"success":[a-z]*'
crash
cat disk/project/new/c
)sh");
  const std::optional<std::string> output = Output(result);
  if (!output) GTEST_SKIP() << kMissing;
  EXPECT_EQ(*output, "\"success\":true\nc1") << result.errors;
}

TEST_P(MachineCrash, WhatWasDeletedComesBack) {
  const ProgramResult result = Run(R"sh(
call delete '{"path":"a"}' | grep -o '"success":[a-z]*'
crash
ls disk/project
id=$("$SERVER" trash list --root disk/project | cut -d' ' -f1)
"$SERVER" trash restore --root disk/project "$id" > /dev/null
cp ../copy ../image && umount disk && mount -o loop ../image disk
cat disk/project/a
)sh");
  const std::optional<std::string> output = Output(result);
  if (!output) GTEST_SKIP() << kMissing;
  EXPECT_EQ(*output, "\"success\":true\nb\na1") << result.errors;
}

// The trash of the project, where the state directory is on another disk.
TEST_P(MachineCrash, WhatWasDeletedWithinTheProjectComesBack) {
  const ProgramResult result = Run(R"sh(
export XDG_STATE_HOME=$PWD/elsewhere
call delete '{"path":"a"}' | grep -o '"success":[a-z]*'
crash
id=$("$SERVER" trash list --root disk/project | cut -d' ' -f1)
"$SERVER" trash restore --root disk/project "$id" > /dev/null
cat disk/project/a
)sh");
  const std::optional<std::string> output = Output(result);
  if (!output) GTEST_SKIP() << kMissing;
  EXPECT_EQ(*output, "\"success\":true\na1") << result.errors;
}

}  // namespace
}  // namespace pa::testing
