// SearchHits: what a search found, in the order of paths, however much it is.
//
//   SearchHits hits(offset + limit);
//   hits.AddMatch("src/a.c", {.line = 3, .text = "int main() {"});
//   for (const auto& [path, file] : hits.files()) ...
//
// ripgrep works in parallel and prints files as it is done with them. To show the same part of the
// same result twice, all would have to be kept and sorted; kept is what sorts first, as far as
// anybody asks for it and kMaxKept allows, and the rest is counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pa {

struct SearchMatch {
  std::int64_t line = 0;
  std::string text;  // without the end of the line; of a match over several lines all of them
  std::vector<std::string> before, after;
};

class SearchHits {
 public:
  static constexpr std::size_t kMaxKept = 8U << 20;  // bytes

  struct File {
    std::uint64_t count = 0;  // of matching lines
    std::vector<SearchMatch> matches;
    bool full = false;  // the rest of them is only counted
  };
  using Files = std::map<std::string, File>;

  // `wanted`: how many are asked for from the first on: matches, or files where there are no
  // matches.
  explicit SearchHits(std::uint64_t wanted) : wanted_(wanted) {}

  void AddFile(const std::string& path, std::uint64_t count);
  // Of one file in their order; `AddFile` is not called for it.
  void AddMatch(const std::string& path, SearchMatch match);
  // Lines after the last match that was added.
  void AddAfter(const std::string& path, std::string line);

  const Files& files() const { return files_; }
  std::uint64_t total_files() const { return total_files_; }
  std::uint64_t total_matches() const { return total_matches_; }
  // What is kept begins at the first and leaves none out before its end.
  std::uint64_t kept() const { return kept_; }

 private:
  File* Keep(const std::string& path);
  void Trim();

  std::uint64_t wanted_;
  Files files_;
  std::string last_path_;
  std::string bound_;  // from here on nothing is kept; "" = no bound yet
  std::uint64_t kept_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t total_files_ = 0, total_matches_ = 0;
};

}  // namespace pa
