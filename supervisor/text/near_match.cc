#include "supervisor/text/near_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "supervisor/text/find_all.h"
#include "supervisor/text/unicode_forms.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

// What may differ, as bits.
enum Kind : unsigned { kLineEnd = 1, kBlank = 2, kUnseen = 4, kQuote = 8, kForm = 16, kAll = 31 };

constexpr struct {
  Kind kind;
  std::string_view name;
} kKinds[] = {{kLineEnd, "line ends"},
              {kBlank, "blanks"},
              {kUnseen, "invisible characters"},
              {kQuote, "quotes or dashes"},
              {kForm, "Unicode forms"}};

constexpr struct {
  char32_t from;
  std::u32string_view to;
} kTypographic[] = {{U'\u2018', U"'"},  {U'\u2019', U"'"},  {U'\u201a', U"'"},  {U'\u201b', U"'"},
                    {U'\u2032', U"'"},  {U'\u201c', U"\""}, {U'\u201d', U"\""}, {U'\u201e', U"\""},
                    {U'\u201f', U"\""}, {U'\u2033', U"\""}, {U'\u2010', U"-"},  {U'\u2011', U"-"},
                    {U'\u2012', U"-"},  {U'\u2013', U"-"},  {U'\u2014', U"-"},  {U'\u2015', U"-"},
                    {U'\u2212', U"-"},  {U'\u2026', U"..."}};

bool IsBlank(char32_t point) {
  return point == U' ' || point == U'\t' || point == U'\v' || point == U'\f' || point == U'\xa0' ||
         point == U'\u1680' || (point >= U'\u2000' && point <= U'\u200a') || point == U'\u202f' ||
         point == U'\u205f' || point == U'\u3000';
}

bool IsOtherLineEnd(char32_t point) {
  return point == U'\r' || point == U'\x85' || point == U'\u2028' || point == U'\u2029';
}

// A text with some differences left out. Unit i was made of bytes [begin[i], end[i]); several may
// be made of the same. What is between them stands for nothing.
struct Folded {
  std::u32string units;
  std::vector<std::uint32_t> begin, end;
};

// The character at `at`, and its bytes. A \r\n is one.
struct Character {
  char32_t point = 0;
  std::size_t size = 1;
};
Character CharacterAt(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("\r\n")) return {U'\n', 2};
  std::size_t invalid = 0;
  const std::size_t size = Utf8SequenceLength(rest, &invalid);
  if (size == 0) return {U'\ufffd', invalid};
  return {CodePointOf(rest.substr(0, size)), size};
}

// What one character becomes if the differences in `kinds` do not count.
void FoldCharacter(char32_t point, unsigned kinds, std::u32string& out) {
  if (point < 0x80 && point > 0x20) {  // which most of a text is
    out += point;
    return;
  }
  if (IsOtherLineEnd(point)) {
    out += (kinds & kLineEnd) != 0 ? U'\n' : point;
  } else if (IsBlank(point)) {
    if ((kinds & kBlank) == 0) out += point;
  } else if (IsInvisible(point)) {
    if ((kinds & kUnseen) == 0) out += point;
  } else if (const auto* row =
                 std::ranges::find(kTypographic, point, [](const auto& r) { return r.from; });
             row != std::end(kTypographic)) {
    (kinds & kQuote) != 0 ? out += row->to : out += point;
  } else if ((kinds & kForm) != 0) {
    AppendDecomposed(point, out);
  } else {
    out += point;
  }
}

Folded Fold(std::string_view text, unsigned kinds) {
  Folded folded;
  folded.units.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [point, size] = CharacterAt(text, at);
    FoldCharacter(point, kinds, folded.units);
    folded.begin.resize(folded.units.size(), static_cast<std::uint32_t>(at));
    at += size;
    folded.end.resize(folded.units.size(), static_cast<std::uint32_t>(at));
  }
  return folded;
}

std::string NameOf(char32_t point, std::size_t count) {
  constexpr struct {
    char32_t point;
    std::string_view one, many;
  } kNames[] = {{U' ', "space", "spaces"},
                {U'\t', "tab", "tabs"},
                {U'\n', "line end", "line ends"},
                {U'\r', "carriage return", "carriage returns"},
                {U'\xa0', "no-break space", "no-break spaces"}};
  for (const auto& row : kNames) {
    if (row.point == point && count == 1) return std::string(row.one);
    if (row.point == point) return fmt::format("{} {}", count, row.many);
  }
  std::string name = fmt::format("U+{:04X}", static_cast<std::uint32_t>(point));
  std::string shown;
  AppendUtf8(point, shown);
  // A mark alone would be drawn over what is before it.
  const bool is_mark = point >= 0x300 && point < 0x370;
  const bool seen = !is_mark && !IsBlank(point) && VisibleText(shown) == shown;
  if (seen) name += fmt::format(" ({})", shown);
  return count == 1 ? name : fmt::format("{} {}", count, name);
}

std::string Described(std::string_view part) {
  constexpr std::size_t kMost = 6;
  std::string described;
  std::size_t told = 0;
  for (std::size_t at = 0; at < part.size();) {
    const auto [point, size] = CharacterAt(part, at);
    std::size_t count = 0;
    for (Character next{point, size}; at < part.size() && next.point == point; ++count) {
      at += next.size;
      if (at < part.size()) next = CharacterAt(part, at);
    }
    if (!described.empty()) described += ", ";
    if (told++ == kMost) return described + "...";
    described += NameOf(point, count);
  }
  return described.empty() ? "nothing" : described;
}

std::u32string UnitsOf(std::string_view part, unsigned kinds) {
  std::u32string units;
  for (std::size_t at = 0; at < part.size();) {
    const auto [point, size] = CharacterAt(part, at);
    FoldCharacter(point, kinds, units);
    at += size;
  }
  return units;
}

// Compares the passage with the place where it was found, part by part.
class Comparison {
 public:
  explicit Comparison(std::string_view text) : text_(text) {}

  void Compare(std::size_t at, std::string_view there, std::string_view asked) {
    if (there == asked || UnitsOf(there, 0) == UnitsOf(asked, 0)) return;
    // The end that the last line lacks is no character of the text.
    const bool lacks_end = there.empty() && UnitsOf(asked, kAll) == U"\n";
    for (const auto& [kind, name] : kKinds) {
      if (lacks_end && kind != kLineEnd) continue;
      if (UnitsOf(there, kAll & ~kind) == UnitsOf(asked, kAll & ~kind)) continue;
      if ((seen_ & kind) != 0) continue;
      seen_ |= kind;
      Advance(at);
      found_.push_back({name, line_, column_, Described(there), Described(asked)});
    }
  }
  std::vector<NearDifference> Take() { return std::move(found_); }

 private:
  void Advance(std::size_t to) {
    while (at_ < to) {
      const auto [point, size] = CharacterAt(text_, at_);
      at_ += size;
      ++column_;
      if (point != U'\n') continue;
      ++line_;
      column_ = 1;
    }
  }

  std::string_view text_;
  unsigned seen_ = 0;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1, column_ = 1;
  std::vector<NearDifference> found_;
};

// Units [first, first + asked.units.size()) of `there` are those of `asked`.
std::vector<NearDifference> DifferencesAt(std::string_view text, const Folded& there,
                                          std::string_view passage, const Folded& asked,
                                          std::size_t first) {
  Comparison comparison(text);
  const auto part = [](std::string_view whole, std::size_t begin, std::size_t end) {
    return whole.substr(begin, end - begin);
  };
  // Where each of both went on from.
  std::size_t text_at = first == 0 ? 0 : there.end[first - 1];
  std::size_t passage_at = 0;
  // Before the first unit the text may have more than was asked for.
  const std::string_view lead = part(passage, 0, asked.begin[0]);
  if (part(text, text_at, there.begin[first]).ends_with(lead)) {
    text_at = there.begin[first] - lead.size();
  }
  for (std::size_t i = 0; i < asked.units.size();) {
    const std::size_t from = i;
    const auto goes_on = [&](const Folded& folded, std::size_t unit) {
      return unit + 1 < folded.units.size() && folded.begin[unit + 1] == folded.begin[unit];
    };
    // One character may stand for several of the other.
    while (i + 1 < asked.units.size() && (goes_on(asked, i) || goes_on(there, first + i))) ++i;
    comparison.Compare(text_at, part(text, text_at, there.begin[first + from]),
                       part(passage, passage_at, asked.begin[from]));
    comparison.Compare(there.begin[first + from],
                       part(text, there.begin[first + from], there.end[first + i]),
                       part(passage, asked.begin[from], asked.end[i]));
    text_at = there.end[first + i];
    passage_at = asked.end[i];
    ++i;
  }
  const std::size_t behind = first + asked.units.size();
  const std::size_t next = behind < there.units.size() ? there.begin[behind] : text.size();
  const std::string_view rest = part(text, text_at, std::max(next, text_at));
  const std::string_view trail = passage.substr(passage_at);
  if (!rest.starts_with(trail)) comparison.Compare(text_at, rest, trail);
  return comparison.Take();
}

}  // namespace

std::optional<NearMatch> FindNearMatch(std::string_view text, std::string_view passage) {
  if (text.size() > NearMatch::kMaxBytes || passage.size() > NearMatch::kMaxBytes) {
    return std::nullopt;
  }
  Folded there = Fold(text, kAll);
  const Folded asked = Fold(passage, kAll);
  if (!text.ends_with('\n')) {  // the end that the last line lacks
    const auto size = static_cast<std::uint32_t>(text.size());
    there.units += U'\n';
    there.begin.push_back(size);
    there.end.push_back(size);
  }
  if (asked.units.empty()) return std::nullopt;
  std::vector<std::size_t> places = FindAll<char32_t>(there.units, asked.units);
  // Of a character that stands for several none is found alone: no e in an é.
  const auto in_one = [&](std::size_t unit) {
    return unit > 0 && unit < there.begin.size() && there.begin[unit] == there.begin[unit - 1] &&
           there.end[unit] == there.end[unit - 1];
  };
  std::erase_if(places, [&](std::size_t place) {
    return in_one(place) || in_one(place + asked.units.size());
  });
  if (places.empty()) return std::nullopt;
  NearMatch near{.line = 1, .count = places.size(), .differences = {}};
  near.line +=
      static_cast<std::uint64_t>(std::ranges::count(text.substr(0, there.begin[places[0]]), '\n'));
  near.differences = DifferencesAt(text, there, passage, asked, places[0]);
  if (near.differences.empty()) return std::nullopt;
  return near;
}

std::string DescribeDifferences(const NearMatch& near, std::string_view name) {
  std::string all;
  for (const NearDifference& one : near.differences) {
    if (!all.empty()) all += "; ";
    all += fmt::format("{}: line {}, column {} has {}, {} has {}", one.in, one.line, one.column,
                       one.there, name, one.asked);
  }
  return all;
}

}  // namespace pa
