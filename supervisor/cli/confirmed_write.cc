#include "supervisor/cli/confirmed_write.h"

#include <fmt/format.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "supervisor/cli/terminal_approver.h"
#include "supervisor/text/line_diff.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

// The diff is what a person reads before saying yes: what a file holds cannot hide a part of it.
std::string Shown(const std::string& diff) {
  std::string out;
  for (std::string_view line : SplitLines(diff)) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    for (std::size_t tab = 0; (tab = line.find('\t')) != std::string_view::npos;) {
      out += VisibleText(line.substr(0, tab)) + "\t";
      line.remove_prefix(tab + 1);
    }
    out += VisibleText(line) + "\n";
  }
  return out;
}

void Show(const UserFileChange& change) {
  const UserFile& file = change.file;
  const std::string diff = UnifiedDiff(file.exists ? file.path : "/dev/null", file.path,
                                       file.content, change.now, 2 * kMaxUserFile);
  fmt::print("{}", isatty(STDOUT_FILENO) != 0 ? Shown(diff) : diff);
  if (file.path == change.path) return;
  fmt::print("{} leads to {}, which is changed\n", VisibleText(change.path),
             VisibleText(file.path));
}

// Why it shall not be written; "" = it shall.
std::string Confirm(bool yes) {
  if (yes) return "";
  const bool attended =
      isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  if (!attended) return "no terminal to ask on; --yes writes without asking";
  tcflush(STDIN_FILENO, TCIFLUSH);  // what was typed before is no answer
  fmt::print(stderr, "Write this? [y/N] ");
  return ReadAnswer(STDIN_FILENO) == Answer::kAccept ? "" : "as you say";
}

}  // namespace

void PrintUnwritten(const std::string& problem) {
  fmt::print(stderr, "{}; nothing was written\n", problem);
}

bool WriteConfirmed(std::span<const UserFileChange> changes, bool yes) {
  for (const UserFileChange& change : changes) Show(change);
  (void)fflush(stdout);
  if (const std::string why = Confirm(yes); !why.empty()) {
    PrintUnwritten(why);
    return false;
  }
  for (const UserFileChange& change : changes) {
    const Result<void> written = ReplaceUserFile(change.file, change.now);
    if (written) continue;
    const std::string name = VisibleText(change.file.path);
    const std::string why = written.error().sys_errno == ESTALE
                                ? name + " was changed in the meantime; run this again"
                                : VisibleText(written.error().Message());
    if (&change == &changes.front()) {
      PrintUnwritten(why);
    } else {
      fmt::print(stderr, "{}; the changes that are shown before it are written\n", why);
    }
    return false;
  }
  return true;
}

}  // namespace pa
