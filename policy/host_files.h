// HostFiles: what in a project the user's own programs execute when they open it, start in it or
// poll it, without the user naming it: servers, hooks and tasks of coding agents and editors, and
// what a shell does on entering. Commands leave these as they are, as they do what git executes
// (policy/protected_paths.h); filesystem.unprotect gives single ones up (docs/adr/0027).
//
//   for (const HostFile& file : HostFiles()) ...   // `.mcp.json`, `.claude/hooks`, ...
//   if (FindHostFile(".vscode/tasks.json")->ours) ...
//
// To add one: its line in the table, its row in docs/policy.md; check-docs.py compares the two, and
// EachHostFile in tests/integration/protected_paths_test.cc tries to make each. By name, and no
// larger than what is executed: what else lies in `.claude` or `.vscode` is the project's.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa::policy {

struct HostFile {
  enum class Kind { kFile, kTree };
  enum class Place {
    kProject,  // the top of whatever is opened as a project; the home is one, too
    kHome,     // of the user's home alone
  };
  std::string_view path;  // relative to the place; no symlink, no `..`
  Kind kind;
  std::string_view host;  // the program
  std::string_view why;   // what it does with it
  Place place = Place::kProject;
  bool ours =
      false;  // `init` writes it: it says how this server is started, and nobody gives it up

  // `executed by VS Code (...)`, for results and errors.
  std::string Reason() const;
  // `filesystem: {unprotect: [.vscode/tasks.json]}`, or "" of what nobody can give up.
  std::string Line() const;
  std::string HowToGiveUp() const;  // the same as a sentence
};

std::span<const HostFile> HostFiles();
const HostFile* FindHostFile(std::string_view path);  // null: there is none of that name

// What is wrong with `path` as a value of filesystem.unprotect, or "".
std::string CheckUnprotected(std::string_view path);

// A directory beneath `top` into which somebody else's packages are laid: they bring such files
// along, and nobody opens them as projects. `top` itself is none.
bool HoldsPackages(const std::string& path, const std::string& top);

}  // namespace pa::policy
