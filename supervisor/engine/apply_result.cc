#include "supervisor/engine/apply_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/json_writer.h"
#include "supervisor/loop/background.h"
#include "supervisor/results/query_rows.h"
#include "supervisor/results/result_data.h"
#include "supervisor/results/result_files.h"
#include "supervisor/results/result_store.h"
#include "supervisor/text/escape_filter.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

constexpr std::string_view kJson = "json";
constexpr std::string_view kStdout = "stdout";

// What takes longer than a few milliseconds is done by a thread.
constexpr std::uint64_t kSmall = 256U << 10;

// All that a thread needs. It is copied into it.
struct ResultWork {
  ResultOrder order;
  std::span<const std::string_view> items;  // of the tool, which is a constant
  std::string data;
  std::string headline;
  std::vector<PathStep> path;         // of the list in the data; none: the data is the one row
  std::optional<StoredBytes> stored;  // all of the text, if the data has a part
  RowPlace place;
  StopQuery stop;

  bool IsJson() const { return !path.empty() && path.front().name == kJson; }
  std::uint64_t Size() const { return data.size() + (stored ? stored->size : 0); }
};

struct ResultDone {
  std::string problem;  // why `result` was not applied
  QueriedRows rows;
  ChangedData changed;
};

ResultDone NotDone(std::string problem) {
  ResultDone done;
  done.problem = std::move(problem);
  return done;
}

// A tool without lists returns one row.
ResultDone TakeWhole(ResultWork& work) {
  ResultDone done;
  done.rows.form = RowForm::kJson;
  done.rows.counts = {.total = 1, .matched = 1, .returned = 1};
  done.rows.transformations = RowQuery(work.order).Transformations();
  RowOutput out(RowForm::kJson, work.order.mode, std::move(work.place));
  out.Add(work.data);
  done.rows.rows = std::move(out).Finish();
  if (work.order.mode == ReturnMode::kFile && !done.rows.rows.file) {
    return NotDone("the file could not be written: " + done.rows.rows.file_error);
  }
  done.changed.data = "{}";
  return done;
}

// The rows of the list, and whether it is a text.
std::expected<QueriedRows, std::string> FindRows(ResultWork& work, const DataMember& member) {
  const auto path = std::span<const PathStep>(work.path);
  RowSource source;
  if (member.kind == DataMember::Kind::kText) {
    source.text = member.text;
    source.stored = std::move(work.stored);
  }
  if (work.IsJson()) {
    return QueryJson(source, kJson, path.subspan(1), work.order, std::move(work.place), work.stop);
  }
  switch (member.kind) {
    case DataMember::Kind::kText:
      // What failed may lack its list, and has its output instead.
      if (!work.order.fields.empty() ||
          (work.order.filter && !work.order.filter->path().steps.empty())) {
        break;
      }
      return QueryLines(source, work.order, std::move(work.place), work.stop);
    case DataMember::Kind::kList:
      source.text = work.data;
      return QueryJson(source, "", path, work.order, std::move(work.place), work.stop);
    case DataMember::Kind::kNone:
    case DataMember::Kind::kOther:
      return std::unexpected(
          fmt::format("the data has no list '{}'", FieldPath{work.path}.Print()));
  }
  return std::unexpected("the data has no list of objects, and lines have no fields");
}

// May run on a thread.
ResultDone Apply(ResultWork& work) {
  if (work.path.empty()) return TakeWhole(work);
  const PathStep of_stdout{.name = std::string(kStdout)};
  const std::span<const PathStep> place =
      work.IsJson() ? std::span(&of_stdout, 1) : std::span<const PathStep>(work.path);
  const Result<DataMember> member = FindMember(work.data, place);
  if (!member) return NotDone(member.error().Message());
  auto rows = FindRows(work, *member);
  if (!rows) return NotDone(std::move(rows.error()));
  if (!rows->problem.empty()) return NotDone(std::move(rows->problem));
  if (work.order.mode == ReturnMode::kFile && !rows->rows.file) {
    return NotDone("the file could not be written: " + rows->rows.file_error);
  }
  ResultDone done{.problem = {}, .rows = *std::move(rows), .changed = {}};
  DataChange change{.path = place, .replacement = {}};
  std::string text;
  if (work.order.mode == ReturnMode::kInline && !work.IsJson()) {
    text = done.rows.rows.shown;
    if (done.rows.form == RowForm::kLines) {
      JsonWriter writer;
      writer.String(text);
      text = std::move(writer).Take();
    }
    change.replacement = text;
  }
  Result<ChangedData> changed = ChangeData(work.data, change, work.items, work.headline);
  if (!changed) return NotDone(changed.error().Message());
  done.changed = *std::move(changed);
  return done;
}

// A document can take several times its size in memory, and calls can be many: one such at a time.
ResultDone ApplyInMemory(ResultWork& work) {
  constexpr std::uint64_t kLarge = 8U << 20;
  static std::mutex large;
  std::unique_lock turn(large, std::defer_lock);
  if (work.IsJson() && work.Size() > kLarge) turn.lock();
  try {
    return Apply(work);
  } catch (const std::bad_alloc&) {
    return NotDone("there is not enough memory for it");
  }
}

Task<ResultDone> ApplyAnywhere(uv_loop_t* loop, std::shared_ptr<ResultWork> work) {
  if (work->Size() <= kSmall) co_return ApplyInMemory(*work);
  Task<ResultDone> task = InBackground<ResultDone>(loop, [work] { return ApplyInMemory(*work); });
  ResultDone done = co_await task;
  co_return done;
}

// ---- what becomes of it ----

std::string FirstLineOf(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : "; ") + part;
  return joined;
}

void AddMember(ToolResult& result, std::string_view name, std::string_view json) {
  JsonWriter writer;
  writer.BeginObject().Key(name).Raw(json).EndObject();
  if (result.data == "{}") {
    result.data = std::move(writer).Take();
  } else {
    AddData(result, std::move(writer).Take());
  }
}

std::string SummaryOf(const QueriedRows& rows) {
  JsonWriter writer;
  writer.BeginObject().Field("count", rows.counts.returned).Key("sample").BeginArray();
  for (const std::string& row : rows.rows.sample) writer.Raw(row);
  writer.EndArray().Field("truncated", rows.rows.sample.size() < rows.rows.rows).EndObject();
  return std::move(writer).Take();
}

std::string ItemsOf(const std::string& path, const RowCounts& counts) {
  JsonWriter writer;
  writer.BeginObject().Field("path", path).Field("total", counts.total);
  writer.Field("matched", counts.matched).Field("returned", counts.returned).EndObject();
  return std::move(writer).Take();
}

// What resources/list names it: `make test: stdout, in part`.
std::string NameOfRows(const ToolResult& result, std::string_view path) {
  const std::string line = FirstLineOf(result.text);
  const std::string what = line.substr(0, std::min(line.find(": "), line.size()));
  return fmt::format("{}: {}, as `result` has it", what, path.empty() ? "all" : path);
}

void AddLine(std::string& text, std::string_view line) {
  if (line.empty()) return;
  text.append(line);
  if (!text.ends_with('\n')) text += '\n';
}

std::string RowsAre(std::uint64_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", rows);
}

// For people: the rows or what stands for them. `member`: of the data, where the rows stand.
std::string ShowRows(ToolResult& result, const Services& services, QueriedRows& rows,
                     const std::string& name, const std::string& member, bool as_json) {
  if (as_json) AddMember(result, kJson, rows.rows.shown);
  std::string text = rows.rows.text;
  if (rows.rows.shown_rows == rows.rows.rows) return text;
  result.truncated = true;
  result.kept.push_back({.member = member, .uri = {}, .whole = false});
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!rows.rows.file) {
    result.warnings.push_back("the rows beyond could not be kept: " + rows.rows.file_error);
    return text;
  }
  const std::uint64_t size = rows.rows.file->size;
  const char* type = rows.form == RowForm::kLines ? "text/plain" : "application/json";
  result.result_uri = services.results.Adopt(*std::move(rows.rows.file), name);
  result.kept.back().uri = result.result_uri;
  result.kept.back().whole = rows.rows.file_rows == rows.rows.rows;
  result.links.push_back(
      {.uri = result.result_uri, .name = name, .title = {}, .mime_type = type, .size = size});
  text += fmt::format(
      "[... {} of {} shown; {}: {} ...]\n", rows.rows.shown_rows, RowsAre(rows.rows.rows),
      rows.rows.file_rows == rows.rows.rows ? "all"
                                            : fmt::format("the first {}", rows.rows.file_rows),
      result.result_uri);
  return text;
}

std::string ShowSummary(ToolResult& result, const QueriedRows& rows) {
  AddMember(result, "summary", SummaryOf(rows));
  std::string text = RowsAre(rows.counts.returned) + "\n";
  for (const std::string& row : rows.rows.sample) {
    const Result<JsonValue> value = ParseJson(row);
    AddLine(text, value && value->IsString() ? WithoutEscapes(value->AsString()) : row);
  }
  return text;
}

std::string ShowFile(ToolResult& result, const Services& services, QueriedRows& rows,
                     const ResultFile& file, const std::string& name) {
  const std::uint64_t size = rows.rows.file->size;
  const std::string uri = services.results.Adopt(*std::move(rows.rows.file), name);
  const char* format = rows.form == RowForm::kLines ? "text" : "json";
  JsonWriter writer;
  writer.BeginObject().Field("path", file.path).Field("uri", uri);
  writer.Field("count", rows.rows.file_rows).Field("size", size).Field("format", format);
  writer.Field("expires_at", UtcText(file.expires)).EndObject();
  AddMember(result, "file", std::move(writer).Take());
  if (rows.rows.file_rows < rows.rows.rows) {
    result.truncated = true;
    result.warnings.push_back(fmt::format("the file holds {} of {}: limits.output_total ended it",
                                          rows.rows.file_rows, RowsAre(rows.rows.rows)));
  }
  return fmt::format("{} in {} ({} bytes, {}, until {}), resource {}\n",
                     RowsAre(rows.rows.file_rows), file.path, size, format, UtcText(file.expires),
                     uri);
}

// Composed anew, because the text has what was replaced.
void Compose(ToolResult& result, std::string headline, std::string_view shown,
             std::string_view others) {
  std::string text = std::move(headline) + "\n";
  AddLine(text, Joined(result.transformations));
  AddLine(text, shown);
  AddLine(text, others);
  for (const std::string& denial : result.denials) AddLine(text, denial);
  if (result.error) {
    AddLine(text, fmt::format("{}: {}", CodeText(result.error->code), result.error->ai_message));
  }
  for (const std::string& warning : result.warnings) AddLine(text, "warning: " + warning);
  result.text = std::move(text);
}

// The list that is meant; none of a tool without lists.
std::vector<PathStep> PathOf(const Tool& tool, const ResultOrder& order, std::string_view data) {
  if (order.items) return order.items->steps;
  std::vector<PathStep> path;
  for (const std::string_view name : tool.items) {
    path = {{.name = std::string(name)}};
    const Result<DataMember> member = FindMember(data, path);
    if (member && member->kind != DataMember::Kind::kNone) return path;
  }
  if (!tool.items.empty()) path = {{.name = std::string(tool.items.front())}};
  return path;
}

// All of the text that `path` is about, if the data has a part of it.
std::expected<std::optional<StoredBytes>, std::string> StoredText(
    const Services& services, const ToolResult& result, const std::vector<PathStep>& path) {
  if (path.empty()) return std::nullopt;
  const std::string_view name = path[0].name == kJson ? kStdout : path[0].name;
  const auto kept = std::ranges::find(result.kept, name, &KeptText::member);
  if (kept == result.kept.end()) return std::nullopt;
  std::optional<Result<StoredBytes>> stored = services.results.Open(kept->uri);
  if (!stored) return std::unexpected("the output is no longer kept");
  if (!*stored) return std::unexpected(stored->error().Message());
  return *std::move(*stored);
}

// The share of a user's files of rows, in limits.output_total: what the server keeps otherwise has
// one, and these outlive it.
constexpr std::uint64_t kFilesOfOutputs = 4;

RowPlace PlaceOf(const Services& services, const policy::Limits& limits, ReturnMode mode,
                 const std::shared_ptr<ResultFile>& named) {
  RowPlace place{.shown_bytes = static_cast<std::size_t>(limits.output_inline),
                 .file_bytes = limits.output_total};
  if (mode != ReturnMode::kFile) {
    place.open = [directory = services.results.directory()](RowForm) {
      return MakeUnlinkedFile(directory);
    };
    return place;
  }
  const std::uint64_t quota = kFilesOfOutputs * limits.output_total;
  place.open = [files = services.result_files, named, quota](RowForm form) -> Result<UniqueFd> {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto file = files.Make(form == RowForm::kLines ? "txt" : "json", now, quota);
    if (!file) return std::unexpected(file.error());
    *named = {.file = {}, .path = std::move(file->path), .expires = file->expires};
    return std::move(file->file);
  };
  return place;
}

// Of which all was looked at, as far as it is kept; other tools give a page.
bool IsOutput(const ResultWork& work) {
  if (work.path.empty()) return false;
  const std::string& name = work.path.front().name;
  return name == kJson || name == kStdout || name == "stderr";
}

void Finish(ToolResult& result, const Services& services, const ResultWork& work, ResultDone done,
            const ResultFile& file) {
  QueriedRows& rows = done.rows;
  const std::string path = FieldPath{work.path}.Print();
  const std::string name = NameOfRows(result, work.path.empty() ? "" : path);
  result.data = std::move(done.changed.data);
  result.transformations = rows.transformations;
  if (!work.path.empty()) result.items = ItemsOf(path, rows.counts);
  std::ranges::copy(rows.warnings, std::back_inserter(result.warnings));
  if (IsOutput(work)) {
    result.truncated = done.changed.cut;
  } else if (result.truncated && work.order.filter) {
    result.warnings.push_back(
        fmt::format("the filter has looked at {}, and there are more: narrow the search or go on "
                    "at the next offset",
                    RowsAre(rows.counts.total)));
  }
  // What the data had is replaced.
  const std::string member = work.path.empty() ? "" : work.path.front().name;
  std::erase_if(result.kept, [&](const KeptText& kept) {
    return kept.member == member || (work.IsJson() && kept.member == kStdout);
  });
  std::string shown;
  switch (work.order.mode) {
    case ReturnMode::kInline:
      shown = ShowRows(result, services, rows, name, member, work.IsJson());
      break;
    case ReturnMode::kSummary:
      shown = ShowSummary(result, rows);
      break;
    case ReturnMode::kFile:
      shown = ShowFile(result, services, rows, file, name);
      break;
  }
  Compose(result, work.headline, shown, done.changed.others);
}

}  // namespace

std::optional<ResultOrder> ResultOrderOf(const ToolRequest& request) {
  const ResultOrder* asked = request.arguments().result_order();
  const bool dry_run = request.arguments().Boolean("dry_run");
  if (asked == nullptr || !asked->Changes() || dry_run) return std::nullopt;
  return *asked;
}

Task<ToolResult> ApplyResult(const Services& services, const Tool& tool, ResultOrder order,
                             ToolResult result, CallContext& call) {
  if (result.data.empty()) co_return result;
  const auto work = std::make_shared<ResultWork>();
  const auto file = std::make_shared<ResultFile>();
  work->path = PathOf(tool, order, result.data);
  auto stored = StoredText(services, result, work->path);
  if (!stored) {
    Warn(result, "`result` was not applied: " + stored.error());
    co_return result;
  }
  const auto stopped = std::make_shared<std::atomic<bool>>(call.cancel.cancelled());
  call.cancel.OnCancel([stopped] { *stopped = true; });
  work->place = PlaceOf(services, call.policy->limits, order.mode, file);
  work->order = std::move(order);
  work->items = tool.items;
  work->data = result.data;
  work->headline = FirstLineOf(result.text);
  work->stored = *std::move(stored);
  work->stop = [stopped] { return stopped->load(); };
  Task<ResultDone> task = ApplyAnywhere(services.loop, work);
  ResultDone done = co_await task;
  call.cancel.Forget();
  if (!done.problem.empty()) {
    Warn(result, "`result` was not applied: " + done.problem);
    co_return result;
  }
  Finish(result, services, *work, std::move(done), *file);
  co_return result;
}

}  // namespace pa
