// LineIndex: where the lines of a stored text begin, without keeping a place for each: how many
// line ends each block has. Who looks for a line reads one block.
//
//    LineIndex index;
//    index.Add(bytes);                            // in order, as they are stored
//    LineIndex::Place place = index.BlockOf(4711);  // lines count from 1
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pa {

class LineIndex {
 public:
  static constexpr std::size_t kBlock = 256U << 10;  // bytes

  // From where on to count.
  struct Place {
    std::uint64_t offset = 0;  // of a block
    std::uint64_t line = 1;    // the number of the line that this byte belongs to
  };

  void Add(std::string_view bytes);
  std::uint64_t lines() const;  // with a last one that has no end
  std::uint64_t ended_lines() const { return all_ends_; }
  // Of the block in which the line begins; nothing is promised of lines that there are not.
  Place BlockOf(std::uint64_t line) const;

 private:
  std::vector<std::uint32_t> ends_;  // of lines, in each block
  std::uint64_t size_ = 0;
  std::uint64_t all_ends_ = 0;
  char last_ = '\n';
};

}  // namespace pa
