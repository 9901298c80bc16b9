#include "supervisor/denials/refusal_words.h"

#include <algorithm>

#include "base/words.h"

namespace pa {
namespace {

struct Phrase {
  std::string_view words;  // in lower case; whole words
  Uses uses;
};

// Of what a line says beside the path, the first that is found decides.
constexpr Phrase kPhrases[] = {
    // cp says so of a directory that it cannot list, others of what they cannot stat.
    {"cp: cannot access", kTriedRead},
    {"unable to access", kTriedRead},  // git, of its settings
    // Landlock restricts none of these: a refusal is the file's own mode.
    {"access", 0},
    {"stat", 0},
    {"lstat", 0},
    {"statx", 0},
    {"cd", 0},
    {"chdir", 0},
    {"change directory", 0},
    {"changing", 0},
    {"setting times", 0},
    {"preserving", 0},
    {"chmod", 0},
    {"chown", 0},
    {"utime", 0},
    {"utimes", 0},
    // Executing.
    {"bad interpreter", kTriedExecute},
    {"failed to run", kTriedExecute},
    {"cannot run", kTriedExecute},
    {"can't run", kTriedExecute},
    {"could not run", kTriedExecute},
    {"exec", kTriedExecute},
    {"execv", kTriedExecute},
    {"execve", kTriedExecute},
    {"execvp", kTriedExecute},
    {"execute", kTriedExecute},
    {"_execute_child", kTriedExecute},
    {"posix_spawn", kTriedExecute},
    {"spawn", kTriedExecute},
    // Said outright.
    {"for reading", kTriedRead},
    {"for writing", kTriedWrite},
    {"for write", kTriedWrite},
    {"output file", kTriedWrite},
    {"dependency file", kTriedWrite},
    // What a directory holds.
    {"mkdir", kTriedChange},
    {"makedirs", kTriedChange},
    {"create directory", kTriedChange},
    {"create leading directories", kTriedChange},
    {"create work tree dir", kTriedChange},
    {"make directory", kTriedChange},
    {"rmdir", kTriedChange},
    {"remove", kTriedChange},
    {"unlink", kTriedChange},
    {"delete", kTriedChange},
    {"rename", kTriedChange},
    {"move", kTriedChange},
    {"link", kTriedChange},
    {"symlink", kTriedChange},
    {"fifo", kTriedChange},
    {"mknod", kTriedChange},
    {"mkstemp", kTriedChange},
    {"temporary file", kTriedChange},
    {"via template", kTriedChange},
    // Writing.
    {"copyfile", kTriedRead | kTriedWrite},
    {"lock file", kTriedWrite},
    {"create", kTriedWrite},
    {"creating", kTriedWrite},
    {"write", kTriedWrite},
    {"writing", kTriedWrite},
    {"write_text", kTriedWrite},
    {"write_bytes", kTriedWrite},
    {"truncate", kTriedWrite},
    {"touch", kTriedWrite},
    {"tee", kTriedWrite},
    // Reading.
    {"read", kTriedRead},
    {"reading", kTriedRead},
    {"read_text", kTriedRead},
    {"read_bytes", kTriedRead},
    {"load", kTriedRead},
    {"loading", kTriedRead},
    {"open directory", kTriedRead},
    {"opendir", kTriedRead},
    {"scandir", kTriedRead},
    {"listdir", kTriedRead},
    {"iterdir", kTriedRead},
    {"readdir", kTriedRead},
    {"getdirectorycontents", kTriedRead},
    {"perl script", kTriedRead},
    {"sort: open failed", kTriedRead},
    {"fatal error: exception", kTriedByOthers},  // OCaml
    {"fatal error", kTriedRead},                 // compilers, of what they include
    // Either.
    {"open", kTriedRead | kTriedWrite},
    {"opening", kTriedRead | kTriedWrite},
    {"fopen", kTriedRead | kTriedWrite},
    {"openfile", kTriedRead | kTriedWrite},
    {"openbinaryfile", kTriedRead | kTriedWrite},
    {"rb_sysopen", kTriedRead | kTriedWrite},
    {"filenotfoundexception", kTriedRead | kTriedWrite},
};

// Of a line that says nothing but the path, the program that it begins with.
constexpr std::string_view kReaders[] = {
    "awk",       "b2sum",     "base32",  "base64", "cat",     "cksum",   "cmp",       "comm",
    "cut",       "diff",      "du",      "egrep",  "expand",  "fgrep",   "file",      "fmt",
    "fold",      "gawk",      "grep",    "hd",     "head",    "hexdump", "jq",        "less",
    "ls",        "mawk",      "md5sum",  "more",   "nl",      "nm",      "objdump",   "od",
    "paste",     "pr",        "readelf", "rg",     "sed",     "sha1sum", "sha224sum", "sha256sum",
    "sha384sum", "sha512sum", "shuf",    "sort",   "strings", "sum",     "tac",       "tail",
    "tsort",     "unexpand",  "uniq",    "wc",     "xxd",     "xzcat",   "zcat"};
constexpr std::string_view kExecutors[] = {"env",    "nice", "nohup", "setsid",  "stdbuf",
                                           "strace", "sudo", "time",  "timeout", "xargs"};
constexpr std::string_view kShells[] = {"ash", "bash", "dash", "ksh", "sh", "zsh"};

bool Contains(std::span<const std::string_view> table, std::string_view word) {
  return std::ranges::find(table, word) != table.end();
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// `main.c:1:10`, `Makefile:3`.
bool IsPlaceInFile(std::string_view segment) {
  const std::size_t colon = segment.rfind(':');
  return colon != std::string_view::npos && !segment.contains(' ') &&
         IsNumber(segment.substr(colon + 1));
}

// `bash`, `/bin/sh`, `make[1]`.
std::string_view ProgramName(std::string_view segment) {
  segment = segment.substr(0, segment.find('['));
  const std::size_t slash = segment.rfind('/');
  return slash == std::string_view::npos ? segment : segment.substr(slash + 1);
}

}  // namespace

bool HasWords(std::string_view text, std::string_view words) {
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + words.size();
    const bool begins = at == 0 || !IsWordCharacter(text[at - 1]) || !IsWordCharacter(words[0]);
    if (begins && (end == text.size() || !IsWordCharacter(text[end]))) return true;
  }
  return false;
}

std::optional<Uses> UsesByWords(std::string_view said) {
  for (const Phrase& phrase : kPhrases) {
    if (HasWords(said, phrase.words)) return phrase.uses;
  }
  return std::nullopt;
}

bool SaysMode(std::string_view said) {
  constexpr std::string_view kModes[] = {
      "changing permissions", "change permissions", "preserving permissions",
      "set permissions",      "change mode",        "chmod"};
  return std::ranges::any_of(kModes, [&](std::string_view words) { return HasWords(said, words); });
}

bool SaysTimes(std::string_view said) {
  constexpr std::string_view kTimes[] = {"setting times", "utime", "utimes"};
  return std::ranges::any_of(kTimes, [&](std::string_view words) { return HasWords(said, words); });
}

Uses UsesByProgram(std::span<const std::string_view> segments) {
  if (segments.empty()) return kTriedByOthers;
  const std::string_view program = ProgramName(segments[0]);
  const std::string_view second = segments.size() > 1 ? segments[1] : std::string_view();
  if (IsNumber(second)) return kTriedExecute;  // dash names what it cannot open or create
  if (second.starts_with("line ") || Contains(kShells, program)) return kTriedByShell;
  if (program.starts_with("zsh:")) return kTriedByShell;
  if (program == "make" || program == "gmake") return kTriedRead | kTriedExecute;  // make -f x, x
  if (program == "find") return kTriedList | kTriedExecute;                        // -exec x
  if (Contains(kExecutors, program)) return kTriedExecute;
  if (Contains(kReaders, program) || IsPlaceInFile(segments[0])) return kTriedRead;
  return kTriedByOthers;
}

bool IsCalledAbove(std::span<const std::string> before, std::string_view function) {
  constexpr std::size_t kLongestFrame = 12;
  for (std::size_t i = before.size(), looked_at = 0; i-- > 0 && looked_at < kLongestFrame;
       ++looked_at) {
    if (before[i].contains(function)) return true;
    if (before[i].contains("File \"") || before[i].starts_with("Traceback")) return false;
  }
  return false;
}

// Of pytest, unittest, Go, cargo, Jest, Automake and TAP. What a test prints itself is none of it.
bool IsTestReport(std::string_view line) {
  constexpr std::string_view kBeginnings[] = {
      "ok ",   "not ok ",    "pass:",     "fail:",   "xfail:", "xpass:",  "skip:",
      "test ", "--- fail: ", "expected:", "actual:", "left: ", "right: ", "received:"};
  constexpr std::string_view kWords[] = {"assert",     "assertionerror", "assertion",
                                         "assert_eq!", "assertequal",    "expected"};
  const std::string lower = Lowered(Trimmed(line));
  std::string_view text = lower;
  // pytest marks what it says of a failure, and within it differences: `E       - x`.
  if (text.starts_with("e  ")) {
    text = Trimmed(text.substr(1));
    constexpr std::string_view kDifferences[] = {"- ", "+ ", "? "};
    const auto begins = [&](std::string_view mark) { return text.starts_with(mark); };
    if (std::ranges::any_of(kDifferences, begins)) return true;
  }
  const auto begins = [&](std::string_view start) { return text.starts_with(start); };
  const auto has = [&](std::string_view words) { return HasWords(text, words); };
  return std::ranges::any_of(kBeginnings, begins) || std::ranges::any_of(kWords, has);
}

}  // namespace pa
