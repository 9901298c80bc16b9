// Refusals: what a command's output says was refused to it, by which errno, and what it may have
// tried. Reads text and knows nothing of policies or files; what it finds is a question, not a
// fact.
//
//   for (const Refusal& refusal : ReadRefusals(run.err.text)) ...
//
// To add a program's way to say it: a line in the tables of refusal_words.cc, the message itself in
// refusals_test.cc. A table that is wrong about what was tried makes a denial that is not one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// The text is hostile: it decides nothing but these few names.
inline constexpr std::size_t kMaxRefusalText = 64u << 10;  // bytes, counted from the end
inline constexpr std::size_t kMaxRefusals = 64;
inline constexpr std::size_t kMaxRefusalNames = 4;  // of one line

enum class Reason : std::uint8_t {
  kRefused,       // EACCES
  kReadOnly,      // EROFS
  kBusy,          // EBUSY, of what is mounted somewhere
  kAbsent,        // ENOENT
  kFileSignal,    // SIGXFSZ: a process was ended by the limit of a file's size
  kFileTooLarge,  // EFBIG
  kNoNetwork,     // no internet socket, no name server
  kLocalSocket,   // EAFNOSUPPORT for AF_UNIX
};

// What may have been tried, as a set.
using Uses = unsigned;
inline constexpr Uses kTriedRead = 1;
inline constexpr Uses kTriedWrite = 2;   // an open for writing, which may create
inline constexpr Uses kTriedChange = 4;  // of the directory: create, remove, rename, link
inline constexpr Uses kTriedExecute = 8;
inline constexpr Uses kTriedList = 16;     // read, if it is a directory
inline constexpr Uses kTriedMode = 32;     // chmod, utimes: whoever owns it may
inline constexpr Uses kTriedReplace = 64;  // a file in the directory that is named, by rename
// Of a shell that names a path and no more: `< x`, `> x` or `x`.
inline constexpr Uses kTriedByShell = kTriedRead | kTriedWrite | kTriedExecute;

struct Refusal {
  Reason reason = Reason::kRefused;
  // Paths that the line may mean, as it writes them: without control characters, valid UTF-8. Of a
  // file's size perhaps none.
  std::vector<std::string> names = {};
  Uses uses = 0;  // of a path that is refused; nothing here is none that the sandbox refuses
  bool loopback = false;  // of a network: this machine itself was meant
  bool operator==(const Refusal&) const = default;
};

// Those of the last lines, in order.
std::vector<Refusal> ReadRefusals(std::string_view text);

}  // namespace pa
