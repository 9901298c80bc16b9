// RunProgram: runs a program of the test's own (git, the command line) to its end and keeps what it
// said.
//
//   ProgramResult log = RunProgram({"git", "log", "--format=%B"}, {.directory = repository});
//   EXPECT_EQ(log.exit_code, 0) << log.errors;
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pa::testing {

struct ProgramOptions {
  std::vector<std::string> environment = {};  // NAME=value; complete but for PATH
  std::string directory = "/";
  std::string_view input = {};
};

struct ProgramResult {
  int exit_code = -1;  // -1: killed by `signal`
  int signal = 0;
  std::string output;
  std::string errors;
};

// The program is looked up on PATH unless it is a path. Output may be of any size.
ProgramResult RunProgram(std::vector<std::string> command, const ProgramOptions& options = {});

}  // namespace pa::testing
