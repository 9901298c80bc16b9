// PolicyTest: a fixture with a home, a project and policy files in a temporary directory.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "policy/load.h"
#include "tests/support/temp_dir.h"

namespace pa::policy {

class PolicyTest : public ::testing::Test {
 protected:
  PolicyTest() {
    base_ = std::filesystem::canonical(directory_.path());
    home_ = base_ / "home";
    project_ = home_ / "src/project";
    std::filesystem::create_directories(project_);
    sources_.administrator_file = base_ / "administrator.yaml";
    sources_.default_user_file = base_ / "user.yaml";
    sources_.home = home_;
    sources_.current_directory = project_;
    sources_.variables = {{"PATH", "/usr/bin:/bin"}, {"SRC", home_ / "src"}, {"EMPTY", ""}};
    sources_.known_tools = {"make_targets", "make",    "makefile_generate",
                            "read",         "write",   "edit",
                            "delete",       "glob",    "grep",
                            "bash",         "git_add", "git_commit",
                            "pipeline",     "batch",   "project_actions"};
    sources_.read_only_tools = {"make_targets", "read", "glob", "grep"};
  }

  // `version: 1` is written before `text`.
  void Administrator(const std::string& text) { Write("administrator.yaml", text); }
  void User(const std::string& text) { Write("user.yaml", text); }

  // Loads the policy, which must be without errors.
  PolicyPtr Load() {
    LoadedPolicy loaded = LoadPolicy(sources_);
    for (const Diagnostic& diagnostic : loaded.diagnostics) ADD_FAILURE() << diagnostic.Format();
    warnings_ = Format(loaded.warnings);
    return loaded.policy;
  }

  // The errors of the policy, a line each, without the directory of the files.
  std::string Faults() {
    const LoadedPolicy loaded = LoadPolicy(sources_);
    EXPECT_EQ(loaded.policy == nullptr, !loaded.diagnostics.empty());
    return Format(loaded.diagnostics);
  }

  std::string Format(const std::vector<Diagnostic>& diagnostics) const {
    std::string lines;
    for (const Diagnostic& diagnostic : diagnostics) {
      std::string line = diagnostic.Format() + '\n';
      const std::string prefix = base_.string() + '/';
      for (std::size_t at; (at = line.find(prefix)) != std::string::npos;) {
        line.erase(at, prefix.size());
      }
      lines += line;
    }
    return lines;
  }

  void Write(const std::string& name, const std::string& text) {
    pa::testing::WriteText(base_ / name, "version: 1\n" + text);
  }

  pa::testing::TempDir directory_;
  std::filesystem::path base_;
  std::filesystem::path home_;
  std::filesystem::path project_;
  PolicySources sources_;
  std::string warnings_;
};

}  // namespace pa::policy
