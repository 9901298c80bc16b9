// Project: a sample project with a home of its own, and the options of a server on it.
//
//    Project project(".PHONY: hello\nhello: ## greet\n\t@echo hi\n");
//    McpClient client(project.Server());
//    client.Initialize();
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/mcp_client.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {

class Project {
 public:
  explicit Project(std::string_view makefile);

  const std::filesystem::path& root() const { return root_; }        // the working directory
  const std::filesystem::path& home() const { return home_; }        // $HOME of the server
  const std::filesystem::path& outside() const { return outside_; }  // outside the server's root

  // Options of a server on this project, every tool enabled; `arguments` are added.
  ServerOptions Server(std::vector<std::string> arguments = {}) const;

  // The second line of each call in the audit log, in the order of their ends.
  std::vector<Json> EndsInTheLog() const;

  // git, run by the test itself, outside every sandbox.
  ProgramResult Git(std::vector<std::string> arguments) const;
  void InitGit() const;  // a repository with an identity in the user's configuration

 private:
  TempDir dir_;
  std::filesystem::path root_ = dir_.path() / "project";
  std::filesystem::path home_ = dir_.path() / "home";
  std::filesystem::path outside_ = dir_.path() / "outside";
};

inline constexpr std::string_view kModern = "2026-07-28";  // the revision of the modern era
// `_meta` of a request of that era
Json ModernMeta(const Json& capabilities = Json::object());

// Whether a command gets namespaces here, as `doctor` says.
bool NamespacesAreGranted();
// Whether hooks get a copy of the repository here, as `doctor` says.
bool CopiesOfRepositoriesAreGranted();

}  // namespace pa::testing
