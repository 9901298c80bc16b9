#include "supervisor/tools/search_hits.h"

#include <algorithm>
#include <utility>

namespace pa {
namespace {

constexpr std::size_t kOverhead = 128;  // of a node, of a match
constexpr std::size_t kLineOverhead = sizeof(std::string);

std::size_t SizeOf(const SearchMatch& match) {
  std::size_t size = kOverhead + match.text.size();
  for (const std::string& line : match.before) size += line.size() + kLineOverhead;
  for (const std::string& line : match.after) size += line.size() + kLineOverhead;
  return size;
}

std::uint64_t Entries(const SearchHits::File& file) {
  return std::max<std::uint64_t>(1, file.matches.size());
}

}  // namespace

SearchHits::File* SearchHits::Keep(const std::string& path) {
  if (!bound_.empty() && path >= bound_) return nullptr;
  const auto [at, is_new] = files_.try_emplace(path);
  if (is_new) bytes_ += kOverhead + path.size();
  return &at->second;
}

void SearchHits::AddFile(const std::string& path, std::uint64_t count) {
  ++total_files_;
  total_matches_ += count;
  File* file = Keep(path);
  if (file == nullptr) return;
  file->count = count;
  ++kept_;
  Trim();
}

void SearchHits::AddMatch(const std::string& path, SearchMatch match) {
  if (path != last_path_) ++total_files_;
  last_path_ = path;
  ++total_matches_;
  File* file = Keep(path);
  if (file == nullptr) return;
  ++file->count;
  file->full = file->full || file->matches.size() >= wanted_;
  if (file->full) return;
  bytes_ += SizeOf(match);
  file->matches.push_back(std::move(match));
  ++kept_;
  Trim();
}

void SearchHits::AddAfter(const std::string& path, std::string line) {
  const auto file = files_.find(path);
  if (file == files_.end() || file->second.matches.empty() || file->second.full) return;
  bytes_ += line.size() + kLineOverhead;
  file->second.matches.back().after.push_back(std::move(line));
}

// From the end, whole files, as long as enough is left; and of the one that is left no more than
// there is room for.
void SearchHits::Trim() {
  while (files_.size() > 1) {
    const auto last = std::prev(files_.end());
    const std::uint64_t entries = Entries(last->second);
    if (kept_ - entries < wanted_ && bytes_ <= kMaxKept) return;
    std::size_t size = kOverhead + last->first.size();
    for (const SearchMatch& match : last->second.matches) size += SizeOf(match);
    bytes_ -= std::min(bytes_, size);
    kept_ -= entries;
    bound_ = last->first;
    files_.erase(last);
  }
  if (files_.empty() || bytes_ <= kMaxKept) return;
  files_.begin()->second.full = true;
  bound_ = files_.begin()->first + '\0';  // the next path that there can be
}

}  // namespace pa
