#include "supervisor/results/line_index.h"

#include "supervisor/text/count_line_ends.h"

namespace pa {

void LineIndex::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto at = static_cast<std::size_t>(size_ % kBlock);
    if (at == 0) ends_.push_back(0);
    const std::string_view part = bytes.substr(0, kBlock - at);
    const auto ends = static_cast<std::uint32_t>(CountLineEnds(part));
    ends_.back() += ends;
    all_ends_ += ends;
    size_ += part.size();
    last_ = part.back();
    bytes.remove_prefix(part.size());
  }
}

std::uint64_t LineIndex::lines() const { return all_ends_ + (last_ == '\n' ? 0 : 1); }

LineIndex::Place LineIndex::BlockOf(std::uint64_t line) const {
  Place place;
  for (std::size_t block = 0; block + 1 < ends_.size(); ++block) {
    // The line begins behind the end of the one before, which is in this block or at its very end.
    if (place.line + ends_[block] >= line) break;
    place.line += ends_[block];
    place.offset += kBlock;
  }
  return place;
}

}  // namespace pa
