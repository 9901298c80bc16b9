#include "supervisor/results/query_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_view.h"
#include "base/json_writer.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

constexpr const char* kStopped = "the call was cancelled";

// Each line of a source, without its end, until `visit` returns false. Of a line of more than
// `longest` bytes, so many are given.
class LineScan {
 public:
  LineScan(const RowSource& source, std::size_t longest, const StopQuery& stop)
      : source_(source), longest_(longest), stop_(stop) {}

  template <typename Visit>
  void Run(const Visit& visit) {
    if (!source_.stored) {
      Take(source_.text, visit);
    } else {
      TakeStored(*source_.stored, visit);
    }
    if (!ended_ && !line_.empty()) GiveLine(line_, visit);
  }

  std::uint64_t cut() const { return cut_; }               // lines
  const std::string& problem() const { return problem_; }  // why not all was read; "" = it was

 private:
  template <typename Visit>
  void TakeStored(const StoredBytes& stored, const Visit& visit) {
    const Result<void> read = ReadStoredText(stored, [&](std::string_view text) {
      if (stop_ && stop_()) {
        End(kStopped);
      } else {
        Take(text, visit);
      }
      return !ended_;
    });
    if (!read) End(read.error().Message());
  }

  template <typename Visit>
  void Take(std::string_view bytes, const Visit& visit) {
    while (!ended_) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) return AddToLine(bytes);
      if (line_.empty()) {
        GiveLine(bytes.substr(0, end), visit);
      } else {
        AddToLine(bytes.substr(0, end));
        GiveLine(line_, visit);
        line_.clear();
      }
      bytes.remove_prefix(end + 1);
    }
  }

  void AddToLine(std::string_view part) {
    const std::size_t room = longest_ + 1 - std::min(line_.size(), longest_ + 1);
    line_.append(part.substr(0, room));
  }

  template <typename Visit>
  void GiveLine(std::string_view line, const Visit& visit) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > longest_) {
      line = Utf8Head(line, longest_);
      ++cut_;
    }
    if (!visit(line)) ended_ = true;
  }

  void End(std::string problem) {
    problem_ = std::move(problem);
    ended_ = true;
  }

  const RowSource& source_;
  std::size_t longest_;
  const StopQuery& stop_;
  std::string line_;  // the beginning of one that is not complete
  bool ended_ = false;
  std::uint64_t cut_ = 0;
  std::string problem_;
};

// A query with its rows on the way out.
class Rows {
 public:
  Rows(RowForm form, const ResultOrder& order, RowPlace place)
      : query_(order), out_(form, order.mode, std::move(place)) {
    result_.form = form;
  }

  void Line(std::string_view line) {
    if (query_.AcceptsLine(line)) out_.Add(line);
  }
  void Value(const JsonView& row) {
    if (!query_.Accepts(row)) return;
    JsonWriter writer;
    query_.Write(row, writer);
    out_.Add(std::move(writer).Take());
  }
  void Warn(std::string warning) { result_.warnings.push_back(std::move(warning)); }

  QueriedRows Finish() && {
    result_.counts = query_.counts();
    result_.transformations = query_.Transformations();
    if (std::string warning = query_.Warning(); !warning.empty()) {
      result_.warnings.insert(result_.warnings.begin(), std::move(warning));
    }
    result_.rows = std::move(out_).Finish();
    return std::move(result_);
  }

 private:
  RowQuery query_;
  RowOutput out_;
  QueriedRows result_;
};

QueriedRows Unfound(std::string problem) {
  QueriedRows result;
  result.problem = std::move(problem);
  return result;
}

// ---- lists in JSON ----

using Path = std::span<const PathStep>;

// `json.items`, `json[*].tags`; of a document without a name the path alone.
std::string Named(std::string_view name, Path path) {
  std::string named(name);
  if (path.empty()) return named;
  if (!named.empty() && path.front().kind == PathStep::Kind::kName) named += '.';
  return named + FieldPath{{path.begin(), path.end()}}.Print();
}

std::string Listed(std::string_view name, const JsonView& object) {
  constexpr std::size_t kMost = 8;
  std::string lists;
  std::size_t found = 0;
  for (const auto& [key, value] : object.Members()) {
    if (!value.IsArray()) continue;
    if (found++ == kMost) return lists + ", ...";
    const PathStep step{.name = std::string(key)};
    lists += (lists.empty() ? "" : ", ") + Named(name, {&step, 1});
  }
  return lists;
}

std::string KindOf(const JsonView& value) {
  constexpr const char* kKinds[] = {"null",     "a boolean", "a number",
                                    "a string", "an array",  "an object"};
  return kKinds[static_cast<std::size_t>(value.kind())];
}

// Where the list would be, `value` is.
std::string NoList(std::string_view name, Path path, const JsonView& value) {
  std::string why = fmt::format("{} is {} and no list", Named(name, path), KindOf(value));
  if (!value.IsObject()) return why;
  const std::string lists = Listed(Named(name, path), value);
  return lists.empty() ? why + ", and has none" : why + "; its lists are " + lists;
}

std::string NotThere(std::string_view name, Path path, const JsonView& root) {
  std::string why = fmt::format("there is no {}", Named(name, path));
  if (root.IsArray()) return fmt::format("{}; {} is a list itself", why, Named(name, {}));
  const std::string lists = root.IsObject() ? Listed(name, root) : "";
  return lists.empty() ? why : why + "; the lists are " + lists;
}

class JsonQuery {
 public:
  JsonQuery(std::string_view name, Path path, Rows& rows) : name_(name), path_(path), rows_(rows) {}

  // A line; false: no more of them are wanted.
  bool Line(std::string_view line);
  // After the last line.
  std::string Finish(const RowSource& source);

 private:
  enum class State : std::uint8_t { kNothing, kOne, kLines, kDocument };

  static constexpr JsonLimits kLimits{.max_bytes = kMaxDocument, .max_values = kMaxDocumentValues};

  bool GiveLine(std::string_view line);
  void GiveEach(const JsonView& root, Path path);
  void GiveList(const JsonView& root, Path path);
  std::string WholeDocument(const RowSource& source);

  std::string_view name_;
  Path path_;
  Rows& rows_;
  JsonReader reader_{kLimits};
  State state_ = State::kNothing;
  std::string first_;            // the first line that is not blank
  std::optional<JsonView> one_;  // of it
  std::uint64_t line_ = 0;       // number of the present one
  std::uint64_t documents_ = 0;
  std::uint64_t bad_ = 0;  // lines that are no JSON
  std::string first_error_;
  std::string problem_;
};

bool JsonQuery::Line(std::string_view line) {
  ++line_;
  if (line.find_first_not_of(" \t") == std::string_view::npos) return true;
  if (state_ == State::kNothing) {
    first_ = line;
    const Result<JsonView> view = reader_.Read(first_);
    if (view) one_ = *view;
    if (!view) first_error_ = fmt::format("line {}: {}", line_, view.error().Message());
    state_ = view ? State::kOne : State::kDocument;
    return view.has_value();
  }
  if (state_ == State::kOne) {
    state_ = State::kLines;
    if (!GiveLine(first_)) return false;
  }
  return GiveLine(line);
}

bool JsonQuery::GiveLine(std::string_view line) {
  const Result<JsonView> view = reader_.Read(line);
  if (!view) {
    if (bad_++ == 0) first_error_ = fmt::format("line {}: {}", line_, view.error().Message());
    return true;
  }
  const std::uint64_t index = documents_++;
  if (path_.empty()) {
    rows_.Value(*view);
    return true;
  }
  switch (path_.front().kind) {
    case PathStep::Kind::kEach:
      GiveEach(*view, path_.subspan(1));
      return true;
    case PathStep::Kind::kIndex:
      if (index == path_.front().index) GiveList(*view, path_.subspan(1));
      return index < path_.front().index;
    case PathStep::Kind::kName:
      break;
  }
  problem_ = fmt::format("{} is JSON Lines, a list of documents: {} or {}[*].{}", name_, name_,
                         name_, FieldPath{{path_.begin(), path_.end()}}.Print());
  return false;
}

void JsonQuery::GiveEach(const JsonView& root, Path path) {
  ForEachAt(root, path, [&](const JsonView& value) {
    rows_.Value(value);
    return true;
  });
}

// The rows are what [*] names, or the items of the one array.
void JsonQuery::GiveList(const JsonView& root, Path path) {
  if (NamesEach(path)) return GiveEach(root, path);
  std::optional<JsonView> found;
  ForEachAt(root, path, [&](const JsonView& value) {
    found = value;
    return false;
  });
  if (!found) {
    problem_ = NotThere(name_, path_, root);
  } else if (!found->IsArray()) {
    problem_ = NoList(name_, path_, *found);
  } else {
    for (const JsonView item : found->Items()) rows_.Value(item);
  }
}

std::string JsonQuery::WholeDocument(const RowSource& source) {
  const std::uint64_t size = source.stored ? source.stored->size : source.text.size();
  if (size > kMaxDocument) {
    return fmt::format("{} is no JSON Lines ({}), and has {} bytes, too many for one document",
                       name_, first_error_, size);
  }
  std::string text = source.text;
  if (source.stored) {
    const Result<void> all = ReadStoredText(*source.stored, [&](std::string_view slice) {
      text += slice;
      return true;
    });
    if (!all) return all.error().Message();
  }
  const Result<JsonView> root = reader_.Read(text);
  if (root) {
    GiveList(*root, path_);
    return problem_;
  }
  return fmt::format("{} is neither one JSON document ({}) nor JSON Lines ({})", name_,
                     root.error().Message(), first_error_);
}

std::string JsonQuery::Finish(const RowSource& source) {
  switch (state_) {
    case State::kNothing:
      return fmt::format("{} is empty", name_);
    case State::kOne:
      GiveList(*one_, path_);
      return problem_;
    case State::kDocument:
      return WholeDocument(source);
    case State::kLines:
      break;
  }
  if (bad_ > 0) {
    rows_.Warn(fmt::format("{} no JSON and left out: {}{}",
                           bad_ == 1 ? "1 line is" : fmt::format("{} lines are", bad_),
                           bad_ == 1 ? "" : "first ", first_error_));
  }
  return problem_;
}

}  // namespace

QueriedRows QueryLines(const RowSource& source, const ResultOrder& order, RowPlace place,
                       const StopQuery& stop) {
  Rows rows(RowForm::kLines, order, std::move(place));
  LineScan scan(source, kMaxRowLine, stop);
  scan.Run([&](std::string_view line) {
    rows.Line(line);
    return true;
  });
  if (!scan.problem().empty()) return Unfound(scan.problem());
  if (scan.cut() > 0) {
    rows.Warn(fmt::format("{} longer than 1 MiB: only so much of each was looked at",
                          scan.cut() == 1 ? "a line is" : fmt::format("{} lines are", scan.cut())));
  }
  return std::move(rows).Finish();
}

QueriedRows QueryJson(const RowSource& source, std::string_view name,
                      std::span<const PathStep> path, const ResultOrder& order, RowPlace place,
                      const StopQuery& stop) {
  Rows rows(RowForm::kJson, order, std::move(place));
  JsonQuery query(name, path, rows);
  LineScan scan(source, kMaxDocument, stop);
  scan.Run([&](std::string_view line) { return query.Line(line); });
  if (!scan.problem().empty()) return Unfound(scan.problem());
  if (std::string problem = query.Finish(source); !problem.empty()) {
    return Unfound(std::move(problem));
  }
  return std::move(rows).Finish();
}

}  // namespace pa
