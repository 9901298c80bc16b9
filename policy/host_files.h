// HostFiles: the files of a project that the user's own programs execute when they open the
// project, start in it or poll it, without the user naming the file: servers, hooks and tasks of
// coding agents and editors, and files that a shell executes on entering the directory. Commands
// must leave these files as they are, like the files that git executes (policy/protected_paths.h).
// filesystem.unprotect gives up the protection of single ones (docs/adr/0027).
//
//    for (const HostFile& file : HostFiles()) ...   // `.mcp.json`, `.claude/hooks`, ...
//    if (FindHostFile(".vscode/tasks.json")->ours) ...
//
// To add one: its line in the table, and its row in docs/policy.md; check-docs.py compares the two,
// and EachHostFile in tests/integration/protected_paths_test.cc tries to make each file. Name it
// exactly, and no more than is executed: everything else in `.claude` or `.vscode` belongs to the
// project.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa::policy {

struct HostFile {
  enum class Kind { kFile, kTree };
  enum class Base {
    kProject,  // the top of any directory that is opened as a project; the home is one, too
    kHome,     // the user's home alone
  };
  std::string_view path;  // relative to the place; no symlink, no `..`
  Kind kind;
  std::string_view host;  // the program
  std::string_view why;   // what the program does with the file
  Base base = Base::kProject;
  // `init` writes this file: it configures how this server starts, so it cannot be unprotected.
  bool ours = false;

  // `executed by VS Code (...)`, for results and errors.
  std::string Reason() const;
  // `filesystem: {unprotect: [.vscode/tasks.json]}`, or "" if the file cannot be unprotected.
  std::string Line() const;
  std::string HowToUnprotect() const;  // the same as a sentence
};

std::span<const HostFile> HostFiles();
const HostFile* FindHostFile(std::string_view path);  // null: there is no such host file

// What is wrong with `path` as a value of filesystem.unprotect, or "".
std::string CheckUnprotected(std::string_view path);

// Whether `path` is, or lies in, a directory beneath `top` that holds packages of other projects
// (node_modules, ...): packages bring such files along, and nobody opens them as projects. False
// for `top` itself.
bool HoldsPackages(const std::string& path, const std::string& top);

}  // namespace pa::policy
