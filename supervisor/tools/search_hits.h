// SearchHits: collects the hits of a search, ordered by path, in bounded memory.
//
//    SearchHits hits(offset + limit);
//    hits.AddMatch("src/a.c", {.line = 3, .text = "int main() {"});
//    for (const auto& [path, file] : hits.files()) ...
//
// ripgrep works in parallel and prints files as it finishes them. To show the same part of the same
// result twice, hits have to be sorted. Only the first ones are kept, as many as are asked for and
// kMaxKept allows; the rest is counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pa {

struct SearchMatch {
  std::int64_t line = 0;
  std::string text;  // without the line end; of a match over several lines all of them
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

  // `wanted`: how many hits are asked for, from the first on: matches, or files if there are no
  // matches.
  explicit SearchHits(std::uint64_t wanted) : wanted_(wanted) {}

  void AddFile(const std::string& path, std::uint64_t count);
  // The matches of a file must come in order; AddFile must not be called for it.
  void AddMatch(const std::string& path, SearchMatch match);
  // A line after the last match that was added.
  void AddAfter(const std::string& path, std::string line);

  const Files& files() const { return files_; }
  std::uint64_t total_files() const { return total_files_; }
  std::uint64_t total_matches() const { return total_matches_; }
  // How many hits are kept: these are the first ones, without a gap.
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
