// RowOutput: takes the rows that a query has found, one after the other. It keeps what a result can
// show, and writes all of them into a file if they are more, or if a file is asked for.
//
//    RowOutput out(RowForm::kJson, ReturnMode::kInline, place);
//    out.Add(R"({"id": 1})");
//    FoundRows rows = std::move(out).Finish();
//
// Memory is bounded by what is shown. A file holds whole rows only: one line each, or one array of
// JSON with a row on each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/results/line_index.h"
#include "supervisor/results/result_order.h"
#include "supervisor/results/stored_bytes.h"

namespace pa {

enum class RowForm : std::uint8_t { kLines, kJson };

inline constexpr std::size_t kMaxSample = 3;
// Of a row in a sample: a longer line is cut, a longer value is left out.
inline constexpr std::size_t kMaxSampleBytes = 2000;

// Where rows go. `open` makes the file that they are written into; it is called once at most, on
// the thread that does the work.
struct RowPlace {
  std::size_t shown_bytes = 0;   // of the rows that are shown
  std::uint64_t file_bytes = 0;  // of the file
  std::function<Result<UniqueFd>(RowForm)> open = {};
};

struct FoundRows {
  // What is shown: of lines the text, joined by \n; of JSON one array.
  std::string shown;
  std::string text;  // the same for people, a row on each line
  std::uint64_t shown_rows = 0;
  std::uint64_t rows = 0;           // all
  std::vector<std::string> sample;  // the first, each as JSON
  std::optional<StoredBytes> file;  // of the rows, if they are more than is shown
  std::uint64_t file_rows = 0;      // how many it holds, from the first on
  std::string file_error;           // why there is none
};

class RowOutput {
 public:
  RowOutput(RowForm form, ReturnMode mode, RowPlace place);

  // A line of text without its end, or one value of JSON on one line.
  void Add(std::string_view row);
  FoundRows Finish() &&;

 private:
  void Show(std::string_view row);
  void Sample(std::string_view row);
  void BeginFile();
  void FailFile(std::string why);
  void Keep(std::string_view row);
  void Flush();

  RowForm form_;
  ReturnMode mode_;
  RowPlace place_;
  FoundRows found_;
  bool in_file_ = false;  // rows go into the file from now on, if there is one
  bool file_full_ = false;
  std::uint64_t file_size_ = 0;  // with what is pending
  std::string pending_;          // for the file
  LineIndex lines_;
  UniqueFd file_;
};

}  // namespace pa
