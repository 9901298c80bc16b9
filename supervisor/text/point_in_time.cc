#include "supervisor/text/point_in_time.h"

#include <ctime>
#include <optional>

#include "base/words.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Takes what the text begins with.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : left_(text) {}

  bool Over() const { return left_.empty(); }
  bool Take(char c) {
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  // `digits` digits, a number up to `most`.
  std::optional<int> Number(std::size_t digits, int most) {
    const std::string_view word = left_.substr(0, digits);
    if (word.size() != digits || !IsNumber(word)) return std::nullopt;
    int value = 0;
    for (const char c : word) value = value * 10 + (c - '0');
    if (value > most) return std::nullopt;
    left_.remove_prefix(digits);
    return value;
  }

 private:
  std::string_view left_;
};

struct Clock {
  int hour = 0, minute = 0, second = 0;
  seconds Length() const { return seconds((hour * 60 + minute) * 60 + second); }
};

std::optional<std::chrono::year_month_day> ReadDate(TimeReader& reader) {
  const auto year = reader.Number(4, 9999);
  if (!year || !reader.Take('-')) return std::nullopt;
  const auto month = reader.Number(2, 12);
  if (!month || !reader.Take('-')) return std::nullopt;
  const auto day = reader.Number(2, 31);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::optional<Clock> ReadClock(TimeReader& reader, bool with_seconds) {
  Clock clock;
  const auto hour = reader.Number(2, 23);
  if (!hour || !reader.Take(':')) return std::nullopt;
  const auto minute = reader.Number(2, 59);
  if (!minute) return std::nullopt;
  clock.hour = *hour;
  clock.minute = *minute;
  if (!with_seconds || !reader.Take(':')) return clock;
  const auto second = reader.Number(2, 59);
  if (!second) return std::nullopt;
  clock.second = *second;
  return clock;
}

std::optional<PointInTime> Local(const std::chrono::year_month_day& date, const Clock& clock) {
  std::tm local{};
  local.tm_sec = clock.second;
  local.tm_min = clock.minute;
  local.tm_hour = clock.hour;
  local.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  local.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  local.tm_year = static_cast<int>(date.year()) - 1900;
  local.tm_isdst = -1;
  local.tm_wday = -1;  // -1 is a time, too: mktime sets this one if it succeeds
  const std::time_t time = std::mktime(&local);
  if (local.tm_wday == -1) return std::nullopt;
  return PointInTime(seconds(time));
}

// `2026-11-26T14:00:05+01:00`
std::optional<PointInTime> ReadAbsolute(std::string_view text) {
  TimeReader reader(text);
  const auto date = ReadDate(reader);
  if (!date) return std::nullopt;
  Clock clock;
  if (!reader.Over()) {
    if (!reader.Take('T') && !reader.Take(' ')) return std::nullopt;
    const auto read = ReadClock(reader, true);
    if (!read) return std::nullopt;
    clock = *read;
  }
  if (reader.Over()) return Local(*date, clock);
  const PointInTime utc = std::chrono::sys_days(*date) + clock.Length();
  if (reader.Take('Z')) return reader.Over() ? std::optional(utc) : std::nullopt;
  const bool east = reader.Take('+');
  if (!east && !reader.Take('-')) return std::nullopt;
  const auto offset = ReadClock(reader, false);
  if (!offset || !reader.Over()) return std::nullopt;
  return east ? utc - offset->Length() : utc + offset->Length();
}

// `2h`: how long ago.
std::optional<seconds> ReadRelative(std::string_view text) {
  constexpr std::size_t kMostDigits = 5;  // of weeks: beyond the years that dates can have
  if (text.size() < 2 || text.size() > kMostDigits + 1) return std::nullopt;
  const auto amount = TimeReader(text).Number(text.size() - 1, 99'999);
  if (!amount) return std::nullopt;
  switch (text.back()) {
    case 's':
      return seconds(*amount);
    case 'm':
      return std::chrono::minutes(*amount);
    case 'h':
      return std::chrono::hours(*amount);
    case 'd':
      return std::chrono::days(*amount);
    case 'w':
      return std::chrono::weeks(*amount);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::expected<PointInTime, std::string> ParsePointInTime(std::string_view text, PointInTime now) {
  if (const auto ago = ReadRelative(text)) return now - *ago;
  if (const auto point = ReadAbsolute(text)) return *point;
  return std::unexpected(
      "expected how long ago, such as 45s, 30m, 2h, 3d or 2w, or a point in time, such as "
      "2026-11-26, '2026-11-26 14:00' or 2026-11-26T14:00:05Z, found " +
      Quoted(text));
}

}  // namespace pa
