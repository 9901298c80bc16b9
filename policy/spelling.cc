#include "policy/spelling.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/words.h"

namespace pa::policy {
namespace {

constexpr std::size_t kBase = 8;  // of a short name, before the dot
constexpr std::size_t kExtension = 3;
constexpr std::size_t kKept = 6;  // of the base, before `~1`
constexpr std::size_t kHashed =
    2;  // before four hexadecimal digits and `~1`, where there were many alike

bool SameLetters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, LowerCase, LowerCase);
}

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (LowerCase(c) >= 'a' && LowerCase(c) <= 'f');
}

// What a short name is made of: the last dot that is not the first character parts it.
struct NameParts {
  std::string base;
  std::string extension;
  bool shortened;  // else the name is its own short name
};

NameParts PartsOf(std::string_view name) {
  const std::string_view bare = name.substr(std::min(name.find_first_not_of(". "), name.size()));
  const std::size_t dot = bare.rfind('.');
  NameParts parts{.base = std::string(bare.substr(0, dot)),
                  .extension = std::string(dot == bare.npos ? "" : bare.substr(dot + 1)),
                  .shortened = bare.size() != name.size()};
  for (std::string* part : {&parts.base, &parts.extension}) {
    parts.shortened =
        std::erase_if(*part, [](char c) { return c == ' ' || c == '.'; }) > 0 || parts.shortened;
  }
  parts.shortened =
      parts.shortened || parts.base.size() > kBase || parts.extension.size() > kExtension;
  parts.extension.resize(std::min(parts.extension.size(), kExtension));
  return parts;
}

// `VSCODE~1`, `SETTIN~2.JSO`, `SE3F2A~1.JSO`.
bool IsShortNameOf(std::string_view spelling, std::string_view name) {
  const std::size_t tilde = spelling.find('~');
  if (tilde == spelling.npos || tilde + 1 == spelling.size()) return false;
  const char number = spelling[tilde + 1];
  const std::string_view rest = spelling.substr(tilde + 2);
  const std::string_view base = spelling.substr(0, tilde);
  if (number < '0' || number > '9' || (!rest.empty() && rest[0] != '.')) return false;
  const NameParts parts = PartsOf(name);
  if (!parts.shortened) return false;
  if (!SameLetters(rest.substr(rest.empty() ? 0 : 1), parts.extension)) return false;
  if (SameLetters(base, std::string_view(parts.base).substr(0, kKept))) return true;
  return base.size() == kKept && parts.base.size() >= kHashed &&
         SameLetters(base.substr(0, kHashed), parts.base.substr(0, kHashed)) &&
         std::ranges::all_of(base.substr(kHashed), IsHex);
}

std::string_view FirstOf(std::string_view path) { return path.substr(0, path.find('/')); }

}  // namespace

bool Spells(std::string_view spelling, std::string_view name) {
  if (spelling == name) return true;
  spelling = spelling.substr(0, spelling.find(':'));
  spelling = spelling.substr(0, spelling.find_last_not_of(" .") + 1);
  return SameLetters(spelling, name) || IsShortNameOf(spelling, name);
}

void TakeSame(std::string_view& spelled, std::string_view& named) {
  // Most of a path is spelled the same.
  const auto [differs, its] = std::ranges::mismatch(spelled, named);
  const std::string_view equal = spelled.substr(0, std::size_t(differs - spelled.begin()));
  const std::size_t whole = equal.rfind('/') + 1;  // 0: not one component
  spelled.remove_prefix(whole);
  named.remove_prefix(whole);
  while (!spelled.empty() && !named.empty() && Spells(FirstOf(spelled), FirstOf(named))) {
    for (std::string_view* path : {&spelled, &named}) {
      path->remove_prefix(std::min(FirstOf(*path).size() + 1, path->size()));
    }
  }
}

}  // namespace pa::policy
