#include "supervisor/tools/makefile_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "base/file.h"
#include "base/open_beneath.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "base/words.h"
#include "supervisor/tools/make_database.h"

namespace pa {
namespace {

constexpr std::size_t kMaxDescription = 200;
constexpr std::string_view kMakeBlanks = " \t\r";

FileStamp Stamp(const struct stat& status) {
  const auto ns = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = ns(status.st_mtim),
          .changed_ns = ns(status.st_ctim)};
}

// As make joins them: an odd number of backslashes before the newline continues the line.
std::vector<std::string> LogicalLines(std::string_view text) {
  std::vector<std::string> lines;
  bool continued = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t last = line.find_last_not_of('\\');
    const std::size_t backslashes = line.size() - (last == std::string_view::npos ? 0 : last + 1);
    const bool continues = backslashes % 2 == 1;
    if (continues) line.remove_suffix(1);
    if (continued) {
      lines.back().append(" ").append(line);
    } else {
      lines.emplace_back(line);
    }
    continued = continues;
  }
  return lines;
}

// Where a `#` begins a comment. Behind an expansion or a backslash it may not: then the line is
// taken as it is.
std::string_view WithoutComment(std::string_view line) {
  const std::size_t hash = line.find('#');
  if (hash == std::string_view::npos) return line;
  const std::string_view before = line.substr(0, hash);
  return before.find_first_of("$\\") == std::string_view::npos ? before : line;
}

std::string WithoutExpansions(std::string_view text) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text[i] == '(' || text[i] == '{';
    if (opens && (depth > 0 || (i > 0 && text[i - 1] == '$'))) ++depth;
    if (depth == 0) out += text[i];
    if (depth > 0 && (text[i] == ')' || text[i] == '}')) --depth;
  }
  return out;
}

template <std::size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

// Lines that may hold a colon and yet are no rules.
constexpr std::array<std::string_view, 15> kDirectives = {
    "define", "endef",    "ifdef",    "ifndef",  "ifeq",     "ifneq", "else",   "endif",
    "export", "unexport", "override", "private", "undefine", "vpath", "include"};

// The targets of a rule whose names stand there literally; empty when the line is anything else.
std::vector<std::string_view> LiteralTargets(std::string_view line) {
  constexpr std::string_view kName =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.%/@+- \t";
  std::size_t colon = line.find_first_not_of(kName);
  const std::size_t names = colon;
  if (colon != std::string_view::npos && line.substr(colon).starts_with("&:")) ++colon;  // grouped
  if (line.starts_with('\t') || colon == std::string_view::npos || line[colon] != ':') return {};
  const std::string rest = WithoutExpansions(line.substr(colon + 1));
  if (rest.substr(0, rest.find_first_of(";#")).find('=') != std::string::npos) return {};
  std::vector<std::string_view> targets = SplitWords(line.substr(0, names));
  if (!targets.empty() && IsOneOf(targets.front(), kDirectives)) return {};
  return targets;
}

std::string OneLine(std::string_view text) {
  const std::string repaired = RepairUtf8(Trimmed(text, kMakeBlanks), /*one_line=*/true);
  return std::string(Utf8Prefix(repaired, kMaxDescription));
}

// Rulers and frames that people draw between sections.
bool IsDecorative(std::string_view text) {
  for (std::string_view ruler : {"---", "===", "***", "###", "~~~", "___", "+++"}) {
    if (text.find(ruler) != std::string_view::npos) return true;
  }
  const auto is_word = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || byte >= 0x80;
  };
  return std::ranges::none_of(text, is_word);
}

// The comment that ends right above line `at`, `.PHONY: ...` lines between them not counted.
std::string CommentAbove(std::span<const std::string> lines, std::size_t at) {
  while (at > 0 && lines[at - 1].starts_with(".PHONY:")) --at;
  std::string comment;
  while (at > 0 && lines[at - 1].starts_with('#') && !lines[at - 1].starts_with("#!")) {
    const std::string_view text = Trimmed(lines[--at], "# \t\r");
    if (IsDecorative(text)) break;
    comment = comment.empty() ? std::string(text) : std::string(text) + " " + comment;
  }
  return OneLine(comment);
}

// Functions that look at what is not in the Makefile, run programs, or make syntax out of values.
constexpr std::array<std::string_view, 7> kImpureFunctions = {
    "shell", "wildcard", "eval", "call", "file", "guile", "realpath"};

// Variables and special targets by which the rest of the text means something else, or that differ
// from one run to the next.
constexpr std::array<std::string_view, 7> kImpureNames = {
    ".RECIPEPREFIX", ".SECONDEXPANSION", "MAKEFLAGS", "MAKEFILE",
    "MAKE_RESTARTS", ".VARIABLES",       "TMPDIR"};

constexpr std::array<std::string_view, 5> kImpureDirectives = {"include", "-include", "sinclude",
                                                               "load", "-load"};

bool CallsImpureFunction(std::string_view line) {
  for (std::size_t at = line.find_first_of("({"); at != std::string_view::npos;
       at = line.find_first_of("({", at + 1)) {
    const std::string_view inside = line.substr(at + 1);
    const std::size_t end = inside.find_first_of(" \t");
    if (end != std::string_view::npos && IsOneOf(inside.substr(0, end), kImpureFunctions))
      return true;
  }
  return false;
}

// make expands file name patterns and `~` in targets and prerequisites. `?=` is an assignment.
bool HoldsPattern(std::string_view line) {
  for (std::size_t at = line.find_first_of("*?[~"); at != std::string_view::npos;
       at = line.find_first_of("*?[~", at + 1)) {
    if (line[at] != '?' || !line.substr(at + 1).starts_with('=')) return true;
  }
  return false;
}

bool IsFixed(std::string_view line) {
  const std::vector<std::string_view> words = SplitWords(line);
  if (!words.empty() && IsOneOf(words.front(), kImpureDirectives)) return false;
  if (std::ranges::find(words, "define") != words.end()) return false;
  if (line.find("!=") != std::string_view::npos) return false;
  for (std::string_view name : kImpureNames) {
    if (line.find(name) != std::string_view::npos) return false;
  }
  // A pattern that matches anything matches the Makefile as well, which make would then make first.
  if (line.find("%:") != std::string_view::npos) return false;
  return !CallsImpureFunction(line) && !HoldsPattern(line);
}

bool HoldsControlCharacters(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; });
}

}  // namespace

std::optional<FileStamp> StampOf(int directory_fd, const std::string& name) {
  struct stat status{};
  if (fstatat(directory_fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return Stamp(status);
}

std::optional<MakefileOnDisk> FindMakefile(int directory_fd) {
  for (const char* name : kMakefileNames) {
    struct stat status{};
    if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    return MakefileOnDisk{name, S_ISREG(status.st_mode), Stamp(status)};
  }
  return std::nullopt;
}

Task<Result<std::string>> ReadMakefile(Janitor& janitor, OpenedDirectory directory,
                                       const MakefileOnDisk& file) {
  return ReadTextIn(janitor, std::move(directory), file.name, kMaxMakefileBytes);
}

Task<Result<std::string>> ReadIncluded(Janitor& janitor, OpenedDirectory directory,
                                       const std::string& name) {
  return ReadTextIn(janitor, std::move(directory), name, kMaxMakefileBytes, Links::kBeneath);
}

namespace {

// `## text` behind a rule, not within a recipe that stands on the same line.
std::string CommentBehind(std::string_view rule) {
  const std::size_t mark = rule.find("##");
  if (mark == std::string_view::npos || rule.substr(0, mark).find(';') != std::string_view::npos) {
    return "";
  }
  return OneLine(Trimmed(rule.substr(mark), "# \t\r"));
}

}  // namespace

std::map<std::string, std::string> TargetDescriptions(std::string_view text) {
  std::map<std::string, std::string> descriptions;
  const std::vector<std::string> lines = LogicalLines(text);
  bool in_define = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string_view> words = SplitWords(lines[i]);
    if (!words.empty() && words.front() == "endef") in_define = false;
    if (!words.empty() && words.front() == "define") in_define = true;
    if (in_define) continue;
    const std::vector<std::string_view> targets = LiteralTargets(lines[i]);
    if (targets.empty() || targets.front() == ".PHONY") continue;
    std::string description = CommentBehind(lines[i]);
    if (description.empty()) description = CommentAbove(lines, i);
    if (description.empty()) continue;
    for (std::string_view target : targets) {
      if (IsOfferedTargetName(target)) descriptions.emplace(target, description);
    }
  }
  return descriptions;
}

// Recipes are text that make does not look at before it runs them. A line is taken for one only if
// it begins with a tab right below a rule whose targets stand there literally, or below another
// such line; everything else is looked at, also where make would not.
bool DependsOnTextAlone(std::string_view text) {
  if (HoldsControlCharacters(text)) return false;
  bool in_recipe = false;
  for (const std::string& line : LogicalLines(text)) {
    if (in_recipe && line.starts_with('\t')) continue;
    const std::string_view trimmed = Trimmed(line, kMakeBlanks);
    if (trimmed.empty() || trimmed.starts_with('#')) continue;
    const std::string_view code = WithoutComment(line);
    if (!IsFixed(code)) return false;
    in_recipe = !LiteralTargets(code).empty();
  }
  return true;
}

}  // namespace pa
