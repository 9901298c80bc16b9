// The gitlinks of git's index (gitformat-index(5)): directories that git takes for submodules,
// whoever put them there, and whose own configuration `git status` above them therefore executes.
//
//   std::expected<GitIndex, std::string> index = ReadGitIndex(bytes);
//   for (const std::string& path : index->links) ...  // relative to the top of the working tree
//
// Hostile like everything in a repository. What git could read otherwise than we do is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pa::policy {

// Of one index. Each costs a search of its own, and nobody has as many submodules.
inline constexpr std::size_t kMaxGitLinks = 4096;

struct GitIndex {
  std::vector<std::string> links;  // never absolute, no `..` in them
  std::vector<std::string>
      folded;          // directories of a sparse index: only their trees say what is in them
  std::string shared;  // the file beside it that holds the rest: `sharedindex.<hash>`, or ""
  // Entries of that file, by their number, that are gitlinks now whatever they are there;
  // ascending.
  std::vector<std::uint32_t> replaced;
  bool operator==(const GitIndex&) const = default;
};

// An error says what is wrong. `replaced`: entries of this, a shared one, that count as gitlinks.
std::expected<GitIndex, std::string> ReadGitIndex(std::string_view bytes,
                                                  std::span<const std::uint32_t> replaced = {});

}  // namespace pa::policy
