// The Makefile as a file: which one make takes, its text, and the little that is read from the
// text.
//
//   std::optional<MakefileOnDisk> file = FindMakefile(directory.fd());
//   Result<std::string> text = ReadMakefile(directory.fd(), *file);
//   std::map<std::string, std::string> descriptions = TargetDescriptions(*text);
//
// What is a target is never read from here: only make knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
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

// Refuses anything but a regular file that is no symlink, and more than kMaxMakefileBytes.
Result<std::string> ReadMakefile(int directory_fd, const MakefileOnDisk& file);

// A file that a Makefile includes, by the name that make gives it; the same refusals, and whatever
// leads out of the directory, also by symlink.
Result<std::string> ReadIncluded(int directory_fd, const std::string& name);

// What people are told about a target: `target: ... ## text`, else the comment right above its
// rule.
std::map<std::string, std::string> TargetDescriptions(std::string_view text);

// True only if the set of .PHONY targets follows from this text and the environment alone: nothing
// in it runs a program, reads another file, looks at the file system or makes syntax out of values.
// Says no when in doubt, which costs time and nothing else.
bool DependsOnTextAlone(std::string_view text);

// `stat` as a FileStamp, by name without following a symlink; nothing when there is no such file.
std::optional<FileStamp> StampOf(int directory_fd, const std::string& name);

}  // namespace pa
