// ParseGitConfig: the variables that a file in git's own format sets (git-config(1), "Syntax"),
// read without git.
//
//    std::expected<std::vector<GitVariable>, std::string> variables = ParseGitConfig(text);
//    for (const GitVariable& variable : *variables)
//      if (variable.name == "core.hookspath") ...
//
// Lenient where git would give up: a line that git could not read is passed over. An error names
// something that git may read differently from us. Names are as git compares them: section and
// variable in lower case, a subsection as it is written.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace pa::policy {

inline constexpr std::size_t kMaxGitConfig = 1u << 20;  // bytes of one file that we read
inline constexpr int kMaxSubmoduleDepth = 8;            // components of a submodule's name, a/b/c

struct GitVariable {
  std::string name;   // `core.hookspath`, `submodule.lib/A.path`, `includeif.gitdir:~/x/.path`
  std::string value;  // "" also for a variable without `=`, which git takes for true
  bool operator==(const GitVariable&) const = default;
};

std::expected<std::vector<GitVariable>, std::string> ParseGitConfig(std::string_view text);

}  // namespace pa::policy
