#include "supervisor/tools/reach_above.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "policy/path.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

constexpr std::size_t kMaxOutput = 256U << 10;

constexpr std::string_view kMissing[] = {"No such file", "no such file",    "not found",
                                         "Not found",    "does not exist",  "ermission denied",
                                         "can't cd",     "No rule to make", "annot open",
                                         "an't open",    "annot find",      "annot access"};

constexpr std::string_view kNoRepository = "not a git repository";

bool Exists(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

// Where a word of the output leads, if that is in the root and not in the working directory; else
// "".
std::string AboveOf(const Work& work, std::string_view word) {
  const std::string& root = work.directory.root();
  const bool climbs = word == ".." || word.starts_with("../") || word.contains("/../") ||
                      word.starts_with(root + "/");
  if (!climbs) return "";
  const std::string path =
      (std::filesystem::path(work.directory.path()) / word).lexically_normal().string();
  const bool above =
      policy::IsBeneath(path, root) && !policy::IsBeneath(path, work.directory.path());
  return above && Exists(path) ? path : "";
}

// The lowest directory that holds both.
std::string Common(std::string directory, const std::string& path) {
  while (!policy::IsBeneath(path, directory)) directory.resize(directory.rfind('/'));
  return directory;
}

std::string Advice(const Work& work, std::string_view what, const std::string& from) {
  const std::string below =
      std::filesystem::path(work.directory.path()).lexically_relative(from).string();
  return fmt::format(
      "{} lies above the working directory, and a command reaches nothing above it: call from {} "
      "as working_directory, and go down from there (cd {}, make -C {}).",
      VisibleText(what), VisibleText(from), VisibleText(below), VisibleText(below));
}

std::string OfLine(const Work& work, std::string_view line) {
  constexpr std::string_view kEnds = " \t'\"`:,;()[]<>";
  if (std::ranges::none_of(kMissing, [&](std::string_view w) { return line.contains(w); })) {
    return "";
  }
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(kEnds), line.size());
    const std::string_view word = line.substr(0, end);
    if (const std::string path = AboveOf(work, word); !path.empty()) {
      return Advice(work, word, Common(work.directory.path(), path));
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return "";
}

// Of the repository above that git did not find.
std::string OfRepository(const Work& work) {
  const std::string& root = work.directory.root();
  std::string path = work.directory.path();
  if (Exists(path + "/.git")) return "";
  while (path.size() > root.size()) {
    path.resize(path.rfind('/'));
    if (Exists(path + "/.git")) return Advice(work, "the git repository " + path, path);
  }
  return "";
}

}  // namespace

std::string ReachesAbove(const Work& work, std::string_view output) {
  if (work.directory.path() == work.directory.root()) return "";
  output = output.substr(0, kMaxOutput);
  if (output.contains(kNoRepository)) {
    if (std::string advice = OfRepository(work); !advice.empty()) return advice;
  }
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    if (std::string advice = OfLine(work, output.substr(0, end)); !advice.empty()) return advice;
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return "";
}

}  // namespace pa
