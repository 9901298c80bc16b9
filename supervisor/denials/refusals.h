// Refusals: which accesses a command was refused by its own output, with which errno, and what it
// may have tried. Reads text and knows nothing of policies or files: a Refusal is a hint to be
// checked (denials.h), not a fact.
//
//    for (const Refusal& refusal : ReadRefusals(run.err.text)) ...
//
// To add the message of a program: a line in the tables of refusal_words.cc, the message itself in
// refusals_test.cc. A wrong entry makes denials that are none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// The text is hostile: it decides nothing but these few names.
inline constexpr std::size_t kMaxRefusalText = 64u << 10;  // bytes, at the end of the text
inline constexpr std::size_t kMaxRefusals = 64;
inline constexpr std::size_t kMaxRefusalNames = 4;  // of one line

enum class Reason : std::uint8_t {
  kRefused,       // EACCES
  kReadOnly,      // EROFS
  kBusy,          // EBUSY, from a mount point
  kAbsent,        // ENOENT
  kFileSignal,    // SIGXFSZ: the limit of file sizes killed a process
  kFileTooLarge,  // EFBIG
  kNoNetwork,     // no internet socket, no name server
  kLocalSocket,   // EAFNOSUPPORT for AF_UNIX
  kSomeSocket,    // EAFNOSUPPORT alone: an internet socket, or a local one
  kNoTerminal,    // no pseudo-terminal could be made
  kClosedCall,    // what no policy opens (closed_calls.h)
  kNotPermitted,  // EPERM for a mode: set-id bits, or a file of somebody else's
};

// What no command may do under any policy, as far as programs speak of it.
enum class ClosedCall : std::uint8_t {
  kNone,
  kPerformanceEvents,
  kIdentity,  // to become another user, as set-user-ID programs do
  kNamespaces,
  kMount,
  kRoot,  // chroot(2)
  kRawSocket,
};

// What may have been tried, as a set of bits.
using Uses = unsigned;
inline constexpr Uses kTriedRead = 1;
inline constexpr Uses kTriedWrite = 2;   // an open for writing, which may create
inline constexpr Uses kTriedChange = 4;  // of the directory: create, remove, rename, link
inline constexpr Uses kTriedExecute = 8;
inline constexpr Uses kTriedList = 16;     // read, if it is a directory
inline constexpr Uses kTriedMode = 32;     // chmod, utimes: the owner may
inline constexpr Uses kTriedReplace = 64;  // a file in the named directory, by rename
// For a shell that names only the path: `< x`, `> x` or `x`.
inline constexpr Uses kTriedByShell = kTriedRead | kTriedWrite | kTriedExecute;

// Which host a refused socket was for. A name that cannot be looked up is one elsewhere, so whoever
// came as far as a socket had an address.
enum class Peer : std::uint8_t { kElsewhere, kUnknown, kThisMachine };

struct Refusal {
  Reason reason = Reason::kRefused;
  // Paths that the line may mean, as written there: valid UTF-8 without control characters. May be
  // empty if the reason is the network, a terminal or the size of a file.
  std::vector<std::string> names = {};
  Uses uses = 0;                        // of a refused path; 0: the reason is another one
  Peer peer = Peer::kElsewhere;         // of kNoNetwork and kSomeSocket
  ClosedCall call = ClosedCall::kNone;  // of kClosedCall
  bool by_privilege = false;  // of kClosedCall: outside only root may, so others are told the same
  bool operator==(const Refusal&) const = default;
};

// Those in the last kMaxRefusalText bytes, in order.
std::vector<Refusal> ReadRefusals(std::string_view text);

}  // namespace pa
