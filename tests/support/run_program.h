// RunProgram: runs a program of the test itself (git, the command line) to its end and keeps its
// output.
//
//    ProgramResult log = RunProgram({.command = {"git", "log"}, .directory = repository});
//    EXPECT_EQ(log.exit_code, 0) << log.errors;
#pragma once

#include <string>
#include <string_view>

#include "tests/support/launch.h"

namespace pa::testing {

struct ProgramResult {
  int exit_code = -1;  // -1: killed by `signal`
  int signal = 0;
  std::string output;
  std::string errors;
};

// `launch` must not set descriptors 0, 1 and 2; `input` becomes stdin. Output may be of any size.
ProgramResult RunProgram(Launch launch, std::string_view input = {});

// Whether a user namespace can mount an overlay here, as mount(8) sees it: seen without us, so that
// a fault of ours does not pass for the system's.
bool OverlaysAreGranted();

}  // namespace pa::testing
