// ShellTemplate: a bash command in which templates (template_text.h) stand for values. No value is
// written into the command: each template becomes a reference to a shell variable, quoted for the
// place where it stands, and the values travel as arguments.
//
//    auto command = ParseShellTemplate("grep -- {{find.pattern}} \"$dir/{{a.b}}\"", earlier, all);
//    command->program;         // __v0=$1 __v1=$2; set --; grep -- "${__v0}" "$dir/${__v1}"
//    command->references;      // what $1 and $2 must be
//    command->Shown(values);   // grep -- 'a b' "$dir/c"
//
//    bash -c -- PROGRAM bash VALUE0 VALUE1
//
// So a wrong guess about a place prints something else than was meant, and executes nothing. What
// would evaluate a value once more is refused all the same, as advice: the sandbox is the wall.
// Refused are templates as the first word of a command; in $((...)), ((...)), [[ ... -eq ... ]],
// ${...}, an index of an array; in a here-document whose delimiter is quoted; and as an argument of
// what takes programs: eval, source, trap, sh -c, ssh, xargs, awk, python -c and the like.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/jobs/template_text.h"

namespace pa {

struct ShellTemplate {
  std::string program;                    // for bash -c
  std::vector<StepReference> references;  // the values of $1, $2, ... in this order

  // The command with the values in the places of their templates, for people and for rules on
  // commands; quoted as far as the place is not. A long value is cut in its middle.
  std::string Shown(std::span<const std::string> values) const;

  struct Text {
    std::string before;   // of a template
    bool quoted = false;  // the template stands in quotes, or where there is nothing to quote
  };
  std::vector<Text> texts;  // of each reference
  std::string after;        // the last one
};

// Without a template the program is the command as it was written.
std::expected<ShellTemplate, TemplateProblem> ParseShellTemplate(
    std::string_view command, std::span<const std::string> earlier,
    std::span<const std::string> all);

}  // namespace pa
