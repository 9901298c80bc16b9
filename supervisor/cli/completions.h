// Shell completions of the command line, generated at build time from the table that `--help`
// prints.
//
//    Result<std::string> script = CompletionScript("bash", DescribeCommandLine(), values);
//
// To add a shell: a writer and its line in CompletionScript, its installation in
// packaging/completions/meson.build, its test in tests/support/check-completions.py.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "supervisor/cli/command_line.h"

namespace pa {

enum class ValueKind {
  kAnything,    // nothing to offer
  kFile,        // any path
  kDirectory,   //
  kWord,        // one of `words`
  kWordOrFile,  //
  kWordList,    // some of `words`, separated by commas
  // Asked of the program, with the options of the line:
  kMakeArguments,  // {"target":"..."}, one for each target, if the tool is make
  kTrashId,
};
struct CompletedValue {
  ValueKind kind = ValueKind::kAnything;
  std::vector<std::string> words = {};
};
// By placeholder: `DIR`, `TOOL`.
using CompletedValues = std::map<std::string, CompletedValue>;

// `shell`: `bash`, `zsh` or `fish`. An error names the placeholder that `values` lacks, so that
// none is forgotten.
Result<std::string> CompletionScript(std::string_view shell, const CommandHelp& program,
                                     const CompletedValues& values);

}  // namespace pa
