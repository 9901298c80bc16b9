// FileChores: reads, syncs and removes files in trees that commands write, by the janitor.
//
//    Task<Result<std::string>> reading =
//        ReadTextIn(janitor, {"/srv/project", directory.fd()}, "Makefile", kMaxMakefileBytes);
//    Task<Result<bool>> emptying = EmptyTree(janitor, "/tmp/project-actions-1000-Xy12Zw/3", time);
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/task.h"

namespace pa {

std::span<const Chore> FileChores();

// A directory that is open (O_PATH suffices), and its path.
struct OpenedDirectory {
  std::string path;
  int fd = -1;  // borrowed for the call of the function alone
};

enum class Links {
  kRefuse,   // of the name itself; it has no slash
  kBeneath,  // symlinks and `..` are followed as long as they stay in the directory
};

// The content of a regular file; EFBIG: it is longer than `most`.
Task<Result<std::string>> ReadTextIn(Janitor& janitor, OpenedDirectory directory, std::string name,
                                     std::size_t most, Links links = Links::kRefuse);

// Waits until they are on the disk (SyncPath of base/file.h), in this order.
Task<Result<void>> SyncPaths(Janitor& janitor, std::vector<std::string> paths);

// Empties a directory of ours, which no symlink leads to (base/empty_directory.h). False: the time
// is used up.
Task<Result<bool>> EmptyTree(Janitor& janitor, std::string path, std::chrono::milliseconds time);

}  // namespace pa
