#include "supervisor/tools/git_porcelain.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace pa {
namespace {

constexpr std::string_view kPorcelain[] = {
    "blame",  "branch", "cat-file", "describe",  "diff",     "log",  "ls-files", "ls-tree",
    "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "status"};
constexpr std::string_view kOthers[] = {"cat",  "cd", "cut",    "echo", "false", "grep",
                                        "head", "ls", "printf", "pwd",  "sort",  "tail",
                                        "test", "tr", "true",   "uniq", "wc"};

template <typename List>
bool Holds(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

std::vector<std::string_view> Words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

bool IsKnown(const std::vector<std::string_view>& words) {
  if (words.empty()) return true;
  if (words.front() != "git") return Holds(kOthers, words.front());
  const std::size_t at = words.size() > 1 && words[1] == "--no-pager" ? 2 : 1;
  return at < words.size() && Holds(kPorcelain, words[at]) && !Holds(words, "--broken");
}

}  // namespace

bool LooksForItself(std::string_view command) {
  // Another command may stand in these, and the backslash joins lines.
  for (const std::string_view other : {"`", "$(", "<(", ">(", "\\"}) {
    if (command.find(other) != command.npos) return false;
  }
  // Also within quotes: what follows is no command then, and is hardly the name of one.
  while (!command.empty()) {
    const std::size_t end = std::min(command.find_first_of("|&;\n"), command.size());
    if (!IsKnown(Words(command.substr(0, end)))) return false;
    command.remove_prefix(std::min(end + 1, command.size()));
  }
  return true;
}

}  // namespace pa
