// ReadGitIndex: the gitlinks in git's index (gitformat-index(5)). git takes these directories for
// submodules, regardless of their origin, so `git status` above them executes what their own
// configuration says.
//
//    std::expected<GitIndex, std::string> index = ReadGitIndex(bytes);
//    for (const std::string& path : index->links) ...  // relative to the top of the working tree
//
// The index is hostile, like everything in a repository. Whatever git could read differently from
// us is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pa::policy {

// The most gitlinks in one index. Each costs a search of its own, and nobody has as many
// submodules.
inline constexpr std::size_t kMaxGitLinks = 4096;

struct GitIndex {
  std::vector<std::string> links;  // never absolute, without `..`
  // Directories of a sparse index: only their trees tell what is in them.
  std::vector<std::string> folded;
  // The file beside the index that holds the rest of it: `sharedindex.<hash>`, or "".
  std::string shared;
  // The numbers of the entries of that file that are gitlinks now, whatever they are there;
  // ascending.
  std::vector<std::uint32_t> replaced;
  bool operator==(const GitIndex&) const = default;
};

// An error says what is wrong with the index. `replaced`: if this is a shared index, the entries of
// it that count as gitlinks.
std::expected<GitIndex, std::string> ReadGitIndex(std::string_view bytes,
                                                  std::span<const std::uint32_t> replaced = {});

// The directories that hold the files of an index, and those above them: relative to the top of the
// working tree, which is "". An error also if there are more than `most`, or if a part of the index
// lies in another file. They may have `..`.
std::expected<std::vector<std::string>, std::string> ReadIndexDirectories(std::string_view bytes,
                                                                          std::size_t most);

}  // namespace pa::policy
