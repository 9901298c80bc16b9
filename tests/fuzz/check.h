// Check: aborts if a property that a fuzz target demands does not hold; in every build, unlike
// assert.
// Given: the result of a reader; null if the reader refused the input.
#pragma once

#include <cstdlib>
#include <expected>

namespace pa {

inline void Check(bool holds) {
  if (!holds) std::abort();
}

template <typename T, typename E>
const T* Given(const std::expected<T, E>& result) {
  return result ? &*result : nullptr;
}

}  // namespace pa
