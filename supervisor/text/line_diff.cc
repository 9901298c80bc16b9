#include "supervisor/text/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace pa {
namespace {

constexpr std::size_t kMaxChanges = 1000;
constexpr std::size_t kMaxSteps = 2'000'000;      // lines that are compared: some milliseconds
constexpr std::size_t kMaxLinesOfEach = 500'000;  // that are kept, of each: some megabytes
constexpr std::size_t kContext = 3;

using Lines = std::vector<std::string_view>;

// Lines [old_begin, old_end) became [new_begin, new_end); before and behind they are the same.
struct Change {
  std::size_t old_begin, old_end, new_begin, new_end;
};

// The beginning of the line that `at` is in, or of the one `back` lines before.
std::size_t LineStart(std::string_view text, std::size_t at, std::size_t back) {
  for (std::size_t i = 0; at > 0; ++i) {
    const std::size_t end = text.rfind('\n', at - 1);
    if (end == std::string_view::npos) return 0;
    if (i == back) return end + 1;
    at = end;
  }
  return 0;
}

std::size_t LineEnd(std::string_view text, std::size_t at, std::size_t further) {
  for (std::size_t i = 0; i <= further; ++i) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  return at;
}

// Of both, what lies between the first line that differs and the last, and what is shown around it.
// However long the rest is, nothing is kept of it.
struct Part {
  std::string_view before, after;
  std::size_t lines = 0;  // that stand before it
};

Part Cut(std::string_view before, std::string_view after) {
  const auto first =
      static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
  const std::size_t least = std::min(before.size(), after.size()) - first;
  std::size_t same = 0;
  while (same < least && before[before.size() - 1 - same] == after[after.size() - 1 - same]) ++same;
  const std::size_t begin = LineStart(before, first, kContext);
  const std::size_t end = LineEnd(before, before.size() - same, kContext);
  const auto lines = static_cast<std::size_t>(std::ranges::count(before.substr(0, begin), '\n'));
  return {before.substr(begin, end - begin),
          after.substr(begin, end + after.size() - before.size() - begin), lines};
}

// What both begin and end with is none of Myers' business.
struct Middle {
  std::size_t begin = 0;
  std::size_t old_end, new_end;
};

Middle Trim(const Lines& before, const Lines& after) {
  Middle middle{.old_end = before.size(), .new_end = after.size()};
  const std::size_t least = std::min(before.size(), after.size());
  while (middle.begin < least && before[middle.begin] == after[middle.begin]) ++middle.begin;
  while (middle.old_end > middle.begin && middle.new_end > middle.begin &&
         before[middle.old_end - 1] == after[middle.new_end - 1]) {
    --middle.old_end;
    --middle.new_end;
  }
  return middle;
}

// For each number of changes, how far down the old lines each diagonal (old - new) came.
class Search {
 public:
  Search(const Lines& before, const Lines& after, const Middle& middle)
      : before_(before), after_(after), middle_(middle) {}

  // False: it is not found.
  bool Run() {
    for (int changes = 0; changes <= static_cast<int>(kMaxChanges); ++changes) {
      reached_.emplace_back(static_cast<std::size_t>(2 * changes + 1));
      for (int diagonal = -changes; diagonal <= changes; diagonal += 2) {
        if (Walk(changes, diagonal)) return true;
        if (steps_ > kMaxSteps) return false;
      }
    }
    return false;
  }

  // From the end back to the beginning.
  std::vector<Change> Trace() const {
    std::vector<Change> changes;
    std::int64_t diagonal = Old() - New();
    for (int left = static_cast<int>(reached_.size()) - 1; left > 0; --left) {
      const bool down = IsDown(left, diagonal);
      const std::int64_t before = down ? diagonal + 1 : diagonal - 1;
      const std::int64_t x = At(left - 1, before);
      Add(static_cast<std::size_t>(x), static_cast<std::size_t>(x - before), down, changes);
      diagonal = before;
    }
    std::ranges::reverse(changes);
    return changes;
  }

 private:
  std::int64_t Old() const { return static_cast<std::int64_t>(middle_.old_end - middle_.begin); }
  std::int64_t New() const { return static_cast<std::int64_t>(middle_.new_end - middle_.begin); }
  std::int64_t At(int changes, std::int64_t diagonal) const {
    return reached_[static_cast<std::size_t>(changes)]
                   [static_cast<std::size_t>(diagonal + changes)];
  }
  // Whether the last change on the way there was a line that came, else one that went.
  bool IsDown(int changes, std::int64_t diagonal) const {
    return diagonal == -changes ||
           (diagonal != changes && At(changes - 1, diagonal - 1) < At(changes - 1, diagonal + 1));
  }

  bool Walk(int changes, std::int64_t diagonal) {
    std::int64_t x = 0;
    if (changes > 0) {
      const bool down = IsDown(changes, diagonal);
      x = down ? At(changes - 1, diagonal + 1) : At(changes - 1, diagonal - 1) + 1;
    }
    std::int64_t y = x - diagonal;
    const auto begin = static_cast<std::int64_t>(middle_.begin);
    while (x < Old() && y < New() &&
           before_[static_cast<std::size_t>(begin + x)] ==
               after_[static_cast<std::size_t>(begin + y)]) {
      ++x;
      ++y;
      ++steps_;
    }
    reached_.back()[static_cast<std::size_t>(diagonal + changes)] = x;
    return x >= Old() && y >= New();
  }

  // Joined with the one behind it, if they touch.
  void Add(std::size_t x, std::size_t y, bool down, std::vector<Change>& changes) const {
    Change one{middle_.begin + x, middle_.begin + x, middle_.begin + y, middle_.begin + y};
    ++(down ? one.new_end : one.old_end);
    if (!changes.empty() && changes.back().old_begin == one.old_end &&
        changes.back().new_begin == one.new_end) {
      changes.back().old_begin = one.old_begin;
      changes.back().new_begin = one.new_begin;
      return;
    }
    changes.push_back(one);
  }

  const Lines& before_;
  const Lines& after_;
  Middle middle_;
  std::vector<std::vector<std::int64_t>> reached_;
  std::size_t steps_ = 0;
};

std::vector<Change> Changes(const Lines& before, const Lines& after) {
  const Middle middle = Trim(before, after);
  if (middle.begin == middle.old_end && middle.begin == middle.new_end) return {};
  Search search(before, after, middle);
  if (search.Run()) return search.Trace();
  return {{middle.begin, middle.old_end, middle.begin, middle.new_end}};
}

void AddLine(char mark, std::string_view line, std::string& out) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

// `,count` is left out when it is 1, and an empty range begins before its place.
std::string Range(std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  if (count == 1) return std::to_string(begin + 1);
  return fmt::format("{},{}", count == 0 ? begin : begin + 1, count);
}

// Changes [first, last) in one hunk, with what stands around them. `above`: lines before all of
// these.
std::string Hunk(const Lines& before, const Lines& after, std::size_t above, const Change* first,
                 const Change* last) {
  const std::size_t lead = std::min(first->old_begin, kContext);
  const std::size_t tail = std::min(before.size() - (last - 1)->old_end, kContext);
  std::string out = fmt::format(
      "@@ -{} +{} @@\n", Range(above + first->old_begin - lead, above + (last - 1)->old_end + tail),
      Range(above + first->new_begin - lead, above + (last - 1)->new_end + tail));
  std::size_t at = first->old_begin - lead;
  for (const Change* change = first; change != last; ++change) {
    for (; at < change->old_begin; ++at) AddLine(' ', before[at], out);
    for (; at < change->old_end; ++at) AddLine('-', before[at], out);
    for (std::size_t i = change->new_begin; i < change->new_end; ++i) AddLine('+', after[i], out);
  }
  for (const std::size_t end = at + tail; at < end; ++at) AddLine(' ', before[at], out);
  return out;
}

// All of it, or the lines at the beginning that fit.
std::string UpTo(std::string hunk, std::size_t max_bytes) {
  if (hunk.size() <= max_bytes) return hunk;
  hunk.resize(hunk.rfind('\n', max_bytes) + 1);
  return hunk + "... the rest of this change is left out\n";
}

}  // namespace

std::vector<std::string_view> SplitLines(std::string_view text, std::size_t most) {
  Lines lines;
  while (!text.empty() && lines.size() < most) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::string UnifiedDiff(std::string_view old_name, std::string_view new_name,
                        std::string_view old_text, std::string_view new_text, std::size_t max_bytes,
                        bool* cut) {
  bool ignored = false;
  bool& is_cut = cut == nullptr ? ignored : *cut;
  if (old_text == new_text) return "";
  std::string out = fmt::format("--- {}\n+++ {}\n", old_name, new_name);
  const Part part = Cut(old_text, new_text);
  const Lines before = SplitLines(part.before, kMaxLinesOfEach + 1);
  const Lines after = SplitLines(part.after, kMaxLinesOfEach + 1);
  if (std::max(before.size(), after.size()) > kMaxLinesOfEach) {
    is_cut = true;
    return out + "... too many lines to compare\n";
  }
  const std::vector<Change> changes = Changes(before, after);
  const Change* const end = changes.data() + changes.size();
  for (const Change* first = changes.data(); first != end;) {
    if (out.size() >= max_bytes) {
      is_cut = true;
      return out + fmt::format("... {} changes more\n", end - first);
    }
    const Change* last = first + 1;
    while (last != end && last->old_begin - (last - 1)->old_end <= 2 * kContext) ++last;
    std::string hunk = Hunk(before, after, part.lines, first, last);
    is_cut = is_cut || hunk.size() > max_bytes - out.size();
    out += UpTo(std::move(hunk), max_bytes - out.size());
    first = last;
  }
  return out;
}

}  // namespace pa
