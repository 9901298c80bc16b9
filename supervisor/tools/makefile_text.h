// The Makefile as a file: which one make takes, its text, and the descriptions in the text.
//
//    std::optional<MakefileOnDisk> file = FindMakefile(directory.fd());
//    Task<Result<std::string>> reading = ReadMakefile(janitor, {directory.path(), fd}, *file);
//    Result<std::string> text = co_await reading;
//    std::map<std::string, std::string> descriptions = TargetDescriptions(*text);
//
// The text never decides what is a target: only make knows (target_discovery.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "supervisor/janitor/file_chores.h"
#include "supervisor/loop/task.h"
#include "supervisor/tools/target_cache.h"

namespace pa {

inline constexpr const char* kMakefileNames[] = {"GNUmakefile", "makefile", "Makefile"};
inline constexpr std::size_t kMaxMakefileBytes = 1u << 20;

struct MakefileOnDisk {
  std::string name;
  bool regular = false;  // and not a symlink
  FileStamp stamp;
};

// The first of kMakefileNames in the directory itself, which is the one that make takes.
std::optional<MakefileOnDisk> FindMakefile(int directory_fd);

// Refuses a symlink, anything but a regular file, and more than kMaxMakefileBytes.
Task<Result<std::string>> ReadMakefile(Janitor& janitor, OpenedDirectory directory,
                                       const MakefileOnDisk& file);

// Reads a file that a Makefile includes, by the name that make gives it. Refuses anything but a
// regular file, more than kMaxMakefileBytes, and names that lead out of the directory, also through
// symlinks; other symlinks are followed.
Task<Result<std::string>> ReadIncluded(Janitor& janitor, OpenedDirectory directory,
                                       const std::string& name);

// The description of each target: `target: ... ## text`, else the comment right above its rule.
std::map<std::string, std::string> TargetDescriptions(std::string_view text);

// True only if the set of .PHONY targets follows from this text and the environment alone: nothing
// in it runs a program, reads another file, looks at the file system or turns values into syntax.
// False in doubt, which only costs time.
bool DependsOnTextAlone(std::string_view text);

// The stamp of a file, without following a symlink; nothing if there is no such file.
std::optional<FileStamp> StampOf(int directory_fd, const std::string& name);

}  // namespace pa
