#include "supervisor/refusals.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/utf8.h"

namespace pa {
namespace {

using Lines = std::span<const std::string>;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxLine = 8u << 10;
constexpr std::size_t kMaxPath = 4096;

// ---- what was tried ----

constexpr Uses kTriedByOthers = kTriedRead | kTriedWrite | kTriedChange;

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

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
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

// `segments`: what stands before the path, in lower case.
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

// ---- which path ----

constexpr std::string_view kBlanks = " \t";

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool IsWritable(std::string_view name) {
  return !name.empty() && name.size() < kMaxPath && IsValidUtf8(name) &&
         std::ranges::none_of(name, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

void Add(Names& names, std::string_view name) {
  if (name.starts_with("file:///")) name.remove_prefix(7);
  if (names.size() == kMaxRefusalNames || !IsWritable(name)) return;
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

struct Quotes {
  std::string_view open;
  std::string_view close;
};
constexpr Quotes kQuotes[] = {{"'", "'"}, {"\"", "\""},         {"`", "'"},
                              {"`", "`"}, {"\u2018", "\u2019"}, {"\u201c", "\u201d"}};

// What stands in quotes at `at`, and is ended by one that no name goes on behind.
std::string_view QuotedAt(std::string_view text, std::size_t at) {
  constexpr std::string_view kBefore = " \t([{=,:";
  constexpr std::string_view kBehind = " \t)]},;:.";
  const bool bytes = at > 0 && text[at - 1] == 'b' && text.substr(at).starts_with('\'');  // python
  if (at > 0 && !bytes && !kBefore.contains(text[at - 1])) return {};
  for (const Quotes& quotes : kQuotes) {
    if (!text.substr(at).starts_with(quotes.open)) continue;
    const std::size_t begin = at + quotes.open.size();
    for (std::size_t end = begin; (end = text.find(quotes.close, end)) != text.npos; ++end) {
      const std::size_t behind = end + quotes.close.size();
      if (behind == text.size() || kBehind.contains(text[behind])) {
        return text.substr(begin, end - begin);
      }
    }
  }
  return {};
}

Names QuotedNames(std::string_view text) {
  constexpr std::string_view kMarks = "'\"`\xe2";  // the last begins the typographic ones
  Names names;
  int tried = 0;  // each costs a look at the rest of the text
  for (std::size_t at = 0; (at = text.find_first_of(kMarks, at)) != text.npos; ++at) {
    if (++tried > 32) break;
    const std::string_view name = QuotedAt(text, at);
    if (name.empty()) continue;
    Add(names, name);
    at = static_cast<std::size_t>(name.data() - text.data()) + name.size();
  }
  return names;
}

std::size_t FindPath(std::string_view text) {
  constexpr std::string_view kBefore = " \t([<>=\"'`";
  constexpr std::string_view kBeginnings[] = {"/", "~/", "./", "../", "file:///"};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && !kBefore.contains(text[at - 1])) continue;
    const auto begins = [&](std::string_view start) { return text.substr(at).starts_with(start); };
    if (std::ranges::any_of(kBeginnings, begins)) return at;
  }
  return text.npos;
}

// Without quotes a path ends with the text, or with its first blank.
Names BareNames(std::string_view text) {
  constexpr std::string_view kEndings[] = {
      " for reading", " for writing", " for reading and writing",
      " - opendir",   " - open",      " - mkstemp"};
  Names names;
  const std::size_t at = FindPath(text);
  if (at == text.npos) return names;
  text = Trimmed(text.substr(at));
  for (const std::string_view ending : kEndings) {
    if (text.ends_with(ending)) text.remove_suffix(ending.size());
  }
  while (!text.empty() && std::string_view(")]}\"'`,").contains(text.back())) text.remove_suffix(1);
  Add(names, text);
  Add(names, text.substr(0, text.find_first_of(kBlanks)));
  return names;
}

Names NamesIn(std::string_view text) {
  Names names = QuotedNames(text);
  return names.empty() ? BareNames(text) : names;
}

std::vector<std::string_view> Segments(std::string_view text) {
  std::vector<std::string_view> segments;
  while (!text.empty()) {
    if (segments.size() == 32) return {};  // no program says so
    const std::size_t end = std::min(text.find(": "), text.size());
    segments.push_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return segments;
}

// What stands before the errno without what belongs to it: `[Errno 13]`, `(13:`, `error=13,`.
std::string_view WithoutNumber(std::string_view text) {
  constexpr std::string_view kBelongs[] = {"[Errno 13]", "[Errno 2]", "[Errno 30]", "error=13,",
                                           "(13:",       "(2:",       "(30:",       "EACCES:",
                                           "ENOENT:",    "EROFS:",    ":",          "("};
  if (text.ends_with('\'') || text.ends_with('"')) text.remove_suffix(1);  // clang quotes the errno
  for (bool cut = true; cut;) {
    cut = false;
    text = Trimmed(text);
    for (const std::string_view ending : kBelongs) {
      if (!text.ends_with(ending)) continue;
      text.remove_suffix(ending.size());
      cut = true;
    }
  }
  return text;
}

// `: 'x'`, `, open 'x'`, ` @ rb_sysopen - /x (Errno::EACCES)` of python, node and ruby.
Names NamesBehind(std::string_view text) {
  if (!text.starts_with(": ") && !text.starts_with(", ") && !text.starts_with(" @ ")) return {};
  Names names = QuotedNames(text.substr(1));
  if (!names.empty() || text.starts_with(',')) return names;
  names = BareNames(text.substr(1, text.rfind(" (Errno::") - 1));
  std::erase_if(names, [](const std::string& name) { return !name.starts_with('/'); });
  return names;
}

// The path as the last thing before the errno; tar and Haskell have a word in between. What a line
// begins with is a program, unless nothing else is there.
Names NamesBefore(std::span<const std::string_view> segments) {
  if (segments.empty()) return {};
  const std::string_view last = segments.back();
  Names names = NamesIn(last);
  if (!names.empty()) return names;
  const bool alone = segments.size() == 1;
  if (!alone && !last.contains(' ') && segments.size() == 2) Add(names, last);
  if (segments.size() < 3) return names;
  names = NamesIn(segments[segments.size() - 2]);
  if (names.empty() && !last.contains(' ')) Add(names, last);
  return names;
}

// ---- a line ----

struct ErrorText {
  std::string_view words;
  Reason reason;
};
constexpr ErrorText kErrorTexts[] = {
    {"permission denied", Reason::kRefused},
    {"accessdeniedexception", Reason::kRefused},
    {"eacces", Reason::kRefused},
    {"read-only file system", Reason::kReadOnly},
    {"erofs", Reason::kReadOnly},
    {"no such file or directory", Reason::kAbsent},
    {"enoent", Reason::kAbsent},
};

std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// What a line says beside its names.
std::string Said(std::string_view line, const Names& names) {
  std::string said(line);
  for (const std::string& name : names) {
    const std::size_t at = said.find(name);
    if (at != said.npos) said.erase(at, name.size());
  }
  return Lowered(said);
}

// python says what was tried in the lines above: the call, and for a program its own function's name.
std::optional<Uses> UsesByTraceback(Lines before) {
  int looked_at = 0;
  for (std::size_t i = before.size(); i-- > 0 && looked_at < 2;) {
    const std::string& line = before[i];
    if (line.find_first_not_of(" \t^~E") == line.npos)
      continue;  // what marks a place in the line below
    if (line.starts_with("Traceback")) break;
    ++looked_at;
    std::string lower = Lowered(line);
    if (const std::size_t file = lower.rfind("\", line "); file != lower.npos) lower.erase(0, file);
    if (HasWords(lower, "open") && (lower.contains("'w") || lower.contains("\"w") ||
                                    lower.contains("'a") || lower.contains("\"a"))) {
      return kTriedWrite;
    }
    if (const auto uses = UsesByWords(lower)) return uses;
  }
  return std::nullopt;
}

// cargo and others name the path, then `Caused by:`, then the errno.
std::string_view EffectOf(Lines before) {
  std::string_view cause;
  for (std::size_t i = before.size(), looked_at = 0; i-- > 0 && looked_at < 4; ++looked_at) {
    const std::string_view line = Trimmed(before[i]);
    if (line.empty()) continue;
    if (cause.empty() && line != "Caused by:") return {};
    if (!cause.empty()) return line;
    cause = line;
  }
  return {};
}

std::vector<std::string> Lowered(std::span<const std::string_view> segments) {
  std::vector<std::string> lower;
  for (const std::string_view segment : segments) lower.push_back(Lowered(segment));
  return lower;
}

Uses UsesOf(const std::string& line, std::span<const std::string_view> segments, const Names& names,
            Lines before) {
  const std::string said = Said(line, names);
  const std::vector<std::string> lower = Lowered(segments);
  // dash opens to read and creates to write.
  const bool dash = lower.size() > 1 && IsNumber(lower[1]);
  if (dash && HasWords(said, "cannot open")) return kTriedRead;
  if (said.contains("permissionerror")) {
    if (const auto uses = UsesByTraceback(before)) return *uses;
    return kTriedByOthers;
  }
  if (const auto uses = UsesByWords(said)) return *uses;
  std::vector<std::string_view> program;
  for (const std::string& segment : lower) program.emplace_back(segment);
  if (!program.empty() && !names.empty() && segments.back().contains(names[0])) program.pop_back();
  return UsesByProgram(program);
}

// git locks a file by creating another one beside it.
void NameTheLock(const std::string& line, Refusal& refusal) {
  if (!line.contains("could not lock config file")) return;
  for (std::string& name : refusal.names) name += ".lock";
  refusal.uses = kTriedChange;
}

std::optional<Refusal> ReadPath(const std::string& line, Lines before) {
  const std::string lower = Lowered(line);
  for (const ErrorText& text : kErrorTexts) {
    const std::size_t at = lower.find(text.words);
    if (at == lower.npos) continue;
    Refusal refusal{.reason = text.reason};
    const std::string_view behind = std::string_view(line).substr(at + text.words.size());
    std::string_view front = WithoutNumber(std::string_view(line).substr(0, at));
    if (front.empty() || IsNumber(front)) front = EffectOf(before);
    const std::vector<std::string_view> segments = Segments(front);
    refusal.names = NamesBehind(behind);
    if (refusal.names.empty()) refusal.names = NamesBefore(segments);
    if (refusal.names.empty()) return std::nullopt;
    const std::string whole = std::string(front) + " " + std::string(behind);
    refusal.uses = UsesOf(whole, segments, refusal.names, before);
    NameTheLock(line, refusal);
    // What is not in sight cannot be asked about either: ls looks before it opens.
    if (refusal.uses == 0 && refusal.reason == Reason::kAbsent) refusal.uses = kTriedRead;
    if (refusal.uses == 0) return std::nullopt;
    return refusal;
  }
  return std::nullopt;
}

// ---- the network ----

bool ContainsAny(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

// `1.2.3.4`, so that nothing is taken for an address that is a version: `1.2.3`.
bool HasAddress(std::string_view text) {
  int dots = 0;
  bool digit = false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && dots == 3) return true;
    if (!is_digit) dots = c == '.' && digit ? dots + 1 : 0;
    digit = is_digit;
  }
  return false;
}

constexpr std::string_view kNoNames[] = {"could not resolve host",
                                         "couldn't resolve host",
                                         "temporary failure in name resolution",
                                         "eai_again",
                                         "temporary failure resolving",
                                         "unable to resolve host address"};
constexpr std::string_view kNoFamily[] = {"address family not supported", "eafnosupport"};
constexpr std::string_view kOtherFamilies[] = {"netlink", "vsock", "bluetooth", "packet"};
constexpr std::string_view kInternet[] = {
    "tcp",       "udp",     "://",  "[::",          "port ", "urlopen",
    "localhost", "af_inet", "http", "socket::inet", ":::"};
constexpr std::string_view kThisMachine[] = {"localhost", "127.0.0.", "[::1]", "::1:"};

// Whether what stands above a bare errno speaks of the internet: the frames of a traceback.
bool InternetAbove(Lines before) {
  constexpr std::string_view kFrames[] = {"create_connection", "/urllib", "/http/", "/requests/",
                                          "af_inet"};
  for (std::size_t i = before.size(), looked_at = 0; i-- > 0 && looked_at < 12; ++looked_at) {
    if (before[i].starts_with("Traceback")) return false;
    if (ContainsAny(Lowered(before[i]), kFrames)) return true;
  }
  return false;
}

std::optional<Refusal> ReadNetwork(const std::string& line, Lines before) {
  const std::string lower = Lowered(line);
  Refusal refusal{.reason = Reason::kNoNetwork};
  if (ContainsAny(lower, kNoNames)) return refusal;
  const bool unreachable =
      lower.contains("network is unreachable") || lower.contains("enetunreach");
  const bool curl = lower.contains("curl: (7) failed to connect to ");
  if (!unreachable && !curl && !ContainsAny(lower, kNoFamily)) return std::nullopt;
  // Go looks names up at a server that may stand on this machine.
  const bool lookup = lower.contains("lookup ");
  refusal.loopback = !lookup && ContainsAny(lower, kThisMachine);
  if (unreachable || curl) return refusal;
  if (ContainsAny(lower, kOtherFamilies)) return std::nullopt;
  if (HasWords(lower, "unix") || lower.contains(".sock") || lower.contains("af_unix")) {
    return Refusal{.reason = Reason::kLocalSocket};
  }
  const bool by_bash = lower.starts_with("bash: socket:");  // /dev/tcp
  if (by_bash || HasAddress(lower) || ContainsAny(lower, kInternet)) return refusal;
  if (lower.contains("[errno 97]") && InternetAbove(before)) return refusal;
  return std::nullopt;
}

// Where the escape sequence at `at` ends (ECMA-48: parameters, then one final byte).
std::size_t EndOfEscape(std::string_view text, std::size_t at) {
  at += 2;
  while (at < text.size() && text[at] >= ' ' && text[at] <= '?') ++at;
  return at < text.size() && text[at] >= '@' && text[at] <= '~' ? at + 1 : at;
}

// Without colours, cut where a terminal would begin a line again.
std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("\x1b[")) {
      at = EndOfEscape(text, at);
      continue;
    }
    const char c = text[at++];
    if (c == '\n' || c == '\r') {
      lines.emplace_back();
    } else if (lines.back().size() < kMaxLine) {
      lines.back() += c;
    }
  }
  return lines;
}

}  // namespace

std::vector<Refusal> ReadRefusals(std::string_view text) {
  text.remove_prefix(text.size() - std::min(text.size(), kMaxRefusalText));
  const std::vector<std::string> lines = SplitLines(text);
  std::vector<Refusal> refusals;
  for (std::size_t i = 0; i < lines.size() && refusals.size() < kMaxRefusals; ++i) {
    constexpr std::size_t kShortest = 6;  // EACCES
    if (lines[i].size() < kShortest) continue;
    const Lines before(lines.data(), i);
    std::optional<Refusal> refusal = ReadNetwork(lines[i], before);
    if (!refusal) refusal = ReadPath(lines[i], before);
    if (!refusal) continue;
    if (std::ranges::find(refusals, *refusal) == refusals.end()) {
      refusals.push_back(std::move(*refusal));
    }
  }
  return refusals;
}

}  // namespace pa
