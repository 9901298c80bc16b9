// make-completions bash|zsh|fish: prints the completions for that shell. Run by the build, not
// installed.
#include <cstdio>

#include "supervisor/call/tool.h"
#include "supervisor/cli/audit_view.h"
#include "supervisor/cli/command_line.h"
#include "supervisor/cli/completions.h"
#include "supervisor/clients/client_config.h"
#include "supervisor/tools/registry.h"

namespace pa {
namespace {

// What completes each kind of value that the command line has.
CompletedValues Values() {
  std::vector<std::string> tools;
  for (const Tool* tool : AllTools()) tools.emplace_back(tool->name);
  std::vector<std::string> enabled = tools;
  enabled.emplace_back("all");
  std::vector<std::string> clients;
  for (const Client& client : Clients()) clients.emplace_back(client.name);
  std::vector<std::string> commands;
  for (const CommandHelp& command : DescribeCommandLine().subcommands) {
    commands.push_back(command.name);
  }
  return {
      {"ADDRESS", {ValueKind::kWord, {"stdio", "systemd"}}},
      {"ARGUMENTS", {ValueKind::kMakeArguments}},
      {"CLIENT", {ValueKind::kWord, clients}},
      {"COMMAND", {ValueKind::kWord, commands}},
      {"DIR", {ValueKind::kDirectory}},
      {"FILE", {ValueKind::kFile}},
      {"ID", {ValueKind::kTrashId}},
      {"LINE", {ValueKind::kWord, {kLastDenial}}},
      {"NAME", {ValueKind::kAnything}},
      {"NAME,...", {ValueKind::kWordList, tools}},
      {"OUTCOME,...", {ValueKind::kWordList, KnownOutcomes()}},
      {"PATH", {ValueKind::kFile}},
      {"SUBJECT", {ValueKind::kWordOrFile, tools}},
      {"TIME", {ValueKind::kAnything}},
      {"URL", {ValueKind::kAnything}},
      {"USER", {ValueKind::kAnything}},
      {"TOOL", {ValueKind::kWord, tools}},
      {"TOOL,...", {ValueKind::kWordList, enabled}},
  };
}

}  // namespace
}  // namespace pa

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: make-completions bash|zsh|fish\n", stderr);
    return 2;
  }
  const pa::Result<std::string> script =
      pa::CompletionScript(argv[1], pa::DescribeCommandLine(), pa::Values());
  if (!script) {
    fprintf(stderr, "make-completions: %s\n", script.error().Message().c_str());
    return 1;
  }
  fputs(script->c_str(), stdout);
  return 0;
}
