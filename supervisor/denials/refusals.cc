#include "supervisor/denials/refusals.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/words.h"
#include "supervisor/denials/closed_calls.h"
#include "supervisor/denials/refusal_words.h"
#include "supervisor/denials/refused_names.h"

namespace pa {
namespace {

using Lines = std::span<const std::string>;

constexpr std::size_t kMaxLine = 8u << 10;

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
    {"device or resource busy", Reason::kBusy},
    {"resource busy or locked", Reason::kBusy},  // node
    {"ebusy", Reason::kBusy},
    {"file too large", Reason::kFileTooLarge},
    {"efbig", Reason::kFileTooLarge},
    {"no such file or directory", Reason::kAbsent},
    {"enoent", Reason::kAbsent},
    {"operation not permitted", Reason::kNotPermitted},
};

// What stands before the errno without what belongs to it: `[Errno 13]`, `(13:`, `error=13,`.
std::string_view WithoutNumber(std::string_view text) {
  constexpr std::string_view kBelongs[] = {
      "[Errno 16]", "[Errno 27]", "(27:",      "EFBIG:",    "(16:", "EBUSY:", "[Errno 13]",
      "[Errno 2]",  "[Errno 30]", "[Errno 1]", "error=13,", "(13:", "(2:",    "(30:",
      "EACCES:",    "ENOENT:",    "EROFS:",    "EPERM:",    ":",    "("};
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

// What a line says beside its names.
std::string Said(std::string_view line, const Names& names) {
  std::string said(line);
  for (const std::string& name : names) {
    const std::size_t at = said.find(name);
    if (at != said.npos) said.erase(at, name.size());
  }
  return Lowered(said);
}

// python says what was tried in the lines above: the call, and for a program its own function's
// name.
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

std::vector<std::string> AllLowered(std::span<const std::string_view> segments) {
  std::vector<std::string> lower;
  for (const std::string_view segment : segments) lower.push_back(Lowered(segment));
  return lower;
}

Uses UsesOf(const std::string& line, std::span<const std::string_view> segments, const Names& names,
            Lines before) {
  const std::string said = Said(line, names);
  const std::vector<std::string> lower = AllLowered(segments);
  // dash opens to read and creates to write.
  const bool dash = lower.size() > 1 && IsNumber(lower[1]);
  if (dash && HasWords(said, "cannot open")) return kTriedRead;
  if (said.contains("permissionerror") || said.contains("filenotfounderror")) {
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

// gpg writes beside each key that it only reads, to lock it.
void LockTheKeyring(std::span<const std::string_view> segments, Refusal& refusal) {
  if (segments.empty() || segments[0] != "gpg") return;
  const std::string& name = refusal.names.front();
  if (name.contains("/.gnupg/") || name.ends_with("/.gnupg")) refusal.uses = kTriedChange;
}

// sed -i writes a file beside the one that it edits, and names that one when it cannot take its
// place.
bool NameWhatSedReplaces(std::string_view front, Refusal& refusal) {
  constexpr std::string_view kSays = "sed: cannot rename ";
  constexpr std::string_view kBeside = "/sedXXXXXX";
  if (!front.starts_with(kSays)) return false;
  front.remove_prefix(kSays.size());
  const std::size_t slash = front.rfind('/');
  if (slash == front.npos || front.size() - slash != kBeside.size()) return false;
  if (!front.substr(slash).starts_with("/sed")) return false;
  refusal.names = NamesBefore(std::vector<std::string_view>{"sed", front.substr(0, slash)});
  refusal.uses = kTriedReplace;
  return !refusal.names.empty();
}

// A read-only mount also refuses what Landlock does not; what is not in sight cannot be asked about
// either: ls looks before it opens.
Uses UsesBeyondLandlock(Reason reason, const std::string& said) {
  if (reason == Reason::kAbsent) return kTriedRead;
  return reason == Reason::kReadOnly && (SaysMode(said) || SaysTimes(said)) ? kTriedMode : 0;
}

// The name of shared memory is no path, though it looks like one: it is a file in /dev/shm
// (shm_open(3)), as far as the line, or the traceback above it, says that it was shared memory.
void NameSharedMemory(const std::string& line, Lines before, Refusal& refusal) {
  if (refusal.names.size() != 1) return;
  std::string& name = refusal.names[0];
  if (!name.starts_with('/') || name.size() < 2 || name.find('/', 1) != name.npos) return;
  const bool unlinked = IsCalledAbove(before, "_posixshmem.shm_unlink(");
  const bool opened =
      IsCalledAbove(before, "_posixshmem.shm_open(") || line.contains("shared memory segment");
  if (!unlinked && !opened) return;
  name.insert(0, "/dev/shm");
  refusal.uses = unlinked ? kTriedChange : kTriedWrite;  // to read it alone, python offers no way
}

// EPERM has many causes; only a mode that cannot be set is looked into.
bool SetsMode(const Refusal& refusal, const std::string& said, Lines before) {
  return refusal.reason == Reason::kNotPermitted &&
         (SaysMode(said) || IsCalledAbove(before, "os.chmod("));
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
    if (refusal.reason == Reason::kBusy && NameWhatSedReplaces(front, refusal)) return refusal;
    const std::vector<std::string_view> segments = Segments(front);
    refusal.names = NamesBehind(behind);
    if (refusal.names.empty()) refusal.names = NamesBefore(segments);
    if (refusal.reason == Reason::kFileTooLarge) return refusal;
    if (refusal.names.empty()) return std::nullopt;
    const std::string whole = std::string(front) + " " + std::string(behind);
    if (refusal.reason == Reason::kNotPermitted) {
      if (!SetsMode(refusal, Said(whole, refusal.names), before)) return std::nullopt;
      refusal.uses = kTriedMode;
      return refusal;
    }
    refusal.uses = UsesOf(whole, segments, refusal.names, before);
    NameTheLock(line, refusal);
    LockTheKeyring(segments, refusal);
    NameSharedMemory(line, before, refusal);
    if (refusal.uses == 0) {
      refusal.uses = UsesBeyondLandlock(refusal.reason, Said(whole, refusal.names));
    }
    if (refusal.uses == 0) return std::nullopt;
    return refusal;
  }
  return std::nullopt;
}

// ---- the size of a file ----

bool IsMakesFailure(std::string_view before) {
  return before.contains("make") && before.contains(": *** [") && before.ends_with(']');
}

// bash: `x.sh: line 3: 4711`, the number of the process.
bool IsBashsJob(std::string_view before) {
  const std::vector<std::string_view> segments = Segments(before);
  if (segments.size() < 3 || !IsNumber(segments.back())) return false;
  const std::string_view line = segments[segments.size() - 2];
  return line.starts_with("line ") && IsNumber(line.substr(5));
}

// What make and shells say of a process that a signal has ended (strsignal(3)); cargo, python and
// others name the signal itself. The words alone may be anybody's.
std::optional<Refusal> ReadFileSignal(std::string_view line) {
  constexpr std::string_view kWords = "File size limit exceeded";
  Refusal refusal{.reason = Reason::kFileSignal};
  if (line.contains("SIGXFSZ")) return refusal;
  const std::size_t at = line.find(kWords);
  if (at == line.npos) return std::nullopt;
  const std::string_view before = Trimmed(line.substr(0, at));
  std::string_view behind = line.substr(at + kWords.size());
  if (behind.starts_with(" signal terminated program")) return refusal;  // gcc
  if (IsBashsJob(before)) return refusal;
  if (behind == " (core dumped)") behind = {};
  const bool by_shell = before.empty() && behind.empty();
  return by_shell || (IsMakesFailure(before) && behind.empty()) ? std::optional(refusal)
                                                                : std::nullopt;
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
// With the addresses on which servers listen, whoever may reach them.
constexpr std::string_view kThisMachine[] = {
    "localhost", "127.0.0.", "[::1]", "::1:", "0.0.0.0", "[::]:", " :::"};

// Of who would listen, and has no errno to show.
constexpr std::string_view kNoServer[] = {
    "can't find a non busy port",  // tests of redis and others, which try one port after another
    // Perl's HTTP::Daemon and other sockets, whose user did not ask whether there is one.
    "can't call method \"sockhost\" on an undefined value",
    "can't call method \"sockport\" on an undefined value"};

// Whether what stands above a bare errno speaks of the internet: the frames of a traceback.
bool InternetAbove(Lines before) {
  constexpr std::string_view kFrames[] = {"create_connection", "create_server", "/urllib", "/http/",
                                          "/requests/",        "socketserver",  "af_inet"};
  for (std::size_t i = before.size(), looked_at = 0; i-- > 0 && looked_at < 12; ++looked_at) {
    if (before[i].starts_with("Traceback")) return false;
    if (ContainsAny(Lowered(before[i]), kFrames)) return true;
  }
  return false;
}

Peer PeerIn(std::string_view lower) {
  // Go looks names up at a server that may stand on this machine.
  if (lower.contains("lookup ")) return Peer::kElsewhere;
  if (ContainsAny(lower, kThisMachine)) return Peer::kThisMachine;
  return HasAddress(lower) ? Peer::kElsewhere : Peer::kUnknown;
}

std::optional<Refusal> ReadNetwork(const std::string& line, Lines before) {
  const std::string lower = Lowered(line);
  Refusal refusal{.reason = Reason::kNoNetwork};
  if (ContainsAny(lower, kNoNames)) return refusal;
  if (ContainsAny(lower, kNoServer)) {
    refusal.peer = Peer::kThisMachine;
    return refusal;
  }
  if (lower.contains("gpg: can't connect to the agent")) {
    return Refusal{.reason = Reason::kLocalSocket};
  }
  refusal.peer = PeerIn(lower);
  const bool unreachable =
      lower.contains("network is unreachable") || lower.contains("enetunreach");
  const bool curl = lower.contains("curl: (7) failed to connect to ");
  if (unreachable || curl) {
    if (refusal.peer == Peer::kUnknown) refusal.peer = Peer::kElsewhere;
    return refusal;
  }
  if (!ContainsAny(lower, kNoFamily) || ContainsAny(lower, kOtherFamilies)) return std::nullopt;
  if (HasWords(lower, "unix") || HasWords(lower, ".sock") || lower.contains("af_unix")) {
    return Refusal{.reason = Reason::kLocalSocket};
  }
  const bool internet = lower.contains("bash: socket:") ||  // /dev/tcp
                        HasAddress(lower) || ContainsAny(lower, kInternet) || InternetAbove(before);
  if (!internet) refusal.reason = Reason::kSomeSocket;
  return refusal;
}

// ---- pseudo-terminals ----

// A name alone is also what configure scripts and linkers write.
std::optional<Refusal> ReadTerminal(std::string_view line) {
  constexpr std::string_view kSentences[] = {
      "out of pty devices",                                                       // python
      "failed to create pseudo-terminal",                                         // script
      "the system has no more ptys",                                              // expect
      "too many files are open.  close some files or increase your per-process",  // expect, too
      "unable to allocate pty",
      "could not allocate pty",
      "cannot open a pty"};
  constexpr std::string_view kNames[] = {"posix_openpt", "openpty", "forkpty", "/dev/ptmx"};
  constexpr std::string_view kFailures[] = {"permission denied", "eacces", "failed"};
  const std::string lower = Lowered(line);
  const bool failed = ContainsAny(lower, kNames) && ContainsAny(lower, kFailures);
  if (!failed && !ContainsAny(lower, kSentences)) return std::nullopt;
  return Refusal{.reason = Reason::kNoTerminal};
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
    if (IsTestReport(lines[i])) continue;
    const Lines before(lines.data(), i);
    std::optional<Refusal> refusal = ReadClosedCall(lines[i], before);
    if (!refusal) refusal = ReadNetwork(lines[i], before);
    if (!refusal) refusal = ReadFileSignal(lines[i]);
    if (!refusal) refusal = ReadTerminal(lines[i]);
    if (!refusal) refusal = ReadPath(lines[i], before);
    if (!refusal) continue;
    if (std::ranges::find(refusals, *refusal) == refusals.end()) {
      refusals.push_back(std::move(*refusal));
    }
  }
  return refusals;
}

}  // namespace pa
