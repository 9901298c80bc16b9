#include "supervisor/results/row_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/json.h"
#include "base/json_writer.h"
#include "supervisor/text/escape_filter.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

constexpr std::size_t kPending = 256U << 10;
constexpr std::string_view kBeginArray = "[\n";
constexpr std::string_view kEndArray = "\n]\n";

std::string AsJsonString(std::string_view text) {
  JsonWriter writer;
  writer.String(text);
  return std::move(writer).Take();
}

// Rows of JSON, one on each line, for people: strings as what they mean.
std::string ForPeople(std::string_view rows) {
  std::string text;
  while (!rows.empty()) {
    const std::string_view row = rows.substr(0, rows.find('\n'));
    rows.remove_prefix(std::min(rows.size(), row.size() + 1));
    const Result<JsonValue> value = row.starts_with('"') ? ParseJson(row) : Result<JsonValue>();
    text += value && value->IsString() ? WithoutEscapes(value->AsString()) : std::string(row);
    if (!rows.empty()) text += '\n';
  }
  return text;
}

}  // namespace

RowOutput::RowOutput(RowForm form, ReturnMode mode, RowPlace place)
    : form_(form), mode_(mode), place_(std::move(place)) {}

void RowOutput::Add(std::string_view row) {
  ++found_.rows;
  if (mode_ == ReturnMode::kSummary) return Sample(row);
  if (mode_ == ReturnMode::kInline) Show(row);
  if (mode_ == ReturnMode::kFile && !in_file_) BeginFile();
  if (in_file_) Keep(row);
}

// A row of JSON on one line has no \n in it, and neither has a line: it joins both.
void RowOutput::Show(std::string_view row) {
  if (in_file_) return;
  std::string& shown = found_.shown;
  if (shown.size() + row.size() + 1 <= place_.shown_bytes) {
    if (found_.shown_rows++ > 0) shown += '\n';
    shown += row;
    return;
  }
  BeginFile();
  std::string_view rest = shown;
  for (std::uint64_t i = 0; i < found_.shown_rows; ++i) {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    Keep(one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  // A first line that is too long by itself.
  if (found_.shown_rows == 0 && form_ == RowForm::kLines) {
    shown = Utf8Head(row, place_.shown_bytes);
  }
}

void RowOutput::Sample(std::string_view row) {
  if (found_.sample.size() == kMaxSample) return;
  if (form_ == RowForm::kLines) {
    const std::string_view head = Utf8Head(row, kMaxSampleBytes);
    const char* end = head.size() < row.size() ? "..." : "";
    found_.sample.push_back(AsJsonString(std::string(head) + end));
  } else if (row.size() <= kMaxSampleBytes) {
    found_.sample.emplace_back(row);
  }
}

void RowOutput::BeginFile() {
  in_file_ = true;
  Result<UniqueFd> file = place_.open(form_);
  if (!file) return FailFile(file.error().Message());
  file_ = std::move(*file);
  if (form_ == RowForm::kJson) pending_ = kBeginArray;
  file_size_ = pending_.size();
}

void RowOutput::FailFile(std::string why) {
  found_.file_error = std::move(why);
  file_ = UniqueFd();
}

// Whole rows, without a gap.
void RowOutput::Keep(std::string_view row) {
  if (!file_ || file_full_) return;
  const std::string_view between = form_ == RowForm::kLines ? ""
                                   : found_.file_rows == 0  ? ""
                                                            : ",\n";
  const std::size_t more = between.size() + row.size() + (form_ == RowForm::kLines ? 1 : 0);
  const std::size_t end = form_ == RowForm::kLines ? 0 : kEndArray.size();
  if (file_size_ + more + end > place_.file_bytes) {
    file_full_ = true;
    return;
  }
  pending_.append(between).append(row);
  if (form_ == RowForm::kLines) pending_ += '\n';
  file_size_ += more;
  ++found_.file_rows;
  if (pending_.size() >= kPending) Flush();
}

void RowOutput::Flush() {
  if (!file_) return;
  if (WriteAsFits(file_.get(), pending_) != pending_.size()) FailFile(std::strerror(errno));
  lines_.Add(pending_);
  pending_.clear();
}

FoundRows RowOutput::Finish() && {
  if (mode_ == ReturnMode::kFile && !in_file_) BeginFile();
  if (file_) {
    if (form_ == RowForm::kJson) pending_ += kEndArray;
    file_size_ += form_ == RowForm::kJson ? kEndArray.size() : 0;
    Flush();
  }
  if (file_)
    found_.file =
        StoredBytes{.file = std::move(file_), .size = file_size_, .lines = std::move(lines_)};
  if (!found_.file) found_.file_rows = 0;
  if (form_ == RowForm::kLines) {
    found_.text = found_.shown;
    return std::move(found_);
  }
  found_.text = ForPeople(found_.shown);
  std::ranges::replace(found_.shown, '\n', ',');
  found_.shown = "[" + found_.shown + "]";
  return std::move(found_);
}

}  // namespace pa
