// RunProgram: runs a program of the test's own (git, the command line) to its end and keeps what it
// said.
//
//   ProgramResult log = RunProgram({.command = {"git", "log"}, .directory = repository});
//   EXPECT_EQ(log.exit_code, 0) << log.errors;
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

// `launch` names no descriptors for 0, 1 and 2: `input` is what stands on stdin. Output may be of
// any size.
ProgramResult RunProgram(Launch launch, std::string_view input = {});

}  // namespace pa::testing
