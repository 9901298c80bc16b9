// Check: a property that a fuzz target demands; kept in every build, unlike assert.
// Given: what a reader gave; null when it refused.
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
