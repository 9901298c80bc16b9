#include "supervisor/denials/refused_names.h"

#include <algorithm>

#include "base/utf8.h"
#include "base/words.h"
#include "supervisor/denials/refusals.h"

namespace pa {
namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::string_view kBlanks = " \t";

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
  text = Trimmed(text.substr(at), kBlanks);
  for (const std::string_view ending : kEndings) {
    if (text.ends_with(ending)) text.remove_suffix(ending.size());
  }
  while (!text.empty() && std::string_view(")]}\"'`,").contains(text.back())) text.remove_suffix(1);
  Add(names, text);
  Add(names, text.substr(0, text.find_first_of(kBlanks)));
  return names;
}

// Of programs that put no quotes around a name, and nothing behind it: a relative one is known by
// what stands before it.
Names NamesAfterWords(std::string_view text) {
  constexpr std::string_view kBefore[] = {"cannot create ",
                                          "cannot open ",
                                          "Cannot open ",
                                          "could not write config file ",
                                          "could not lock config file ",
                                          "couldn't open temporary file "};
  Names names;
  for (const std::string_view words : kBefore) {
    if (text.starts_with(words)) Add(names, text.substr(words.size()));
  }
  return names;
}

Names NamesIn(std::string_view text) {
  Names names = QuotedNames(text);
  if (names.empty()) names = BareNames(text);
  return names.empty() ? NamesAfterWords(text) : names;
}

}  // namespace

std::vector<std::string_view> Segments(std::string_view text) {
  std::vector<std::string_view> segments;
  while (!text.empty()) {
    if (segments.size() == 32) return {};  // no program says so
    const std::size_t end = std::min(text.find(": "), text.size());
    segments.push_back(Trimmed(text.substr(0, end), kBlanks));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return segments;
}

Names NamesBehind(std::string_view text) {
  if (!text.starts_with(": ") && !text.starts_with(", ") && !text.starts_with(" @ ")) return {};
  Names names = QuotedNames(text.substr(1));
  if (!names.empty() || text.starts_with(',')) return names;
  names = BareNames(text.substr(1, text.rfind(" (Errno::") - 1));
  std::erase_if(names, [](const std::string& name) { return !name.starts_with('/'); });
  return names;
}

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

}  // namespace pa
