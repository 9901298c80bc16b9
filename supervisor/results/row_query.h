// RowQuery: applies filter, limit and fields of `result` to rows, one after the other, and counts.
//
//    RowQuery query(order);
//    if (query.Accepts(row)) query.Write(row, writer);    // or AcceptsLine(line)
//    meta.items = query.counts();
//    meta.transformations = query.Transformations();    // "filter: 120 -> 7", "limit: 7 -> 5", ...
//    if (!query.Warning().empty()) Warn(query.Warning());
//
// Pure: it reads no file and keeps no row. The order is filter, limit, fields, return mode, however
// it was written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/results/projection.h"
#include "supervisor/results/result_order.h"

namespace pa {

struct RowCounts {
  std::uint64_t total = 0;
  std::uint64_t matched = 0;
  std::uint64_t returned = 0;  // after the limit
};

class RowQuery {
 public:
  // `order` must outlive it.
  explicit RowQuery(const ResultOrder& order) : order_(order), projection_(order.fields) {}

  // A row is a JsonValue or a JsonView.
  template <typename Json>
  bool Accepts(const Json& row);
  bool AcceptsLine(std::string_view line);  // the same for a line of text
  template <typename Json>
  void Write(const Json& row, JsonWriter& writer);  // its fields

  const RowCounts& counts() const { return counts_; }
  std::vector<std::string> Transformations() const;  // the stages that were asked for
  // What to tell of rows that a filter has emptied, or that have no fields; "" = nothing.
  std::string Warning() const;

 private:
  static constexpr std::size_t kKinds = 6;  // of JsonValue

  bool Count(bool matches);
  template <typename Json>
  void Note(const Json& row);

  const ResultOrder& order_;
  Projection projection_;
  RowCounts counts_;
  // Of the rows before the first that matched: how many have a value of each kind at the filter's
  // path, and how many have one at all.
  std::array<std::uint64_t, kKinds> kinds_{};
  std::uint64_t with_field_ = 0;
  std::string first_row_;             // its fields
  std::uint64_t without_fields_ = 0;  // rows that are no objects, of those that were projected
};

}  // namespace pa
