// FiltersAll: whether a page must not end before the filter of `result` has looked at it.
//
//    if (FiltersAll(arguments)) limit = kMostFiltered;
//
// A page that the caller asked for stays what it is; then the result warns if the filter has looked
// at a part only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "supervisor/call/arguments.h"

namespace pa {

// Of rows and of bytes. What a filter leaves of them is cut to limits.output_inline later.
inline constexpr std::uint64_t kMostFiltered = 100'000;
inline constexpr std::size_t kMostFilteredBytes = 8U << 20;

inline bool FiltersAll(const Arguments& arguments) {
  const ResultOrder* order = arguments.result_order();
  return order != nullptr && order->filter && !arguments.Given("limit");
}

}  // namespace pa
