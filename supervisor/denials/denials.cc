#include "supervisor/denials/denials.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/json_writer.h"
#include "base/units.h"
#include "policy/access.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "supervisor/denials/closed_calls.h"
#include "supervisor/denials/refusal_words.h"
#include "supervisor/denials/refusals.h"
#include "supervisor/denials/sealing.h"

namespace pa {
namespace {

using policy::Purpose;
using sandbox::Access;

constexpr std::size_t kMaxNames = 64;  // that are looked at for one command

// One of the things that a command may have tried on a path.
struct Attempt {
  Uses use;
  Access right;
  int mode;
  const char* name;
  bool on_directory;  // what holds the path must be granted
};
// The mildest first: where several would explain the line, that is what is offered.
constexpr Attempt kAttempts[] = {
    {kTriedRead, Access::kRead, R_OK, "read", false},
    {kTriedList, Access::kRead, R_OK, "read", false},
    {kTriedWrite, Access::kWrite, W_OK, "write", false},
    {kTriedChange, Access::kWrite, W_OK | X_OK, "write", true},
    {kTriedExecute, Access::kExecute, X_OK, "execute", false},
};
constexpr Uses kTriedAnyWrite = kTriedWrite | kTriedChange | kTriedMode;
constexpr const Attempt& kChange = kAttempts[3];
constexpr const Attempt& kExecute = kAttempts[4];

enum class Cause {
  kNone,  // this would have succeeded, or nobody tries it there
  kSandbox,
  kItself,  // it would fail outside as well
};

bool HasMounts(const Confined& confined) { return confined.namespaces; }

constexpr const char* kOutside =
    "no line of policy allows it; the user does it outside the sandbox";

class Judge {
 public:
  Judge(const CommandOutput& output, const Confined& confined, PathInspector& inspector)
      : output_(output.out),
        confined_(confined),
        granted_(confined.confinement.paths),
        inspector_(inspector) {}

  std::optional<Denial> Of(const Refusal& refusal);

 private:
  std::string Absolute(const std::string& name) const;
  std::optional<Denial> OfNetwork(const Refusal& refusal) const;
  std::optional<Denial> OfTerminal();
  std::optional<Denial> OfClosedCall(const Refusal& refusal) const;
  std::optional<Denial> OfSetId(const Refusal& refusal);
  std::optional<Denial> OfPath(const Refusal& refusal);
  std::optional<Denial> OfFileSize(const Refusal& refusal);
  std::string FullFile(const Refusal& refusal);
  std::optional<Denial> OfSealed(const Refusal& refusal, Uses uses);
  std::optional<Denial> OfHidden(Uses uses, const std::string& path) const;
  std::optional<Denial> OfPlace(Uses uses, const FoundPath& place);
  std::optional<Denial> OfMissing(Uses uses, const FoundPath& place);
  Cause CauseOf(const Attempt& attempt, Uses uses, const FoundPath& place);
  std::optional<Denial> OfProgram(const std::string& name);
  Uses UsesOf(const Refusal& refusal) const;
  Uses UsesByOutput(const Refusal& refusal) const;
  Denial Describe(const Attempt& attempt, const std::string& path,
                  const std::string& subject) const;
  std::string Keyring() const { return confined_.policy.home + "/.gnupg"; }
  bool IsOfKeyring(const Attempt& attempt, const std::string& path) const {
    return attempt.right == Access::kWrite && policy::IsBeneath(path, Keyring());
  }
  void DescribeKeyring(Denial& denial, const std::string& keyring) const;

  std::string_view output_;
  const Confined& confined_;
  policy::GrantedPaths granted_;
  PathInspector& inspector_;
  std::size_t names_ = 0;
  std::optional<std::string> full_;  // in the project; looked for once
  std::set<const void*> told_;       // `rm -r` complains of each file
};

std::string Judge::Absolute(const std::string& name) const {
  if (name.starts_with('/')) return name;
  if (name.starts_with("~/")) return confined_.policy.home + name.substr(1);
  return confined_.directory + '/' + name;
}

std::optional<Denial> Judge::Of(const Refusal& refusal) {
  switch (refusal.reason) {
    case Reason::kNoNetwork:
    case Reason::kLocalSocket:
    case Reason::kSomeSocket:
      return OfNetwork(refusal);
    case Reason::kFileSignal:
    case Reason::kFileTooLarge:
      return OfFileSize(refusal);
    case Reason::kNoTerminal:
      return OfTerminal();
    case Reason::kClosedCall:
      return OfClosedCall(refusal);
    case Reason::kNotPermitted:
      return OfSetId(refusal);
    case Reason::kReadOnly:
    case Reason::kBusy:
    case Reason::kAbsent:
      if (!HasMounts(confined_)) return std::nullopt;  // Landlock says neither
      break;
    case Reason::kRefused:
      break;
  }
  return OfPath(refusal);
}

std::optional<Denial> Judge::OfNetwork(const Refusal& refusal) const {
  if (refusal.reason == Reason::kLocalSocket) {
    if (confined_.namespaces) return std::nullopt;  // there they may be made
    return Denial{.syscall = "socket",
                  .blocked_by = "seccomp: local sockets are closed to commands"};
  }
  const sandbox::Network network = confined_.confinement.network;
  if (network == sandbox::Network::kFull) return std::nullopt;
  const bool near = refusal.peer != Peer::kElsewhere;
  if (network != sandbox::Network::kNone && near) return std::nullopt;
  if (confined_.purpose != Purpose::kBuild) {
    return Denial{.syscall = "socket", .blocked_by = "seccomp: only make has a network"};
  }
  Denial denial{.syscall = "socket", .blocked_by = "seccomp: network not granted by the policy"};
  if (refusal.reason == Reason::kSomeSocket && !confined_.namespaces) {
    denial.remark = "for an internet socket `network: full`; a local one needs namespaces";
    return denial;
  }
  denial.allow_with = policy::NetworkLine(near && confined_.namespaces);
  if (near && !confined_.namespaces) {
    denial.remark = "`network: loopback` suffices for this machine, but needs namespaces";
  } else if (refusal.peer == Peer::kUnknown) {
    denial.remark = "if it needs other hosts, `network: full`";
  }
  return denial;
}

// With namespaces a command has terminals of its own. Without them there are only those of the
// host, and a line that opened their directory would open the user's.
std::optional<Denial> Judge::OfTerminal() {
  const std::string path = "/dev/ptmx";
  if (confined_.namespaces || granted_.Find(path, Access::kWrite) != nullptr) return std::nullopt;
  if (!inspector_.May(path, R_OK | W_OK)) return std::nullopt;
  Denial denial{.path = path,
                .access = "write",
                .blocked_by = "landlock: without namespaces a command has no pseudo-terminals"};
  if (confined_.policy.namespaces == sandbox::Namespaces::kOff) {
    denial.allow_with = "namespaces: auto";
  } else {
    denial.remark = "this system grants no namespaces; `project-actions doctor` says why";
  }
  return denial;
}

std::optional<Denial> Judge::OfClosedCall(const Refusal& refusal) const {
  if (refusal.by_privilege && !confined_.privileged) return std::nullopt;
  const ClosedCallDescription text = DescriptionOf(refusal.call);
  return Denial{.syscall = std::string(text.syscall),
                .blocked_by = std::string(text.blocked_by),
                .remark = kOutside};
}

// A mode of the user's own file is refused for the set-id bits in it, and for nothing else.
std::optional<Denial> Judge::OfSetId(const Refusal& refusal) {
  for (const std::string& name : refusal.names) {
    if (++names_ > kMaxNames) break;
    const FoundPath place = inspector_.Look(Absolute(name), true);
    const bool exists =
        place.kind == FoundPath::Kind::kFile || place.kind == FoundPath::Kind::kDirectory;
    if (!exists || granted_.Find(place.path, Access::kWrite) == nullptr) continue;
    if (!inspector_.Owns(place.path)) continue;
    return Denial{.path = place.path,
                  .access = "write",
                  .blocked_by = "seccomp: set-user-ID and set-group-ID bits are closed to commands",
                  .remark = kOutside};
  }
  return std::nullopt;
}

// The file that the line names, else any of the project.
std::string Judge::FullFile(const Refusal& refusal) {
  const std::uint64_t limit = confined_.policy.limits.file_size;
  for (const std::string& name : refusal.names) {
    if (++names_ > kMaxNames) break;
    const FoundPath place = inspector_.Look(Absolute(name), true);
    const bool full = place.kind == FoundPath::Kind::kFile && place.size == limit;
    if (full && place.changed >= confined_.since) return place.path;
  }
  if (!full_) full_ = inspector_.FindFull(limit, confined_.since);
  return *full_;
}

// Twice as much, as far as the key goes; "" where it goes no further.
std::string LineForFileSize(std::uint64_t limit) {
  const std::uint64_t most = policy::FindKey("limits.file_size")->maximum;
  if (limit >= most) return "";
  return "limits: {file_size: " + FormatByteSize(std::min(2 * limit, most)) + "}";
}

// SIGXFSZ and EFBIG are also what comes of a lower limit that the command has set for itself, and
// EFBIG of the file system. A file that was just now written to the last byte of our limit tells
// which it was.
std::optional<Denial> Judge::OfFileSize(const Refusal& refusal) {
  const std::uint64_t limit = confined_.policy.limits.file_size;
  Denial denial{.path = FullFile(refusal), .limit = "file_size", .access = "write"};
  if (!denial.path.empty()) {
    denial.blocked_by = "limits: file_size is " + FormatByteSize(limit) + ", and the file is full";
    denial.allow_with = LineForFileSize(limit);
    denial.remark = "twice as much; how much is needed is not known";
    return denial;
  }
  if (refusal.reason != Reason::kFileSignal) return std::nullopt;
  denial.blocked_by = "limits: perhaps file_size, which is " + FormatByteSize(limit);
  denial.remark =
      "a process was ended by SIGXFSZ, and no file of that size is left to show whether this limit "
      "or one of the command's own did it";
  return denial;
}

// The private TMPDIR is granted by no policy, and empty again by now: what was there cannot be
// judged.
bool IsPrivateTmp(const std::string& path) {
  return path.contains("/project-actions-" + std::to_string(geteuid()) + "-");
}

// A line can mean one of several names: what exists is likelier than what would have been created.
std::optional<Denial> Judge::OfPath(const Refusal& refusal) {
  const Uses uses = UsesOf(refusal);
  if (auto denial = OfSealed(refusal, uses)) return denial;
  if (refusal.reason == Reason::kBusy || uses == kTriedMode) return std::nullopt;
  const bool named_alone = !refusal.names[0].contains('/');
  if (named_alone && (uses & kTriedExecute) != 0) return OfProgram(refusal.names[0]);
  std::vector<FoundPath> missing;
  for (const std::string& name : refusal.names) {
    if (++names_ > kMaxNames) return std::nullopt;
    const std::string path = Absolute(name);
    const std::string plain = std::filesystem::path(path).lexically_normal().string();
    if (IsPrivateTmp(plain)) return std::nullopt;
    if (HasMounts(confined_) && !granted_.LeadTo(plain)) return OfHidden(uses, plain);
    if (refusal.reason == Reason::kAbsent) continue;
    FoundPath place = inspector_.Look(path, uses != kTriedChange);
    if (place.kind == FoundPath::Kind::kMissing) {
      missing.push_back(std::move(place));
    } else if (auto denial = OfPlace(uses, place)) {
      return denial;
    }
  }
  for (const FoundPath& place : missing) {
    if (auto denial = OfPlace(uses, place)) return denial;
  }
  return std::nullopt;
}

constexpr std::string_view kLock = ".lock";  // beside what git is about to replace

// What git executes within the read-only repository of a project, or that repository itself.
const KeptWithin* KeptBy(const SealedPath& sealed, std::string_view path) {
  const auto keeps = [](const KeptWithin& one, std::string_view changed) {
    return changed == one.path || (one.whole && policy::IsBeneath(std::string(changed), one.path));
  };
  const auto found = std::ranges::find_if(sealed.within, [&](const KeptWithin& one) {
    return keeps(one, path) ||
           (path.ends_with(kLock) && keeps(one, path.substr(0, path.size() - kLock.size())));
  });
  return found == sealed.within.end() ? nullptr : &*found;
}

Denial OfRepository(const policy::Policy& policy, const std::string& path) {
  const bool asks = policy.git.commands == policy::GitCommands::kAsk;
  const std::string ours = "git_add stages, git_commit commits";
  return {.path = path,
          .access = "write",
          .blocked_by =
              "protected path: the repository, which git.commands keeps read-only to make "
              "and bash",
          .allow_with = asks ? "" : std::string(policy::kGitCommandsLine),
          .remark = asks
                        ? ours +
                              "; a call with git_write: true asks the user whether its command may "
                              "change the repository"
                        : "commands read the repository and do not change it: " + ours +
                              ", and the user does the rest outside the sandbox"};
}

// Only a file that another program than git executes can be unprotected (docs/policy.md).
std::string WhyNoLine(const SealedPath& sealed) {
  if (sealed.host != nullptr && !sealed.host->Line().empty()) return std::string(sealed.host->why);
  const bool by_policy = sealed.source == policy::ProtectionSource::kPolicy;
  return std::string(by_policy ? "no line allows it while filesystem.protect names it"
                               : "no line of policy allows it") +
         "; the user changes it outside the sandbox";
}

// git names what lies in a repository from the top of its working tree, `.git/FETCH_HEAD`, and does
// not say which. The line that opens the project's own repositories opens none of those below.
std::optional<Denial> OfSomeRepository(const Refusal& refusal, std::span<const SealedPath> sealed) {
  if (refusal.reason != Reason::kReadOnly) return std::nullopt;
  const auto is_named = [](const std::string& name) { return name.starts_with(".git/"); };
  if (!std::ranges::all_of(refusal.names, is_named)) return std::nullopt;
  const auto is_below = [](const SealedPath& one) {
    return one.read_only && one.path.ends_with("/.git") &&
           one.source != policy::ProtectionSource::kGitCommands;
  };
  if (std::ranges::none_of(sealed, is_below)) return std::nullopt;
  return Denial{.access = "write",
                .blocked_by = "protected path: a git repository of the working tree",
                .remark =
                    "the message does not say which; no line of policy opens one below the "
                    "working directory: the user changes it outside the sandbox"};
}

std::optional<Denial> Judge::OfSealed(const Refusal& refusal, Uses uses) {
  if (confined_.sealed.empty()) return std::nullopt;
  if (auto denial = OfSomeRepository(refusal, confined_.sealed)) {
    if (!told_.insert(&confined_.sealed).second) return std::nullopt;
    return denial;
  }
  std::vector<std::string> paths;
  for (const std::string& name : refusal.names) {
    if (++names_ > kMaxNames) return std::nullopt;
    paths.push_back(std::filesystem::path(Absolute(name)).lexically_normal().string());
    // Of two names the other may be what was refused.
    if (granted_.Find(paths.back(), Access::kWrite) == nullptr) return std::nullopt;
  }
  const auto found = Sealing(confined_.sealed, inspector_).Of(refusal.reason, uses, paths);
  if (!found) return std::nullopt;
  const SealedPath& by = *found->by;
  const KeptWithin* const kept = KeptBy(by, found->path);
  const void* const cause = kept == nullptr ? static_cast<const void*>(&by) : kept;
  if (!told_.insert(cause).second) return std::nullopt;
  const bool of_git_commands = by.source == policy::ProtectionSource::kGitCommands;
  if (of_git_commands && kept == nullptr && found->path != by.path) {
    return OfRepository(confined_.policy, found->path);
  }
  const bool of_lock = kept != nullptr && found->path == kept->path + std::string(kLock);
  return Denial{.path = of_lock ? kept->path : found->path,
                .access = "write",
                .blocked_by = "protected path: " + (kept == nullptr ? by.reason : kept->reason),
                .allow_with = by.host == nullptr ? "" : by.host->Line(),
                .remark = WhyNoLine(by)};
}

// Places that every system or the user has, so that "hidden" is likelier than "not there"; which of
// the two it is we must not say.
bool IsKnownPlace(const std::string& path, const std::string& home) {
  constexpr std::string_view kPlaces[] = {"/etc",  "/home", "/media", "/mnt", "/opt",
                                          "/root", "/run",  "/srv",   "/tmp", "/var"};
  const auto holds = [&](std::string_view place) { return policy::IsBeneath(path, place); };
  return std::ranges::any_of(kPlaces, holds) || (!home.empty() && holds(home));
}

std::optional<Denial> Judge::OfHidden(Uses uses, const std::string& path) const {
  if (!IsKnownPlace(path, confined_.policy.home)) return std::nullopt;
  const bool writes = (uses & (kTriedRead | kTriedList | kTriedExecute)) == 0;
  const Attempt& attempt = writes ? kChange : kAttempts[0];
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string& subject = writes ? parent : path;
  Denial denial = Describe(attempt, path, subject);
  const std::string& named = IsOfKeyring(attempt, path) ? denial.path : subject;
  denial.blocked_by = "mounts: hidden by the sandbox: it looks missing even if it exists";
  if (!denial.allow_with.empty()) {
    if (!denial.remark.empty()) denial.remark += "; ";
    denial.remark +=
        "if " + (named == denial.path ? "it" : named) + " does not exist, create it first";
  }
  return denial;
}

Cause Judge::CauseOf(const Attempt& attempt, Uses uses, const FoundPath& place) {
  const bool directory = place.kind == FoundPath::Kind::kDirectory;
  if (directory && attempt.use == kTriedWrite) return Cause::kNone;
  if (!directory && attempt.use == kTriedList) return Cause::kNone;
  if (directory && attempt.use == kTriedExecute) {
    return (uses & kTriedList) != 0 ? Cause::kNone : Cause::kItself;
  }
  const std::string& subject = attempt.on_directory ? place.directory : place.path;
  if (!inspector_.May(subject, attempt.mode)) return Cause::kItself;
  return granted_.Find(subject, attempt.right) == nullptr ? Cause::kSandbox : Cause::kNone;
}

std::optional<Denial> Judge::OfMissing(Uses uses, const FoundPath& place) {
  const bool creates = (uses & (kTriedWrite | kTriedChange)) != 0;
  // Beneath what is not there it would be ENOENT, but for who creates directories one by one.
  const bool deep = place.beneath_missing && uses != kTriedChange;
  if (!creates || deep || CauseOf(kChange, uses, place) != Cause::kSandbox) return std::nullopt;
  return Describe(kChange, place.path, place.directory);
}

std::optional<Denial> Judge::OfPlace(Uses uses, const FoundPath& place) {
  if (place.kind == FoundPath::Kind::kUnknown || place.kind == FoundPath::Kind::kOther)
    return std::nullopt;
  if (place.kind == FoundPath::Kind::kMissing) return OfMissing(uses, place);
  const Attempt* blocked = nullptr;
  bool ambiguous = false;
  for (const Attempt& attempt : kAttempts) {
    if ((uses & attempt.use) == 0) continue;
    const Cause cause = CauseOf(attempt, uses, place);
    if (cause == Cause::kItself) return std::nullopt;
    if (cause == Cause::kNone) continue;
    ambiguous = ambiguous || (blocked != nullptr && attempt.use == kTriedWrite);
    if (blocked == nullptr) blocked = &attempt;
  }
  if (blocked == nullptr) return std::nullopt;
  Denial denial =
      Describe(*blocked, place.path, blocked->on_directory ? place.directory : place.path);
  if (ambiguous) {
    if (!denial.remark.empty()) denial.remark += "; ";
    denial.remark += "to write it as well, filesystem.write";
  }
  return denial;
}

// Nobody is told that a file system is read-only who only reads.
Uses Judge::UsesOf(const Refusal& refusal) const {
  const Uses uses = UsesByOutput(refusal);
  return refusal.reason == Reason::kReadOnly ? uses & kTriedAnyWrite : uses;
}

// What the text around a name says: `> x`, `< x`, `open("x", "w")`.
Uses UsesBetween(std::string_view before, std::string_view behind) {
  constexpr std::string_view kQuotes = " \"'";
  const std::size_t mark = before.find_last_not_of(kQuotes);
  if (mark != before.npos && before[mark] == '>') return kTriedWrite;
  if (mark != before.npos && before[mark] == '<') return kTriedRead;
  const std::size_t comma = behind.find_first_not_of(kQuotes);
  if (comma == behind.npos || behind[comma] != ',') return kTriedByShell;
  const std::size_t mode = behind.find_first_not_of(kQuotes, comma + 1);
  const bool writes = mode != behind.npos && std::string_view("wax").contains(behind[mode]);
  return writes ? kTriedWrite : kTriedByShell;
}

// make shows the lines that it runs, and the script of bash is known.
Uses Judge::UsesByOutput(const Refusal& refusal) const {
  if (refusal.uses != kTriedByShell && refusal.uses != kTriedByOthers) return refusal.uses;
  const std::string& name = refusal.names.front();
  Uses seen = 0;
  for (const std::string_view text : {output_, confined_.script}) {
    for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; at += name.size()) {
      const Uses use = UsesBetween(text.substr(0, at), text.substr(at + name.size()));
      seen |= use == kTriedByShell ? refusal.uses : use;
    }
  }
  return seen == 0 ? refusal.uses : seen;
}

// A program that is named without a directory was looked for on PATH. Whoever looks goes on where
// it may not execute, so nothing of that name is open to the command.
std::optional<Denial> Judge::OfProgram(const std::string& name) {
  std::optional<Denial> denial;
  std::string_view rest = confined_.search_path;
  while (!rest.empty() && !HasMounts(confined_)) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = std::string(rest.substr(0, end)) + '/' + name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const FoundPath place = inspector_.Look(path, true);
    if (place.kind != FoundPath::Kind::kFile) continue;
    const Cause cause = CauseOf(kExecute, kTriedExecute, place);
    if (cause == Cause::kNone) return std::nullopt;
    if (cause == Cause::kSandbox && !denial) denial = Describe(kExecute, place.path, place.path);
  }
  return denial;
}

// gpg signs and decrypts through an agent, which it reaches by a socket in its directory. So one
// denial stands for all the files there, and its line for what gpg takes as a whole.
void Judge::DescribeKeyring(Denial& denial, const std::string& keyring) const {
  denial.path = keyring;
  if (!HasMounts(confined_)) {
    denial.remark =
        "no line suffices without namespaces, because gpg-agent is a local socket; the "
        "user signs outside the sandbox";
    return;
  }
  policy::Suggestion suggested = policy::SuggestGrant(confined_.policy, keyring, Access::kWrite);
  denial.allow_with = std::move(suggested.line);
  denial.remark = denial.allow_with.empty()
                      ? std::move(suggested.why_none)
                      : policy::PriceByName(keyring, confined_.policy.home) +
                            " and lets them sign in the user's name; tests keep keys of their own "
                            "(GNUPGHOME)";
}

Denial Judge::Describe(const Attempt& attempt, const std::string& path,
                       const std::string& subject) const {
  Denial denial{.path = path, .access = attempt.name};
  denial.blocked_by = std::string(HasMounts(confined_) ? "mounts: " : "landlock: ") + attempt.name +
                      " not granted by the policy";
  if (attempt.use == kTriedExecute && confined_.purpose == Purpose::kGitAlone) {
    const bool skips = confined_.policy.git.hooks == policy::Hooks::kSkip;
    denial.blocked_by = std::string("landlock: ") +
                        (skips ? "git.hooks is skip" : "no hook and no filter was found") +
                        ", so that git executes nothing else";
    return denial;
  }
  if (IsOfKeyring(attempt, path)) {
    DescribeKeyring(denial, Keyring());
    return denial;
  }
  policy::Suggestion suggested = policy::SuggestGrant(confined_.policy, subject, attempt.right);
  denial.allow_with = std::move(suggested.line);
  denial.remark = std::move(suggested.why_none);
  if (!denial.allow_with.empty()) {
    const auto price = HasMounts(confined_) ? policy::PriceByName : policy::PriceOf;
    denial.remark = price(subject, confined_.policy.home);
  }
  return denial;
}

bool SaysTheSame(const Denial& a, const Denial& b) {
  return a.path == b.path && a.limit == b.limit && a.syscall == b.syscall && a.access == b.access &&
         a.blocked_by == b.blocked_by && a.allow_with == b.allow_with;
}

}  // namespace

std::vector<Denial> FindDenials(const CommandOutput& output, const Confined& confined,
                                PathInspector& inspector) {
  struct Source {
    std::string_view text;
    const char* name;
  };
  std::vector<Denial> denials;
  std::optional<Judge> judge;  // costs something; most failures are none of ours
  for (const Source& stream : {Source{output.err, "stderr"}, Source{output.out, "stdout"}}) {
    for (const Refusal& refusal : ReadRefusals(stream.text)) {
      if (!judge) judge.emplace(output, confined, inspector);
      std::optional<Denial> denial = judge->Of(refusal);
      if (!denial) continue;
      denial->source = stream.name;
      const auto known = [&](const Denial& other) { return SaysTheSame(other, *denial); };
      if (std::ranges::none_of(denials, known)) denials.push_back(*std::move(denial));
      if (denials.size() == kMaxDenials) return denials;
    }
  }
  return denials;
}

std::vector<Denial> DenialsOf(const Execution& run, const Confined& with_any_sight,
                              Inside& inside) {
  if (run.Succeeded() || run.outcome == Outcome::kSetupFailed) return {};
  Confined confined = with_any_sight;
  confined.namespaces = run.namespaces;
  confined.sealed = run.sealed;
  confined.since = run.started;
  confined.privileged = geteuid() == 0;
  std::function<bool(const std::string&)> may_see;
  if (HasMounts(confined)) {
    may_see = [granted = policy::GrantedPaths(confined.confinement.paths)](
                  const std::string& path) { return granted.LeadTo(path); };
  }
  FilePathInspector inspector(confined.directory, std::move(may_see), &inside);
  return FindDenials({.err = run.err.text, .out = run.out.text}, confined, inspector);
}

void WriteDenials(JsonWriter& writer, std::span<const Denial> denials) {
  writer.BeginArray();
  for (const Denial& denial : denials) {
    writer.BeginObject();
    if (!denial.path.empty()) writer.Field("path", denial.path);
    if (!denial.syscall.empty()) writer.Field("syscall", denial.syscall);
    if (!denial.limit.empty()) writer.Field("limit", denial.limit);
    if (!denial.access.empty()) writer.Field("access", denial.access);
    writer.Field("blocked_by", denial.blocked_by);
    if (!denial.allow_with.empty()) writer.Field("allow_with", denial.allow_with);
    if (!denial.remark.empty()) writer.Field("remark", denial.remark);
    writer.Field("source", denial.source).EndObject();
  }
  writer.EndArray();
}

std::string DenialText(const Denial& denial) {
  std::string text = "denied: ";
  if (!denial.path.empty()) {
    text += denial.access + " " + denial.path;
  } else {
    text += denial.limit.empty() ? denial.syscall : denial.access + " a larger file";
  }
  text += " (" + denial.blocked_by + ")";
  if (!denial.allow_with.empty()) text += "; allow with: " + denial.allow_with;
  if (!denial.remark.empty()) text += " - " + denial.remark;
  return text;
}

}  // namespace pa
