#include "tests/support/project.h"

#include <fstream>

namespace pa::testing {

Project::Project(std::string_view makefile) {
  std::filesystem::create_directories(home_);
  std::filesystem::create_directories(outside_);
  WriteText(root_ / "Makefile", makefile);
}

ServerOptions Project::Server(std::vector<std::string> arguments) const {
  std::vector<std::string> all = {"--root", root_, "--enable", "all"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return {.arguments = std::move(all), .directory = root_, .home = home_};
}

std::vector<Json> Project::EndsInTheLog() const {
  std::vector<Json> lines;
  std::ifstream file(home_ / ".local/state/project-actions/audit/audit.jsonl");
  for (std::string line; std::getline(file, line);) {
    Json json = Json::parse(line);
    if (json["unmapped"]["phase"] == "end") lines.push_back(std::move(json));
  }
  return lines;
}

ProgramResult Project::Git(std::vector<std::string> arguments) const {
  std::vector<std::string> command = {"git"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram({.command = std::move(command),
                     .environment = {"HOME=" + home_.string(), "GIT_CONFIG_NOSYSTEM=1"},
                     .directory = root_});
}

void Project::InitGit() const {
  WriteText(home_ / ".gitconfig", "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n");
  Git({"init", "-q", "-b", "main"});
}

Json ModernMeta(const Json& capabilities) {
  return {{"io.modelcontextprotocol/protocolVersion", kModern},
          {"io.modelcontextprotocol/clientCapabilities", capabilities}};
}

namespace {

bool IsGranted(const char* feature) {
  const TempDir home;  // as a server of Project::Server has one
  const ProgramResult doctor =
      RunProgram({.command = {BuiltProgram("PA_SERVER"), "doctor", "--json"},
                  .environment = {"HOME=" + home.path().string()}});
  return Json::parse(doctor.output)["kernel"][feature] == "yes";
}

}  // namespace

bool NamespacesAreGranted() { return IsGranted("namespaces"); }
bool CopiesOfRepositoriesAreGranted() { return IsGranted("overlay"); }

}  // namespace pa::testing
