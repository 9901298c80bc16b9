// QueryLines, QueryJson: apply `result` to the lines of a text, or to a list in JSON, wherever it
// is kept, in bounded memory.
//
//    RowPlace place{.shown_bytes = 24 << 10, .file_bytes = ..., .open = ...};
//    QueriedRows rows = QueryLines(source, order, place, {});
//    QueriedRows items = QueryJson(source, path_in_the_document, order, place, {});
//
// Pure but for the file that RowPlace opens, so that a thread may do it. JSON is one document, or
// JSON Lines: one document on each line.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "supervisor/results/field_path.h"
#include "supervisor/results/result_order.h"
#include "supervisor/results/row_output.h"
#include "supervisor/results/row_query.h"
#include "supervisor/results/stored_bytes.h"

namespace pa {

// A line beyond this is looked at, and kept, to there.
inline constexpr std::size_t kMaxRowLine = 1U << 20;
// Of one document, and of a line of JSON Lines.
inline constexpr std::size_t kMaxDocument = 64U << 20;
inline constexpr std::size_t kMaxDocumentValues = 4U << 20;

// A text: at hand, or stored, with what only a terminal understands in it.
struct RowSource {
  std::string text;
  std::optional<StoredBytes> stored;  // in place of `text`
};

struct QueriedRows {
  // Why there is no such list: "json.items: no such member; the lists are json.a". The rest is
  // empty then.
  std::string problem;
  RowForm form = RowForm::kLines;
  RowCounts counts;
  std::vector<std::string> transformations;
  std::vector<std::string> warnings;
  FoundRows rows;
};

// Asked now and then; true ends the query with a problem. May be empty. Called on the thread that
// does the work.
using StopQuery = std::function<bool()>;

QueriedRows QueryLines(const RowSource& source, const ResultOrder& order, RowPlace place,
                       const StopQuery& stop);

// `path`: of the list in the document; without [*] it names one array, with [*] each row. `name`:
// of the document in problems: "json".
QueriedRows QueryJson(const RowSource& source, std::string_view name,
                      std::span<const PathStep> path, const ResultOrder& order, RowPlace place,
                      const StopQuery& stop);

}  // namespace pa
