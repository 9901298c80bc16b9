#include "supervisor/text/columns.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace pa {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// East Asian Width W and F (Unicode 15, EastAsianWidth.txt), in runs that hold a few others, too.
constexpr struct {
  std::uint32_t first, last;
} kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23f3},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x26ff},
    {0x2705, 0x27bf},   {0x2b1b, 0x2b55},   {0x2e80, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff}, {0x1f000, 0x1ffff},
    {0x20000, 0x3ffff},
};

std::size_t ColumnsOfPoint(std::uint32_t point) {
  if (point < 0x1100) return 1;  // which most of a text is
  const bool wide = std::ranges::any_of(
      kWide, [&](const auto& run) { return point >= run.first && point <= run.last; });
  return wide ? 2 : 1;
}

// A character with its columns, or a colour; what is not UTF-8 is one character for each byte.
struct Cell {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};
Cell FirstCell(std::string_view text) {
  const std::size_t colour = text.starts_with("\x1b[") ? text.find('m') : text.npos;
  if (colour != text.npos) return {colour + 1, 0};
  std::size_t invalid = 0;
  const std::size_t length = Utf8SequenceLength(text, &invalid);
  if (length == 0) return {};
  return {length, ColumnsOfPoint(CodePointOf(text.substr(0, length)))};
}

// How many bytes of the beginning take at most `columns`.
std::size_t Fitting(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Cell cell = FirstCell(text.substr(bytes));
    if (cell.columns > columns) break;
    columns -= cell.columns;
    bytes += cell.bytes;
  }
  return bytes;
}

}  // namespace

std::size_t ColumnsOf(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Cell cell = FirstCell(text);
    columns += cell.columns;
    text.remove_prefix(cell.bytes);
  }
  return columns;
}

std::string FirstColumns(std::string_view text, std::size_t columns) {
  const std::size_t bytes = Fitting(text, columns);
  if (bytes == text.size()) return std::string(text);
  if (columns == 0) return "";
  return std::string(text.substr(0, Fitting(text, columns - 1))).append(kEllipsis);
}

std::string LastColumns(std::string_view text, std::size_t columns) {
  const std::size_t all = ColumnsOf(text);
  if (all <= columns) return std::string(text);
  if (columns == 0) return "";
  // Half a wide character is left out, too.
  std::size_t over = all - (columns - 1);
  while (over > 0) {
    const Cell cell = FirstCell(text);
    over -= std::min(over, cell.columns);
    text.remove_prefix(cell.bytes);
  }
  return std::string(kEllipsis).append(text);
}

std::string Padded(std::string text, std::size_t columns) {
  const std::size_t taken = ColumnsOf(text);
  if (taken < columns) text.append(columns - taken, ' ');
  return text;
}

}  // namespace pa
