#include "supervisor/text/text_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/try.h"
#include "base/utf8.h"
#include "supervisor/text/find_all.h"
#include "supervisor/text/line_diff.h"

namespace pa {
namespace {

using Encoding = FileText::Encoding;

// A text in units of its encoding, lines ending in \n. `ends` are those that were \r\n: where in
// `units` the
// \n is, in order.
template <typename Unit>
struct Flat {
  std::basic_string<Unit> units;
  std::vector<std::size_t> ends;

  // Where a position is in what it was made of. That of a line's end is where its \r was.
  std::size_t Raw(std::size_t at) const {
    return at + static_cast<std::size_t>(std::ranges::lower_bound(ends, at) - ends.begin());
  }
  bool IsCrLf(std::size_t end) const { return std::ranges::binary_search(ends, end); }
};

template <typename Unit>
Flat<Unit> Flatten(std::basic_string_view<Unit> raw) {
  Flat<Unit> flat;
  flat.units.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool crlf = raw[i] == '\r' && i + 1 < raw.size() && raw[i + 1] == '\n';
    if (crlf) {
      flat.ends.push_back(flat.units.size());
    } else {
      flat.units += raw[i];
    }
  }
  return flat;
}

// Those that do not overlap, from the first on.
std::vector<std::size_t> Apart(const std::vector<std::size_t>& places, std::size_t size) {
  std::vector<std::size_t> apart;
  for (const std::size_t place : places) {
    if (apart.empty() || place >= apart.back() + size) apart.push_back(place);
  }
  return apart;
}

template <typename Unit>
NoSingleMatch Places(std::basic_string_view<Unit> text, const std::vector<std::size_t>& places) {
  NoSingleMatch none{.lines = {}, .count = places.size()};
  std::uint64_t line = 1;
  std::size_t at = 0;
  for (const std::size_t place : places) {
    if (none.lines.size() == NoSingleMatch::kMaxPlaces) break;
    for (; at < place; ++at) line += text[at] == '\n' ? 1 : 0;
    none.lines.push_back(line);
  }
  return none;
}

// How the line ends in which `at` is, or the one before if it is the last and has no end.
template <typename Unit>
bool EndsInCrLf(const Flat<Unit>& flat, std::size_t at) {
  constexpr Unit kEnd = '\n';
  std::size_t end = flat.units.find(kEnd, at);
  if (end == std::basic_string<Unit>::npos && at > 0) end = flat.units.rfind(kEnd, at - 1);
  return end != std::basic_string<Unit>::npos && flat.IsCrLf(end);
}

template <typename Unit>
void Append(std::basic_string_view<Unit> text, bool crlf, std::basic_string<Unit>& out) {
  for (const Unit unit : text) {
    const bool bare = unit == '\n' && (out.empty() || out.back() != '\r');
    if (bare && crlf) out += static_cast<Unit>('\r');
    out += unit;
  }
}

template <typename Unit>
struct Edited {
  std::basic_string<Unit> units;
  std::size_t count = 0;
};

template <typename Unit>
std::expected<Edited<Unit>, NoSingleMatch> Replace(std::basic_string_view<Unit> raw,
                                                   std::basic_string_view<Unit> from,
                                                   std::basic_string_view<Unit> to, bool all) {
  const Flat<Unit> text = Flatten(raw);
  const std::basic_string<Unit> wanted = Flatten(from).units;
  const std::vector<std::size_t> places =
      FindAll<Unit>(text.units, std::basic_string_view<Unit>(wanted));
  if (places.empty() || (places.size() > 1 && !all)) {
    return std::unexpected(Places<Unit>(text.units, places));
  }
  const auto [in_from, in_to] = std::ranges::mismatch(wanted, to);
  const auto head = static_cast<std::size_t>(in_from - wanted.begin());
  std::size_t tail = 0;
  const std::size_t least = std::min(wanted.size(), to.size()) - head;
  while (tail < least && wanted[wanted.size() - 1 - tail] == to[to.size() - 1 - tail]) ++tail;
  const std::basic_string_view<Unit> middle = to.substr(head, to.size() - head - tail);
  Edited<Unit> edited;
  std::size_t kept = 0;  // of `raw`
  for (const std::size_t place : Apart(places, wanted.size())) {
    edited.units += raw.substr(kept, text.Raw(place + head) - kept);
    Append(middle, EndsInCrLf(text, place + head), edited.units);
    kept = text.Raw(place + wanted.size() - tail);
    ++edited.count;
  }
  edited.units += raw.substr(kept);
  return edited;
}

char16_t Unit(std::string_view bytes, bool big) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto second = static_cast<unsigned char>(bytes[1]);
  return static_cast<char16_t>(big ? first << 8 | second : second << 8 | first);
}

std::u16string ToUnits(std::string_view bytes, bool big) {
  std::u16string units;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) units += Unit(bytes.substr(i), big);
  return units;
}

std::string ToBytes(std::u16string_view units, bool big) {
  std::string bytes;
  for (const char16_t unit : units) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += big ? high : low;
    bytes += big ? low : high;
  }
  return bytes;
}

// `text` is valid UTF-8: a client's JSON is.
std::u16string Utf8ToUnits(std::string_view text) {
  std::u16string units;
  while (!text.empty()) {
    std::size_t invalid = 0;
    const std::size_t length = std::max<std::size_t>(1, Utf8SequenceLength(text, &invalid));
    const auto first = static_cast<unsigned char>(text[0]);
    std::uint32_t point = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (const char c : text.substr(1, length - 1)) {
      point = point << 6 | (static_cast<unsigned char>(c) & 0x3FU);
    }
    if (point >= 0x10000) {
      units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      point = 0xDC00 + ((point - 0x10000) & 0x3FF);
    }
    units += static_cast<char16_t>(point);
    text.remove_prefix(length);
  }
  return units;
}

bool IsUtf16(Encoding encoding) {
  return encoding == Encoding::kUtf16Le || encoding == Encoding::kUtf16Be;
}

// Without what surrounds it, and without what is often wrong about it.
std::string_view Bare(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1);
}

// Which line of the text the passage's first would be: the one that most of its lines vote for.
std::int64_t BestStart(const std::vector<std::string_view>& text,
                       const std::vector<std::string_view>& passage) {
  constexpr std::size_t kMaxVotes = 16;  // of a line that is there often
  std::map<std::string_view, std::vector<std::int64_t>> where;
  for (std::size_t i = 0; i < passage.size(); ++i) {
    const std::string_view bare = Bare(passage[i]);
    if (!bare.empty()) where[bare].push_back(static_cast<std::int64_t>(i));
  }
  std::map<std::int64_t, std::size_t> votes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto found = where.find(Bare(text[i]));
    if (found == where.end()) continue;
    const std::size_t most = std::min(found->second.size(), kMaxVotes);
    for (std::size_t v = 0; v < most; ++v) ++votes[static_cast<std::int64_t>(i) - found->second[v]];
  }
  const auto best =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return best == votes.end() ? -1 : std::max<std::int64_t>(0, best->first);
}

// How many pairs of neighbouring letters two lines share, of all that they have: 0 to 1.
double Likeness(std::string_view a, std::string_view b) {
  constexpr std::size_t kMost = 200;
  std::map<std::pair<char, char>, int> pairs;
  a = a.substr(0, kMost);
  b = b.substr(0, kMost);
  if (a.size() < 2 || b.size() < 2) return a == b ? 1 : 0;
  for (std::size_t i = 1; i < a.size(); ++i) ++pairs[{a[i - 1], a[i]}];
  int shared = 0;
  for (std::size_t i = 1; i < b.size(); ++i) shared += pairs[{b[i - 1], b[i]}]-- > 0 ? 1 : 0;
  return 2.0 * shared / static_cast<double>(a.size() + b.size() - 2);
}

// No line is the same: where the passage's longest is most like one.
std::int64_t LikestStart(const std::vector<std::string_view>& text,
                         const std::vector<std::string_view>& passage) {
  constexpr std::size_t kMaxLines = 5000;
  constexpr double kLeast = 0.5;
  const auto longest = std::ranges::max_element(
      passage, {}, [](std::string_view line) { return Bare(line).size(); });
  double best = kLeast;
  std::int64_t start = -1;
  for (std::size_t i = 0; i < std::min(text.size(), kMaxLines); ++i) {
    const double likeness = Likeness(Bare(text[i]), Bare(*longest));
    if (likeness <= best) continue;
    best = likeness;
    start = static_cast<std::int64_t>(i) - (longest - passage.begin());
  }
  return start == -1 ? -1 : std::max<std::int64_t>(0, start);
}

}  // namespace

std::expected<EditedText, NoSingleMatch> ReplaceText(std::string_view bytes, Encoding encoding,
                                                     const Replacement& replacement) {
  const auto& [from, to, all] = replacement;
  if (!IsUtf16(encoding)) {
    PA_TRY(auto edited, Replace<char>(bytes, from, to, all));
    return EditedText{std::move(edited.units), edited.count};
  }
  const bool big = encoding == Encoding::kUtf16Be;
  const std::u16string units = ToUnits(bytes, big);
  PA_TRY(auto edited, Replace<char16_t>(units, Utf8ToUnits(from), Utf8ToUnits(to), all));
  return EditedText{ToBytes(edited.units, big) + std::string(bytes.substr(2 * units.size())),
                    edited.count};
}

std::string ShownText(std::string_view bytes, Encoding encoding) {
  if (encoding == Encoding::kUtf8Bom) bytes.remove_prefix(3);
  if (!IsUtf16(encoding)) return RepairUtf8(bytes);
  Utf16Decoder decoder(encoding == Encoding::kUtf16Be ? Utf16Decoder::kBigEndian
                                                      : Utf16Decoder::kLittleEndian);
  std::string text = decoder.Feed(bytes.substr(std::min<std::size_t>(2, bytes.size())));
  return text + decoder.End();
}

std::string NearestPassage(std::string_view text, std::string_view passage) {
  constexpr std::size_t kMaxBytes = 4U << 10;
  constexpr std::size_t kMaxLines = 200'000;  // that are looked at
  const std::vector<std::string_view> lines = SplitLines(text, kMaxLines);
  const std::vector<std::string_view> wanted = SplitLines(passage, kMaxLines);
  if (lines.empty() || wanted.empty()) return "";
  std::int64_t start = BestStart(lines, wanted);
  if (start < 0) start = LikestStart(lines, wanted);
  if (start < 0) return "";
  const auto first = std::min(static_cast<std::size_t>(start), lines.size() - 1);
  const std::size_t count = std::min(wanted.size(), lines.size() - first);
  const char* const begin = lines[first].data();
  const std::string_view last = lines[first + count - 1];
  std::string there(begin, static_cast<std::size_t>(last.data() + last.size() - begin));
  if (!passage.ends_with('\n') && there.ends_with('\n')) there.pop_back();
  return UnifiedDiff(fmt::format("lines {} to {} of the file", first + 1, first + count),
                     "the argument 'old'", there, passage, kMaxBytes);
}

}  // namespace pa
