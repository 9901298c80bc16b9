#include "supervisor/cli/audit_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "supervisor/call/error_code.h"
#include "supervisor/text/columns.h"
#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

using Phase = AuditEntry::Phase;

constexpr std::string_view kOk = "ok";
constexpr std::string_view kFailed = "failed";
constexpr std::string_view kRefused = "refused";
constexpr std::string_view kUnfinished = "unfinished";

// More calls at once than any machine runs: the oldest will not end any more.
constexpr std::size_t kMostBegun = 10'000;
constexpr std::uint64_t kMostComplaints = 20;

bool Holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Local time; a number that is no time stands as it is.
std::string Formatted(PointInTime time, const char* format) {
  const auto count = time.time_since_epoch().count();
  const std::time_t seconds = count / 1000 - (count % 1000 < 0 ? 1 : 0);
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return std::to_string(count);
  return fmt::format(fmt::runtime(format), local);
}

// At most six columns for what is shorter than four days.
std::string Took(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60'000) return fmt::format("{}.{}s", ms / 1000, ms % 1000 / 100);
  const auto minutes = ms / 60'000;
  if (minutes < 60) return fmt::format("{}m{:02}s", minutes, ms / 1000 % 60);
  return fmt::format("{}h{:02}m", minutes / 60, minutes % 60);
}

// The end of a path, from a slash on where that is possible.
std::string ShortPath(const std::string& path, std::size_t columns) {
  std::string end = LastColumns(path, columns);
  if (end == path) return end;
  const std::size_t slash = end.find('/');
  const bool more = slash != end.npos && slash + 1 < end.size();
  return more ? LastColumns(path, ColumnsOf(end.substr(slash)) + 1) : end;
}

struct Cells {
  std::string time, tool, outcome, took, directory, about;
};

// A line of it, without the blanks that nobody sees.
std::string WithoutEnd(std::string row) {
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string Fitted(const Cells& cells, std::size_t width) {
  constexpr std::size_t kTime = 8, kTook = 6, kGaps = 10;
  const bool roomy = width >= 100;
  const std::size_t tool = roomy ? 17 : 12;
  const std::size_t outcome = roomy ? 19 : 14;
  const std::size_t taken = kTime + kTook + kGaps + tool + outcome;
  const std::size_t rest = std::max(width, taken + 10) - taken;
  const std::size_t directory = rest * 2 / 5;
  std::string row = fmt::format("{}  {}  {}  {:>6}  {}  {}", Padded(cells.time, kTime),
                                Padded(FirstColumns(cells.tool, tool), tool),
                                Padded(FirstColumns(cells.outcome, outcome), outcome), cells.took,
                                Padded(ShortPath(cells.directory, directory), directory),
                                FirstColumns(cells.about, rest - directory));
  return WithoutEnd(FirstColumns(row, width));
}

}  // namespace

std::vector<std::string> KnownOutcomes() {
  std::vector<std::string> known;
  for (const std::string_view word : {kOk, kFailed, kRefused, kUnfinished}) {
    known.emplace_back(word);
  }
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    known.emplace_back(CodeText(static_cast<ErrorCode>(code)));
  }
  return known;
}

std::string AuditView::Damage(const AuditLine& line, const std::string& why) {
  if (++damaged_ > kMostComplaints) return "";
  return fmt::format("{}: {}\n", VisibleText(line.place), VisibleText(why));
}

// Between files: a rotated one may be missing. Within one `audit verify` looks.
std::string AuditView::Gap(const AuditLine& line, const AuditEntry& entry) {
  const std::uint64_t expected = last_sequence_ + 1;
  last_sequence_ = entry.sequence;
  if (!line.first_of_file || entry.sequence <= expected) return "";
  return fmt::format("{}: lines {} to {} are in another file, or gone\n", VisibleText(line.place),
                     expected, entry.sequence - 1);
}

bool AuditView::IsAskedFor(const AuditEntry& entry) const {
  if (query_.since && entry.time < *query_.since) return false;
  if (query_.until && entry.time >= *query_.until) return false;
  return query_.tools.empty() || Holds(query_.tools, entry.tool);
}

bool AuditView::HasOutcome(const AuditEntry& entry, bool unfinished) const {
  if (query_.outcomes.empty()) return true;
  if (unfinished) return Holds(query_.outcomes, kUnfinished);
  if (entry.code.empty()) return Holds(query_.outcomes, kOk);
  return Holds(query_.outcomes, kFailed) || Holds(query_.outcomes, entry.code) ||
         (entry.refused && Holds(query_.outcomes, kRefused));
}

std::string AuditView::Row(const AuditEntry& entry, std::string_view outcome) {
  const Cells cells{.time = Formatted(entry.time, width_ == 0 ? "{:%F %T}" : "{:%T}"),
                    .tool = VisibleText(entry.tool),
                    .outcome = VisibleText(outcome),
                    .took = entry.duration ? Took(*entry.duration) : "-",
                    .directory = entry.directory.empty() ? "-" : VisibleText(entry.directory),
                    .about = VisibleText(entry.subject)};
  if (width_ == 0) {
    return WithoutEnd(fmt::format("{}  {:<17}  {:<19}  {:>6}  {}  {}", cells.time, cells.tool,
                                  cells.outcome, cells.took, cells.directory, cells.about));
  }
  std::string out;
  if (day_.empty()) {
    out = Fitted({"TIME", "TOOL", "OUTCOME", "TOOK", "DIRECTORY", "ABOUT"}, width_);
  }
  if (std::string day = Formatted(entry.time, "{:%F}"); day != day_) {
    out += FirstColumns(day, width_) + "\n";
    day_ = std::move(day);
  }
  return out + Fitted(cells, width_);
}

void AuditView::Show(const AuditEntry& entry, const std::string& line, bool unfinished,
                     std::string& out) {
  if (!IsAskedFor(entry) || !HasOutcome(entry, unfinished)) return;
  found_ = true;
  if (query_.json) {
    out += (width_ > 0 ? VisibleJson(line) : line) + "\n";
    return;
  }
  const std::string_view outcome = unfinished ? kUnfinished : entry.code.empty() ? kOk : entry.code;
  out += Row(entry, outcome);
}

void AuditView::Begin(const AuditEntry& entry, const std::string& line, AuditOutput& output) {
  // As lines they stand for themselves, unless it matters how the call ended.
  if (query_.json && query_.outcomes.empty()) {
    Show(entry, line, false, output.out);
    return;
  }
  if (by_id_.contains(entry.id)) return;  // a line that was copied
  begun_.push_back({entry, query_.json ? line : ""});
  by_id_.emplace(entry.id, std::prev(begun_.end()));
  if (begun_.size() <= kMostBegun) return;
  Show(begun_.front().entry, begun_.front().line, true, output.out);
  by_id_.erase(begun_.front().entry.id);
  begun_.pop_front();
}

AuditOutput AuditView::Add(const AuditLine& line) {
  AuditOutput output;
  if (line.too_long) {
    output.err = Damage(line, "no line of the audit log: it is longer than 64 KiB");
    return output;
  }
  const Result<AuditEntry> entry = ReadAuditEntry(line.text);
  if (!entry) {
    output.err = Damage(line, entry.error().Message());
    return output;
  }
  output.err = Gap(line, *entry);
  if (entry->phase == Phase::kBegin) {
    Begin(*entry, line.text, output);
    return output;
  }
  if (const auto begun = by_id_.find(entry->id); begun != by_id_.end()) {
    begun_.erase(begun->second);
    by_id_.erase(begun);
  }
  Show(*entry, line.text, false, output.out);
  return output;
}

AuditOutput AuditView::Finish() {
  AuditOutput output;
  for (const Begun& begun : begun_) Show(begun.entry, begun.line, true, output.out);
  begun_.clear();
  by_id_.clear();
  if (damaged_ > kMostComplaints) {
    output.err = fmt::format("and {} more\n", damaged_ - kMostComplaints);
  }
  if (damaged_ > 0) {
    output.err += fmt::format(
        "{} {} not shown because of that; `project-actions audit verify` checks the log\n",
        damaged_, damaged_ == 1 ? "line is" : "lines are");
  }
  return output;
}

}  // namespace pa
